import jax
import jax.numpy as jnp

key = jax.random.key(0)
key, subkey = jax.random.split(key)
noise = jax.random.normal(subkey, (1000,))
print(noise.shape, bool(jnp.abs(noise.mean()) < 0.1))
