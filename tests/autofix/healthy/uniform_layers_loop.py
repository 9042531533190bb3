import jax
import jax.numpy as jnp

SIZES = (2, 3, 4, 5, 6, 7, 8, 9)


def glorot(key, m, n):
    limit = (6.0 / (m + n)) ** 0.5
    return jax.random.uniform(key, (m, n), minval=-limit, maxval=limit)


key = jax.random.PRNGKey(7)
weights = []
for m, n in zip(SIZES[:-1], SIZES[1:], strict=True):
    key, subkey = jax.random.split(key)
    weights.append(glorot(subkey, m, n))

x = jnp.ones(2)
for w in weights:
    x = jnp.tanh(x @ w)
print(x.shape, len(weights), bool(jnp.all(jnp.abs(x) < 1.0)))
