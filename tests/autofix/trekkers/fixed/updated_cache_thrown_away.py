import jax
import jax.numpy as jnp


@jax.jit
def fill(values):
    cache = jnp.zeros(4)
    for i in range(4):
        cache = cache.at[i].set(values[i] ** 2)
    return cache


print(fill(jnp.arange(4.0)).tolist())
