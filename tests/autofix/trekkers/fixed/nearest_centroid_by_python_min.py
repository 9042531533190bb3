import jax
import jax.numpy as jnp


def nearest(point, centroids):
    distances = jnp.sum((centroids - point) ** 2, axis=1)
    return jnp.argmin(distances)


points = jnp.array([[0.1, 0.0], [0.9, 1.2]])
centroids = jnp.array([[0.0, 0.0], [1.0, 1.0]])
print(jax.vmap(nearest, in_axes=(0, None))(points, centroids).tolist())
