import jax
import jax.numpy as jnp

counts = jnp.array([[4, 0, 6], [1, 1, 0], [0, 8, 2]])


@jax.jit
def smoothed(row):
    prior = jnp.full_like(row, 0.5, dtype=jnp.float32)
    total = row + prior
    return total / total.sum()


probabilities = jax.vmap(smoothed)(counts)
print(probabilities.round(3).tolist())
surprise = -jnp.log(probabilities).max(axis=1)
print(surprise.round(3).tolist())
