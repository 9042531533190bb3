# One correct fixed version of normal_shape_as_numbers.py
import jax
import jax.numpy as jnp

key_w, key_x = jax.random.split(jax.random.key(3))
weights = jax.random.normal(key_w, (4, 2))
x = jax.random.normal(key_x, (6, 4))
print(jnp.tanh(x @ weights).shape, bool(jnp.all(jnp.abs(jnp.tanh(x @ weights)) < 1)))
