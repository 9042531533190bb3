# error: none
# expect: NaNGradientWarning | FloatingPointError
# jax-differs: jax silently returns infinite or nan gradients
# line: 16
# depends: a, b
# fix: double_where
# fixed-file: fixed/angle_between_equal_vectors.py
# result: finite: True 1.5708
# family: 3/singular-derivative

import jax
import jax.numpy as jnp


def angle(a, b):
    return jnp.arccos(jnp.clip(jnp.dot(a, b), -1.0, 1.0))


def total_turn(points):
    steps = points[1:] - points[:-1]
    unit = steps / jnp.linalg.norm(steps, axis=1, keepdims=True)
    return jax.vmap(angle)(unit[:-1], unit[1:]).sum()


# the first two steps are parallel
points = jnp.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
grads = jax.grad(total_turn)(points)
print("finite:", bool(jnp.all(jnp.isfinite(grads))), round(float(total_turn(points)), 4))
