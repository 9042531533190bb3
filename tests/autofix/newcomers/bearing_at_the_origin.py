# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently gives a gradient of nan
# line: 16
# also-line: 28
# depends: -
# fix: double_where
# result: [0.0562, -0.0854]

import jax
import jax.numpy as jnp


def bearing(landmark, robot):
    dx, dy = landmark - robot
    return jnp.arctan2(dy, dx)


def residual(robot, landmarks, measured):
    predicted = jax.vmap(bearing, in_axes=(0, None))(landmarks, robot)
    seen = jnp.any(landmarks != robot, axis=1)
    error = jnp.where(seen, predicted - measured, 0.0)
    return jnp.sum(error**2)


landmarks = jnp.array([[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]])
measured = jnp.array([0.7, 1.6, 0.0])
gradient = jax.grad(residual)(jnp.zeros(2), landmarks, measured)
print([round(g, 4) for g in gradient.tolist()])
