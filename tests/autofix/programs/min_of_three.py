# error: TracerBoolConversionError
# line: 13
# depends: speed, cap
# fix: minimum_maximum
# result: 24.5

import jax
import jax.numpy as jnp


@jax.jit
def allowed(speed, cap):
    bound = min(speed * 1.5, cap, 30.0)
    return bound + jnp.float32(0.5)


print(float(allowed(16.0, 28.0)))
