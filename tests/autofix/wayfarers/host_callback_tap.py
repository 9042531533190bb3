# error: ImportError
# expect: ModuleNotFoundError | ImportError
# line: 10
# depends: -
# fix: debug_print
# result: 0.4596977233886719 ; 0.4597

import jax
import jax.numpy as jnp
from jax.experimental import host_callback as hcb


@jax.jit
def residual(x):
    r = x - jnp.cos(x)
    hcb.id_print(r)
    return r


print(round(float(residual(1.0)), 4))
