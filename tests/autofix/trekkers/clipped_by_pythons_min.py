# error: TracerBoolConversionError
# line: 12
# depends: value
# fix: any
# result: [-1.0, 0.20000000298023224, 1.0]

import jax
import jax.numpy as jnp


def clamp(value, low, high):
    return min(max(value, low), high)


@jax.jit
def control(error, gain):
    return clamp(gain * error, -1.0, 1.0)


print([float(control(jnp.array(e), 0.5)) for e in (-4.0, 0.4, 3.0)])
