import jax
import jax.numpy as jnp

key = jax.random.key(2)
players = jnp.arange(8)
seating = jax.random.permutation(key, players)
print(seating.shape, int(seating.sum()))
