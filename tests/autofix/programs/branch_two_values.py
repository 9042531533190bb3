# error: TracerBoolConversionError
# line: 14
# depends: lo, hi, x
# fix: where
# result: [4.0, 8.0, 2.0]

import jax
import jax.numpy as jnp


@jax.jit
def narrow(lo, hi, x):
    mid = 0.5 * (lo + hi)
    if x < mid:
        hi = mid
        steps = 1
    else:
        lo = mid
        steps = 2
    return lo, hi, steps


print([float(v) for v in narrow(0.0, 8.0, 5.0)])
