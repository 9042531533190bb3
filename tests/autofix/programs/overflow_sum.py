# error: IntegerOverflowWarning
# line: 13
# depends: n
# fix: wider_dtype
# result: 9.0

import jax
import jax.numpy as jnp


@jax.jit
def power(n):
    scaled = n * 100000
    return scaled.max()


print(float(power(jnp.array([3, 90000]))) / 1e9)
