# error: SideEffectWarning
# line: 18
# depends: x
# fix: callback
# result: y is 0.47942555 ; 0.9589

import logging
import sys
import jax
import jax.numpy as jnp

logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
log = logging.getLogger("train")

@jax.jit
def f(x):
    y = jnp.sin(x)
    log.info("y is %s", y)
    return y * 2

print(round(float(f(0.5)), 4))
