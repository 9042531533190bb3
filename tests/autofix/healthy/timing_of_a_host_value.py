import time

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def determinant(matrix):
    return jnp.linalg.det(matrix)


matrix = jnp.eye(20) + 0.01 * jnp.ones((20, 20))
float(determinant(matrix))

start = time.perf_counter()
value = float(determinant(matrix))  # waits for the number
elapsed = time.perf_counter() - start

start = time.perf_counter()
array = np.asarray(matrix @ matrix)  # waits for the array
elapsed += time.perf_counter() - start
print(round(value, 3), array.shape, elapsed > 0.0)
