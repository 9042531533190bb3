# error: ValueError
# expect: ValueError | TypeError
# line: 18
# depends: key
# fix: vmap
# fixed-file: fixed/keys_of_all_walkers_at_once.py
# result: (6, 2) (25,) True
# family: random/batch-of-keys

import jax
import jax.numpy as jnp

WALKERS = 6


def move(keys, positions):
    """One step of each walker, with a key for each of them."""
    kicks = jax.random.normal(keys, positions.shape)
    return positions + 0.1 * kicks


@jax.jit
def walk(key, positions):
    def step(positions, key):
        positions = move(jax.random.split(key, WALKERS), positions)
        return positions, jnp.mean(positions**2)

    return jax.lax.scan(step, positions, jax.random.split(key, 25))


positions, spread = walk(jax.random.key(0), jnp.zeros((WALKERS, 2)))
print(positions.shape, spread.shape, bool(spread[-1] > spread[0]))
