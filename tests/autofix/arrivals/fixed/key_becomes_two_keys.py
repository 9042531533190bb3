# One correct fixed version of key_becomes_two_keys.py
import jax
import jax.numpy as jnp

key = jax.random.key(0)
total = jnp.zeros(3)
for _ in range(4):
    key, subkey = jax.random.split(key)
    total += jax.random.uniform(subkey, (3,))
print(total.shape, bool(jnp.all(total > 0)), bool(jnp.all(total < 4)))
