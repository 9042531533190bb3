import jax
import jax.numpy as jnp


def unit(v):
    n = jnp.linalg.norm(v)
    return jnp.where(n > 0, v / jnp.where(n > 0, n, 1.0), 0.0)


def alignment(v, target):
    return jnp.dot(unit(v), target)


vs = jnp.array([[3.0, 4.0], [0.0, 0.0]])
target = jnp.array([1.0, 0.0])
print(jax.vmap(alignment, in_axes=(0, None))(vs, target).round(3).tolist())
