# error: TypeError
# expect: TypeError | TypeError | ConcretizationTypeError | TracerIntegerConversionError
# line: 15
# depends: key
# fix: asarray_index
# result: 5.0

import jax
import jax.numpy as jnp

PRICES = {0: 1.5, 1: 2.5}

@jax.jit
def price(key):
    return PRICES[key] * 2

print(float(price(1)))
