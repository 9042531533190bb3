import jax
import jax.numpy as jnp


@jax.jit
def row_entropy(p):
    return -jnp.sum(p * jnp.log(p), axis=-1)


def restrict(grid):
    return 0.25 * (grid[::2, ::2] + grid[1::2, ::2] + grid[::2, 1::2] + grid[1::2, 1::2])


grid = jnp.full((8, 8), 1.0 / 8.0)
levels = []
for _ in range(3):
    levels.append(round(float(row_entropy(grid).mean()), 4))
    grid = restrict(grid)
print(levels)
