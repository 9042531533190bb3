import jax
import jax.numpy as jnp

key = jax.random.key(1)
sample = jnp.array([2.1, 3.3, 1.7, 4.0, 2.9, 3.8, 2.2, 5.1, 3.0, 2.6])


def replicate(k):
    idx = jax.random.randint(k, sample.shape, 0, sample.shape[0])
    return jnp.median(sample[idx])


key, sub = jax.random.split(key)
medians = jax.vmap(replicate)(jax.random.split(sub, 500))
print(bool(medians.std() > 0.1), bool(abs(medians.mean() - 2.95) < 0.3))
