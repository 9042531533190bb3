# error: TracerIntegerConversionError
# line: 15
# depends: terms
# fix: fori_or_scan
# result: 1.6487

import jax
import jax.numpy as jnp


@jax.jit
def exponential(x, terms):
    total = 1.0
    term = 1.0
    for k in range(1, terms):
        term = term * x / k
        total = total + term
    return total


print(round(float(exponential(0.5, 8)), 4))
