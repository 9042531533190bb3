# error: TracerBoolConversionError
# line: 13
# depends: angle
# fix: logical_ops
# result: 0.25

import jax
import jax.numpy as np


@jax.jit
def window(angle):
    inside = -1.0 < np.sin(angle) <= 0.5
    return np.where(inside, angle, 0.0)


print(round(float(window(0.25)), 4))
