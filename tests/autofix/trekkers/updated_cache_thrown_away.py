# error: none
# expect: UnusedResultWarning
# jax-differs: zeros
# line: 17
# depends: -
# fix: any
# result: [0.0, 1.0, 4.0, 9.0]

import jax
import jax.numpy as jnp


@jax.jit
def fill(values):
    cache = jnp.zeros(4)
    for i in range(4):
        cache.at[i].set(values[i] ** 2)
    return cache


print(fill(jnp.arange(4.0)).tolist())
