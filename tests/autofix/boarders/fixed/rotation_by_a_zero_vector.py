import jax
import jax.numpy as jnp


def rotate(vector, points):
    square = jnp.sum(vector**2)
    moves = square > 1e-12
    angle = jnp.where(moves, jnp.sqrt(jnp.where(moves, square, 1.0)), 0.0)
    axis = jnp.where(moves, vector / jnp.where(moves, angle, 1.0), jnp.zeros(3))
    along = (points @ axis)[:, None] * axis
    across = jnp.cross(axis, points)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return cos * points + sin * across + (1.0 - cos) * along


def misfit(vector, points, targets):
    return jnp.mean(jnp.sum((rotate(vector, points) - targets) ** 2, axis=1))


points = jnp.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.5]])
targets = rotate(jnp.array([0.0, 0.0, 0.3]), points)
vectors = jnp.array([[0.0, 0.0, 0.1], [0.0, 0.0, 0.0]])
slopes = jax.vmap(jax.grad(misfit), in_axes=(0, None, None))(vectors, points, targets)
print(slopes.round(3).tolist())
