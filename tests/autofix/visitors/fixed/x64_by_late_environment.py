# One correct fixed version of x64_by_late_environment.py
import os

os.environ["JAX_ENABLE_X64"] = "1"

import jax
import jax.numpy as jnp


@jax.jit
def condition_number(n):
    """Smallest pivot of a Hilbert matrix, for which single precision is too coarse."""
    i = jnp.arange(6.0)
    H = 1.0 / (i[:, None] + i[None, :] + n)
    return jnp.linalg.cond(H)


x = jnp.asarray([0.1, 0.2])
print(x.dtype, round(float(jnp.log10(condition_number(1.0))), 3))
