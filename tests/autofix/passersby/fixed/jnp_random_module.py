# One correct fixed version of jnp_random_module.py
import jax
import jax.numpy as jnp


def estimate_pi(key, n):
    pts = jax.random.uniform(key, (n, 2))
    return 4.0 * jnp.mean(jnp.sum(pts ** 2, axis=1) <= 1.0)


def standard_error(values):
    return jnp.std(values, ddof=1) / jnp.sqrt(values.size)


def experiment(seed, n, repeats):
    keys = jax.random.split(jax.random.key(seed), repeats)
    values = jnp.stack([estimate_pi(k, n) for k in keys])
    return values.mean(), standard_error(values)


mean, err = experiment(0, 2000, 16)
print("pi within four errors:", bool(jnp.abs(mean - jnp.pi) < 4 * err))
print("error small:", bool(err < 0.03))
