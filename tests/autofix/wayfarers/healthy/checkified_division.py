# error: none
# expect: none
# result: True 0.5 ; False -

import jax
import jax.numpy as jnp
from jax.experimental import checkify


def ratio(a, b):
    checkify.check(b != 0, "division by {b}", b=b)
    return a / b


checked = jax.jit(checkify.checkify(ratio))
for b in (2.0, 0.0):
    err, value = checked(1.0, b)
    print(err.get() is None, float(value) if err.get() is None else "-")
