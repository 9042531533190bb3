import jax
import jax.numpy as jnp


@jax.jit
def shrink(matrix):
    left, values, right = jnp.linalg.svd(matrix, full_matrices=False)
    values = jnp.maximum(values - 0.5, 0.0)
    return (left * values) @ right


matrix = jnp.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, -1.0]])
print(shrink(matrix).round(3).tolist())
