# error: CapturedConstantWarning
# line: 13
# depends: -
# fix: pass_argument
# result: 1024.0

import jax
import jax.numpy as jnp

table = jnp.ones((1024, 1024))

@jax.jit
def row_sum(i): return table[i].sum()


print(row_sum(3))
