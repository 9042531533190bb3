import jax
import jax.numpy as jnp


def safe_sqrt(x):
    positive = x > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


def spread(points):
    center = points.mean(axis=0)
    return jnp.sum(safe_sqrt(jnp.sum((points - center) ** 2, axis=-1)))


points = jnp.array([[1.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
print(jax.grad(spread)(points).tolist())
