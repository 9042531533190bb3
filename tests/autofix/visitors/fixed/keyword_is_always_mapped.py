# One correct fixed version of keyword_is_always_mapped.py
import jax
import jax.numpy as jnp


def mahalanobis(x, mean, precision):
    d = x - mean
    return jnp.sqrt(d @ precision @ d)


points = jnp.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
mean = jnp.array([0.5, 0.5])
precision = jnp.array([[2.0, 0.3], [0.3, 1.0]])

distances = jax.vmap(mahalanobis, in_axes=(0, None, None))
print([round(float(d), 4) for d in distances(points, mean, precision)])


def nearest(points, mean, precision):
    return points[jnp.argmin(jax.vmap(mahalanobis, (0, None, None))(points, mean, precision))]


print(nearest(points, mean, precision).tolist())
