# error: ConcretizationTypeError
# expect: ConcretizationTypeError | TracerArrayConversionError
# line: 14
# depends: rate, t
# fix: jnp_instead_of_np
# result: 1.7821

import math

import jax


def decay(rate, t):
    return math.exp(-rate * t) + math.sqrt(2.0)


step = jax.jit(decay)
print(round(float(step(0.5, 2.0)), 4))
