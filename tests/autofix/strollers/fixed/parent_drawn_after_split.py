# One correct fixed version of parent_drawn_after_split.py
import jax
import jax.numpy as jnp


def sample(key, n):
    key, noise_key = jax.random.split(key)
    noise = jax.random.normal(noise_key, (n,))
    signs = jax.random.rademacher(key, (n,))
    return noise * signs


values = sample(jax.random.key(9), 100)
print(values.shape, bool(jnp.all(jnp.abs(values) < 6)))
