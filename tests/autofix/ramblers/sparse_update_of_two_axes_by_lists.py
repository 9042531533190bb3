# error: TypeError
# line: 13
# depends: -
# fix: any
# result: [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]

import jax
import jax.numpy as jnp


@jax.jit
def place(grid, points):
    grid = grid.at[[points[:, 0], points[:, 1]]].set(1.0)
    return grid


points = jnp.array([[0, 1], [2, 2]])
print(place(jnp.zeros((3, 3)), points).tolist())
