# error: TypeError
# line: 17
# depends: -
# fix: return_data
# result: 0.6065

import jax
import jax.numpy as jnp


@jax.jit
def make_kernel(scale):
    weight = 1.0 / scale
    return lambda x: jnp.exp(-weight * x)


k = make_kernel(2.0)
print(round(float(k(1.0)), 4))
