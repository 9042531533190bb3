# One correct fixed version of cache_on_arrays.py
import jax
import jax.numpy as jnp


def gram(points):
    d = points[:, None] - points[None, :]
    return jnp.exp(-(d**2))


def evidence(points, y):
    k = gram(points) + 0.1 * jnp.eye(len(points))
    return y @ jnp.linalg.solve(k, y)


points = jnp.linspace(0, 1, 5)
print(round(float(evidence(points, jnp.sin(points))), 4))
