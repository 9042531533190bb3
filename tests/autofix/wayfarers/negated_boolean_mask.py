# error: TypeError
# line: 13
# depends: -
# fix: invert
# result: [1.5, 4.0]

import jax
import jax.numpy as jnp


@jax.jit
def split_error(error, inside):
    return jnp.where(inside, error, 0).sum(), jnp.where(-inside, error, 0).sum()


error = jnp.array([0.5, 1.0, 4.0])
print([float(v) for v in split_error(error, error < 2)])
