import jax
import jax.numpy as jnp


def augment(key, x):
    key, sub = jax.random.split(key)
    order = jax.random.permutation(key, x.shape[0])
    noise = jax.random.normal(sub, x.shape)
    return x[order] + 0.1 * noise


out = augment(jax.random.key(0), jnp.arange(4.0))
print(out.shape)
