import jax
import jax.numpy as jnp


def init(key, n_in, expansion):
    n_out = n_in * expansion // 2
    scale = n_in**-0.5
    return scale * jax.random.normal(key, (n_in, n_out))


print(init(jax.random.key(0), 4, 3).shape)
