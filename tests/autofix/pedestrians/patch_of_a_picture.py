# error: ValueError
# expect: TypeError | ValueError
# line: 14
# depends: -
# fix: shape
# result: [[4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]

import jax
import jax.numpy as jnp


@jax.jit
def strip(picture, top):
    return jax.lax.dynamic_slice(picture, (top,), (2,))


picture = jnp.arange(20.0).reshape(5, 4)
print(strip(picture, 1).tolist())
