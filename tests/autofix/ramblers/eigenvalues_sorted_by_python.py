# error: TracerBoolConversionError
# line: 13
# depends: matrix
# fix: any
# result: 2.236

import jax
import jax.numpy as jnp


@jax.jit
def spectral_gap(matrix):
    values = sorted(jnp.linalg.eigvalsh(matrix), reverse=True)
    return values[0] - values[1]


print(round(float(spectral_gap(jnp.array([[2.0, 1.0], [1.0, 3.0]]))), 3))
