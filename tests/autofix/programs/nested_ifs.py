# error: TracerBoolConversionError
# line: 12
# depends: t
# fix: where
# result: 2.0 2.0 -1.0

import jax
import jax.numpy as jnp

@jax.jit
def phase(t):
    if t > 0:
        if t > 10:
            rate = 0.1
        else:
            rate = 0.5
    else:
        rate = 1.0
    return rate * t

print(round(float(phase(20.0)), 4), round(float(phase(4.0)), 4), round(float(phase(-1.0)), 4))
