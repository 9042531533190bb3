# error: ValueError
# expect: ValueError | TypeError
# line: 22
# depends: -
# fix: cotangent_shape
# fixed-file: fixed/pulled_back_by_a_number.py
# result: (3, 2) [-0.6439, -0.6439, 0.0509]
# family: gradient/cotangent-shape

import jax
import jax.numpy as jnp


def camera(pose):
    """Pixel positions of three landmarks seen from a pose."""
    landmarks = jnp.array([[0.0, 0.0, 4.0], [1.0, 0.5, 5.0], [-1.0, 1.0, 6.0]])
    seen = landmarks - pose
    return seen[:, :2] / seen[:, 2:]


pixels, pull_back = jax.vjp(camera, jnp.array([0.1, 0.0, 0.2]))
(sensitivity,) = pull_back(1.0)
print(pixels.shape, [round(float(s), 4) for s in sensitivity])
