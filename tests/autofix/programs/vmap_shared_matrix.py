# error: ValueError
# line: 17
# depends: matrix, vector
# fix: in_axes
# result: [[2.0, 1.0], [8.0, 3.0], [14.0, 5.0]]
# grade: ran
import jax
import jax.numpy as jnp


def push(matrix, vector):
    return matrix @ vector


matrix = jnp.array([[1.0, 2.0], [0.0, 1.0]])
vectors = jnp.arange(6.0).reshape(3, 2)
moved = jax.vmap(push)(matrix, vectors)
print([[float(x) for x in row] for row in moved])
