# error: NonConcreteBooleanIndexError
# line: 14
# depends: grid
# fix: where
# result: [1.0, 3.0, 0.5]

import jax
import jax.numpy as jnp


@jax.jit
def feed(grid, amount):
    hungry = grid < 1.0
    grid = grid.at[hungry].add(amount * 2.0)
    return grid


print([float(v) for v in feed(jnp.array([0.5, 3.0, 0.0]), 0.25)])
