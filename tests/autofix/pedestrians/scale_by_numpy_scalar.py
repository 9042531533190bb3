# error: TracerArrayConversionError
# expect: TracerArrayConversionError | ConcretizationTypeError | TypeError
# line: 15
# depends: scale
# fix: jnp
# result: [0.11019999533891678, -0.4016000032424927, 0.9921000003814697]

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def quantize(values, scale):
    step = np.float32(scale) / 127
    return jnp.round(values / step) * step


print(quantize(jnp.array([0.11, -0.4, 0.99]), 1.0).round(4).tolist())
