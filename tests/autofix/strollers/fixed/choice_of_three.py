# One correct fixed version of choice_of_three.py
import jax
import jax.numpy as jnp

key = jax.random.key(4)
picked = jax.random.choice(key, jnp.arange(10), (3,), replace=False)
print(picked.shape, len(set(picked.tolist())))
