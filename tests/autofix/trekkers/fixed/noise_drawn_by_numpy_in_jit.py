import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def jitter(x):
    noise = rng.normal(size=x.shape)
    return x + 0.1 * noise


x = jnp.zeros(3)
first = jitter(x)
second = jitter(x)
print(bool(jnp.all(first != second)))
