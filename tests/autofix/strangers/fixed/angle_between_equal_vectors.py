# One correct fixed version of angle_between_equal_vectors.py
import jax
import jax.numpy as jnp


def angle(a, b):
    cosine = jnp.dot(a, b)
    inside = jnp.abs(cosine) < 1.0
    ends = jnp.where(cosine > 0.0, 0.0, jnp.pi)
    return jnp.where(inside, jnp.arccos(jnp.where(inside, cosine, 0.0)), ends)


def total_turn(points):
    steps = points[1:] - points[:-1]
    unit = steps / jnp.linalg.norm(steps, axis=1, keepdims=True)
    return jax.vmap(angle)(unit[:-1], unit[1:]).sum()


# the first two steps are parallel
points = jnp.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
grads = jax.grad(total_turn)(points)
print("finite:", bool(jnp.all(jnp.isfinite(grads))), round(float(total_turn(points)), 4))
