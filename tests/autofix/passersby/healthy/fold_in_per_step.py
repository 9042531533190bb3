# error: none
# expect: none
# result: distinct True ; resumable True

import jax
import jax.numpy as jnp

BASE = jax.random.key(77)


@jax.jit
def noisy_step(x, step):
    key = jax.random.fold_in(BASE, step)
    move_key, flip_key = jax.random.split(key)
    move = 0.1 * jax.random.normal(move_key, x.shape)
    flip = jax.random.bernoulli(flip_key, 0.01, x.shape)
    return jnp.where(flip, -x, x + move), move


def run(x, steps, start=0):
    moves = []
    for step in range(start, start + steps):
        x, move = noisy_step(x, step)
        moves.append(move)
    return x, jnp.stack(moves)


x0 = jnp.ones(3)
full, moves = run(x0, 10)
half, _ = run(x0, 5)
resumed, _ = run(half, 5, start=5)
print("distinct", len({tuple(m) for m in moves.tolist()}) == 10)
print("resumable", bool(jnp.array_equal(full, resumed)))
