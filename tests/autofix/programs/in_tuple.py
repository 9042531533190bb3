# error: TracerBoolConversionError
# line: 13
# depends: code
# fix: where
# result: 4.0 8.0

import jax
import jax.numpy as jnp


@jax.jit
def price(code, amount):
    if code in (2, 3, 5):
        rate = 0.5
    else:
        rate = 1.0
    return rate * amount


print(float(price(3, 8.0)), float(price(4, 8.0)))
