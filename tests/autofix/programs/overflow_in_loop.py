# error: IntegerOverflowWarning
# line: 12
# depends: i, p
# fix: wider_dtype
# result: 1.308e+12

import jax
import jax.numpy as jnp

@jax.jit
def fact(n):
    return jax.lax.fori_loop(1, n + 1, lambda i, p: p * i, 1)

print(f"{float(fact(15)):.4g}")
