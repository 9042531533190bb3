from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="times")
def repeat(x, times):
    return jnp.tile(x, times)


lengths = jnp.array([2, 3])
print(repeat(jnp.array([1.0]), times=int(lengths[0])).tolist())
