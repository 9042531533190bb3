# One correct fixed version of cubic_resampling.py
import jax
import jax.numpy as jnp
from jax.scipy.ndimage import map_coordinates


def rotate(image, angle):
    rows, cols = jnp.meshgrid(jnp.arange(4.0), jnp.arange(4.0), indexing="ij")
    y, x = rows - 1.5, cols - 1.5
    source_y = jnp.cos(angle) * y - jnp.sin(angle) * x + 1.5
    source_x = jnp.sin(angle) * y + jnp.cos(angle) * x + 1.5
    return map_coordinates(image, [source_y, source_x], order=1)


def mismatch(angle, image, target):
    return jnp.mean((rotate(image, angle) - target) ** 2)


image = jnp.arange(16.0).reshape(4, 4)
print(round(float(mismatch(0.0, image, image)), 4))
