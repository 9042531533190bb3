import jax
import jax.numpy as jnp


def bearing(landmark, robot):
    dx, dy = landmark - robot
    here = (dx == 0) & (dy == 0)
    return jnp.arctan2(dy, jnp.where(here, 1.0, dx))


def residual(robot, landmarks, measured):
    predicted = jax.vmap(bearing, in_axes=(0, None))(landmarks, robot)
    seen = jnp.any(landmarks != robot, axis=1)
    error = jnp.where(seen, predicted - measured, 0.0)
    return jnp.sum(error**2)


landmarks = jnp.array([[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
measured = jnp.array([0.7, 1.6, 0.0])
gradient = jax.grad(residual)(jnp.zeros(2), landmarks, measured)
print([round(g, 4) for g in gradient.tolist()])
