# One correct fixed version of one_row_at_a_time.py
import jax
import jax.numpy as jnp

points = jnp.sin(jnp.arange(360.0)).reshape(120, 3)
query = jnp.array([0.1, 0.2, 0.3])


def affinity(point, query):
    return jnp.exp(-jnp.sum((point - query) ** 2))


@jax.jit
def density(points, query):
    values = jax.vmap(affinity, in_axes=(0, None))(points, query)
    return values.mean()


print(round(float(density(points, query)), 4))
