import jax
import jax.numpy as jnp


def transform(matrix, x):
    return matrix @ x


matrix = jnp.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
points = jnp.arange(9.0).reshape(3, 3)
moved = jax.vmap(transform, in_axes=(None, 0))(matrix, points)
print(bool(jnp.allclose(moved, points @ matrix.T)))
