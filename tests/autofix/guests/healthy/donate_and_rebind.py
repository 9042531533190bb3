from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def relax(grid):
    inner = 0.25 * (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:])
    return grid.at[1:-1, 1:-1].set(inner)


grid = jnp.zeros((5, 5)).at[0].set(1.0)
initial = grid.copy()
for _ in range(10):
    grid = relax(grid)
print(round(float(grid[2, 2]), 4), float(initial[2, 2]))
