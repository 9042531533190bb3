# error: TypeError
# line: 15
# depends: mode
# fix: any
# result: [3.0, -3.0, 9.0]

import jax
import jax.numpy as jnp

branches = [lambda x: x, lambda x: -x, lambda x: x**2]


@jax.jit
def apply(mode, x):
    return jax.lax.switch(mode, branches, x)


modes = jnp.array([0.0, 1.0, 2.0])
print([float(apply(m, 3.0)) for m in modes])
