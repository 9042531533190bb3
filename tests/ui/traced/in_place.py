"""An assignment in place."""
import sagax
import sagax.numpy as jnp


@sagax.jit
def boundary(grid, value):
    grid[0, :] = value  #~ SX0005 arrays are immutable
    return grid


boundary(jnp.zeros((3, 3)), 1.0)
