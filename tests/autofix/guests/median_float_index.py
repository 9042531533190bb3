# error: TypeError
# line: 16
# also-line: 15
# depends: -
# fix: integer_index
# fixed-file: fixed/median_float_index.py
# result: 4.0 3.0

import jax
import jax.numpy as jnp


@jax.jit
def median_absolute_deviation(samples):
    middle = (samples.shape[0] - 1) / 2
    median = jnp.sort(samples)[middle]
    spread = jnp.sort(jnp.abs(samples - median))[middle]
    return median, spread


median, spread = median_absolute_deviation(jnp.array([3.0, 9.0, 1.0, 4.0, 50.0]))
print(float(median), float(spread))
