# error: none
# expect: DtypeTruncationWarning
# jax-differs: jax reads the variable when it is imported, and stays in float32
# line: 17
# also-line: 28
# depends: -
# fix: enable_x64
# fixed-file: fixed/x64_by_late_environment.py
# result: float64 7.175
# family: silent/x64-environment

import os

import jax
import jax.numpy as jnp

os.environ["JAX_ENABLE_X64"] = "1"


@jax.jit
def condition_number(n):
    """Smallest pivot of a Hilbert matrix, for which single precision is too coarse."""
    i = jnp.arange(6.0)
    H = 1.0 / (i[:, None] + i[None, :] + n)
    return jnp.linalg.cond(H)


x = jnp.asarray([0.1, 0.2])
print(x.dtype, round(float(jnp.log10(condition_number(1.0))), 3))
