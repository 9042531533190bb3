import jax
import jax.numpy as jnp


def weigh(vector, share):
    return share * vector / jnp.linalg.norm(vector)


vectors = jnp.array([[3.0, 4.0], [6.0, 8.0], [0.0, 2.0]])
shares = jnp.array([0.2, 0.3, 0.5])
weighted = jax.vmap(weigh, in_axes=(0, 0))(vectors, shares)
print(weighted.round(3).tolist(), weighted.sum(axis=0).round(3).tolist())
