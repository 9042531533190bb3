# One correct fixed version of key_reuse_in_loop.py
import jax
import jax.numpy as jnp


def langevin_step(key, x, step):
    noise = jax.random.normal(key, x.shape)
    return x - step * x + jnp.sqrt(2.0 * step) * noise


def sample(key, x, steps):
    for step_key in jax.random.split(key, steps):
        x = langevin_step(step_key, x, 0.05)
    return x


x = sample(jax.random.key(2), jnp.zeros(400), 120)
print(bool(0.8 < x.std() < 1.2))
