# error: none
# expect: none
# result: finite True ; [[-0.707, -0.707], [-0.7, -0.6], [0.555, 0.832], [0.0, 0.0]]

"""Gradient of a Huber-like radial penalty that includes the origin."""
import jax
import jax.numpy as jnp


def safe_norm(x):
    square = jnp.sum(x * x, axis=-1)
    positive = square > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0)


def penalty(points, centre):
    r = safe_norm(points - centre)
    return jnp.sum(jnp.where(r < 1.0, 0.5 * r ** 2, r - 0.5))


points = jnp.array([[0.0, 0.0], [0.3, 0.4], [3.0, 4.0], [1.0, 1.0]])
grad = jax.jit(jax.grad(penalty))
g = grad(points, jnp.array([1.0, 1.0]))
print("finite", bool(jnp.isfinite(g).all()))
print([[round(float(v), 3) + 0.0 for v in row] for row in g])
