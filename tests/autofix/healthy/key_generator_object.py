import jax
import jax.numpy as jnp


class KeySource:
    """Gives a new key at each call, outside of jit."""

    def __init__(self, seed):
        self._key = jax.random.key(seed)

    def __call__(self, n=None):
        if n is None:
            self._key, key = jax.random.split(self._key)
            return key
        self._key, key = jax.random.split(self._key)
        return jax.random.split(key, n)


source = KeySource(0)
a = jax.random.normal(source(), (4,))
b = jax.random.normal(source(), (4,))
batch = jax.vmap(lambda k: jax.random.uniform(k, (2,)))(source(3))
print(bool(jnp.any(a != b)), batch.shape)
