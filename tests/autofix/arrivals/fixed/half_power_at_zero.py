# One correct fixed version of half_power_at_zero.py
import jax
import jax.numpy as jnp


def distance(a, b):
    d2 = jnp.sum((a - b) ** 2)
    return jnp.where(d2 > 0, jnp.where(d2 > 0, d2, 1.0) ** 0.5, 0.0)


points = jnp.array([[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]])


def stress(points):
    return distance(points[0], points[2]) + distance(points[0], points[1])


grads = jax.grad(stress)(points)
print(grads.tolist())
