import sagax
import sagax.numpy as jnp
from sagax.experimental import checkify

def root(x):
    checkify.check(x >= 0, "{} has no root", x)  #~ SX0130 -4.0 has no root (`check` failed)
    return jnp.sqrt(x)

error, y = sagax.jit(checkify.checkify(root))(-4.0)
error.throw()
