import jax
import jax.numpy as jnp


def distance(a, b):
    return jnp.sqrt(jnp.sum((a - b) ** 2))


table = jax.vmap(distance, in_axes=(0, 0))
first = jnp.array([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
print(table(first, jnp.zeros((3, 2))).round(3).tolist())
