# error: TracerIntegerConversionError
# line: 13
# depends: times
# fix: any
# result: [[0.33000001311302185, 0.24000000953674316, 0.14000000059604645], [0.33000001311302185, 0.42000001668930054, 0.030000001192092896], [0.3400000035762787, 0.3400000035762787, 0.8300000429153442]] ; [[0.19100001454353333, 0.19100001454353333, 0.1900000125169754], [0.14500001072883606, 0.14500001072883606, 0.1420000046491623], [0.6640000343322754, 0.6640000343322754, 0.6680000424385071]]

import jax
import jax.numpy as jnp


@jax.jit
def spread(matrix, times):
    for _ in range(times):
        matrix = matrix @ matrix
        matrix = matrix / matrix.sum(axis=0)
    return matrix


links = jnp.array([[0.5, 0.2, 0.1], [0.3, 0.6, 0.0], [0.2, 0.2, 0.9]])
for times in (1, 4):
    print(spread(links, times).round(3).tolist())
