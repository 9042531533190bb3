# error: none
# expect: KeyReuseError
# jax-differs: jax silently draws from a key that was split already
# line: 18
# depends: -
# fix: split_key
# fixed-file: fixed/key_reuse_parent_after_split.py
# result: (200, 2) True

import jax
import jax.numpy as jnp


def make_regression(key, n):
    x_key, noise_key = jax.random.split(key)
    x = jax.random.uniform(x_key, (n, 2))
    noise = 0.1 * jax.random.normal(noise_key, (n,))
    weights = jax.random.normal(key, (2,))
    return x, x @ weights + noise, weights


x, y, weights = make_regression(jax.random.key(9), 200)
fitted = jnp.linalg.lstsq(x, y)[0]
print(x.shape, bool(jnp.all(jnp.abs(fitted - weights) < 0.1)))
