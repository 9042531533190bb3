import jax
import jax.numpy as jnp


def minibatches(key, x, size, epochs):
    for _ in range(epochs):
        key, subkey = jax.random.split(key)
        order = jax.random.permutation(subkey, x.shape[0])
        for start in range(0, x.shape[0] - size + 1, size):
            yield x[order[start : start + size]]


@jax.jit
def update(mean, batch):
    return 0.9 * mean + 0.1 * batch.mean()


mean = jnp.array(0.0)
seen = 0
for batch in minibatches(jax.random.key(0), jnp.arange(30.0), 10, epochs=8):
    mean = update(mean, batch)
    seen += batch.shape[0]
print(seen, bool(8.0 < mean < 18.0))
