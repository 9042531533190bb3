# One wrong fix of inplace_helper_boundary.py: an update that stays inside of the helper never reaches the caller's grid
import jax
import jax.numpy as jnp


def hold_ends(grid, left, right):
    grid = grid.at[0].set(left)
    grid = grid.at[-1].set(right)


@jax.jit
def heat_step(grid, rate):
    inner = grid[1:-1] + rate * (grid[2:] - 2.0 * grid[1:-1] + grid[:-2])
    grid = grid.at[1:-1].set(inner)
    hold_ends(grid, 1.0, -1.0)
    return grid


grid = jnp.zeros(6)
for _ in range(10):
    grid = heat_step(grid, 0.25)
print([round(float(v), 4) for v in grid])
