# One correct fixed version of key_reuse_parent_after_split.py
import jax
import jax.numpy as jnp


def make_regression(key, n):
    x_key, noise_key, weights_key = jax.random.split(key, 3)
    x = jax.random.uniform(x_key, (n, 2))
    noise = 0.1 * jax.random.normal(noise_key, (n,))
    weights = jax.random.normal(weights_key, (2,))
    return x, x @ weights + noise, weights


x, y, weights = make_regression(jax.random.key(9), 200)
fitted = jnp.linalg.lstsq(x, y)[0]
print(x.shape, bool(jnp.all(jnp.abs(fitted - weights) < 0.1)))
