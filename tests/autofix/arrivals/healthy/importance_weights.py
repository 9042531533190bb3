# error: none
# expect: none
# result: True True

import jax
import jax.numpy as jnp


def log_normal(x, mu, s):
    return -0.5 * ((x - mu) / s) ** 2 - jnp.log(s) - 0.5 * jnp.log(2 * jnp.pi)


key = jax.random.key(1)
key, k1, k2 = jax.random.split(key, 3)
x = 2.0 * jax.random.normal(k1, (4000,))
logw = log_normal(x, 1.0, 0.5) - log_normal(x, 0.0, 2.0)
w = jax.nn.softmax(logw)
resampled = x[jax.random.choice(k2, 4000, (500,), p=w)]
print(bool(abs(float((w * x).sum()) - 1) < 0.1), bool(abs(float(resampled.mean()) - 1) < 0.2))
