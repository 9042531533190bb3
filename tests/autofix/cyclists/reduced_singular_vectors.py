# error: ValueError
# expect: TypeError | ValueError
# line: 17
# also-line: 15
# depends: matrix
# fix: option
# result: [[1.561000108718872, 0.03200000151991844], [0.01600000075995922, 0.7090000510215759], [0.796000063419342, 0.7250000238418579], [0.37400001287460327, -0.7020000219345093]]

import jax
import jax.numpy as jnp


@jax.jit
def shrink(matrix):
    left, values, right = jnp.linalg.svd(matrix)
    values = jnp.maximum(values - 0.5, 0.0)
    return (left * values) @ right


matrix = jnp.array([[2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, -1.0]])
print(shrink(matrix).round(3).tolist())
