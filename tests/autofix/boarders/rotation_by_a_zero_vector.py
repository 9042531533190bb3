# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax gives nan
# line: 16
# also-line: 15
# depends: -
# fix: any
# result: [[0.0, 0.0, -0.6620000600814819], [0.0, 0.0, 0.0]]

import jax
import jax.numpy as jnp


def rotate(vector, points):
    angle = jnp.sqrt(jnp.sum(vector**2))
    axis = jnp.where(angle > 1e-6, vector / angle, jnp.zeros(3))
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
