import jax
import jax.numpy as jnp
import numpy as np

key = jax.random.key(123)
key, first = jax.random.split(key)
before = jax.random.normal(first, (3,))

saved = np.asarray(jax.random.key_data(key))
restored = jax.random.wrap_key_data(jnp.asarray(saved))
restored, second = jax.random.split(restored)
after = jax.random.normal(second, (3,))
print(saved.dtype, bool(jnp.all(before != after)))
