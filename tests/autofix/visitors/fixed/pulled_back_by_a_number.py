# One correct fixed version of pulled_back_by_a_number.py
import jax
import jax.numpy as jnp


def camera(pose):
    """Pixel positions of three landmarks seen from a pose."""
    landmarks = jnp.array([[0.0, 0.0, 4.0], [1.0, 0.5, 5.0], [-1.0, 1.0, 6.0]])
    seen = landmarks - pose
    return seen[:, :2] / seen[:, 2:]


pixels, pull_back = jax.vjp(camera, jnp.array([0.1, 0.0, 0.2]))
(sensitivity,) = pull_back(jnp.ones_like(pixels))
print(pixels.shape, [round(float(s), 4) for s in sensitivity])
