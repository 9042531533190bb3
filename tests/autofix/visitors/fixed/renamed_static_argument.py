# One correct fixed version of renamed_static_argument.py
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames=("width", "padding"))
def smooth(image, width, padding="edge"):
    """Moving average over a square window."""
    reach = width // 2
    padded = jnp.pad(image, reach, mode=padding)
    total = jnp.zeros_like(image)
    for i in range(width):
        for j in range(width):
            total = total + padded[i : i + image.shape[0], j : j + image.shape[1]]
    return total / width**2


image = jnp.arange(20.0).reshape(4, 5)
print(round(float(smooth(image, width=3)[0, 0]), 4))
