import jax
import jax.numpy as jnp


def distances(points):
    difference = points[:, None] - points[None]
    squared = (difference**2).sum(-1)
    same = squared == 0.0
    return jnp.where(same, 0.0, jnp.sqrt(jnp.where(same, 1.0, squared)))


def stress(points, wanted):
    return ((distances(points) - wanted) ** 2).sum()


points = jnp.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
wanted = jnp.ones((3, 3)) - jnp.eye(3)
print(jax.grad(stress)(points, wanted).round(3).tolist())
