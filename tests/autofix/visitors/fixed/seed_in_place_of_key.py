# One correct fixed version of seed_in_place_of_key.py
import jax
import jax.numpy as jnp

SEED = 42


def bootstrap_means(seed, sample, repeats):
    key = jax.random.key(seed)
    picks = jax.random.randint(key, (repeats, sample.shape[0]), 0, sample.shape[0])
    return sample[picks].mean(axis=1)


sample = jnp.array([2.1, 2.4, 1.9, 3.0, 2.2, 2.7])
means = bootstrap_means(SEED, sample, 400)
low, high = jnp.quantile(means, jnp.array([0.025, 0.975]))
print(bool(low < sample.mean() < high), means.shape)
