# One correct fixed version of size_called.py
import jax
import jax.numpy as jnp


def flatten(images):
    return images.reshape(images.shape[0], -1)


images = jnp.ones((4, 3, 2))
print(flatten(images).shape)
