# error: ValueError
# line: 19
# depends: shape
# fix: hashable_static
# result: 9.0

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def tiled(x, shape):
    return jnp.broadcast_to(x, tuple(shape)).sum()


sizes = [2, 3]
print(float(tiled(jnp.array(1.5), sizes)))
