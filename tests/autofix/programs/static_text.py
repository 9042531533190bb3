# error: TypeError
# line: 17
# depends: mode
# fix: static_args
# result: 1.5

from functools import partial
import jax
import jax.numpy as jnp

@jax.jit
def reduce_(x, mode):
    if mode == "mean":
        return x.mean()
    return x.sum()

print(float(reduce_(jnp.arange(4.0), "mean")))
