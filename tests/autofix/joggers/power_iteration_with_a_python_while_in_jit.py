# error: TracerBoolConversionError
# line: 16
# depends: -
# fix: any
# result: 4.69 ; 4.69

import jax
import jax.numpy as jnp


@jax.jit
def largest_eigenvalue(matrix, tolerance):
    v = jnp.ones(matrix.shape[0]) / jnp.sqrt(matrix.shape[0])
    change = jnp.inf
    value = 0.0
    while change > tolerance:
        w = matrix @ v
        new_value = v @ w
        change = jnp.abs(new_value - value)
        v, value = w / jnp.linalg.norm(w), new_value
    return value


matrix = jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 1.0]])
print(round(float(largest_eigenvalue(matrix, 1e-4)), 2))
print(round(float(jnp.linalg.eigvalsh(matrix)[-1]), 2))
