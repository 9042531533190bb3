import itertools

import jax
import jax.numpy as jnp


def epochs(key, n, batch):
    for epoch in itertools.count():
        order = jax.random.permutation(jax.random.fold_in(key, epoch), n)
        yield [order[i : i + batch] for i in range(0, n, batch)]


@jax.jit
def noisy_mean(key, x):
    return jnp.mean(x + 0.01 * jax.random.normal(key, x.shape))


data_key, noise_key = jax.random.split(jax.random.key(2024))
x = jnp.arange(10.0)
means = []
for batches in itertools.islice(epochs(data_key, 10, 5), 3):
    for b in batches:
        noise_key, sub = jax.random.split(noise_key)
        means.append(noisy_mean(sub, x[b]))
print(len(means), bool(abs(sum(means) / 6 - 4.5) < 0.1))
