# error: TracerBoolConversionError
# line: 13
# depends: target
# fix: while_loop
# result: 1.414

import jax
import jax.numpy as jnp

@jax.jit
def root(target):
    lo, hi = 0.0, target
    while hi - lo > 1e-4:
        mid = (lo + hi) / 2
        if mid * mid > target:
            hi = mid
        else:
            lo = mid
    return lo

print(round(float(root(2.0)), 3))
