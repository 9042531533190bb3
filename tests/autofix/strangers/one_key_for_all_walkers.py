# error: none
# expect: KeyReuseError
# jax-differs: jax silently gives all walkers the same noise
# line: 17
# also-line: 23
# depends: -
# fix: split_key
# fixed-file: fixed/one_key_for_all_walkers.py
# result: walkers that differ: 6
# family: 2/key-in-vmap

import jax
import jax.numpy as jnp


def walk(key, start):
    steps = jax.random.normal(key, (20,))
    return start + jnp.cumsum(steps)


@jax.jit
def simulate(key, starts):
    return jax.vmap(walk, in_axes=(None, 0))(key, starts)


starts = jnp.zeros(6)
paths = simulate(jax.random.key(7), starts)
ends = paths[:, -1]
print("walkers that differ:", len(set(ends.tolist())))
