# One correct fixed version of numpy_noise_augment.py
"""Check that an image augmentation really varies between calls."""
import jax
import jax.numpy as jnp
import numpy as np

def jitter(key, image, strength):
    gain = 1.0 + strength * jax.random.normal(key)
    return jnp.clip(image * gain, 0.0, 1.0)


def flip(image):
    return image[:, ::-1]


@jax.jit
def augment(key, image):
    image = jitter(key, image, 0.2)
    return 0.5 * (image + flip(image))


def brightness_spread(image, n):
    keys = jax.random.split(jax.random.key(0), n)
    levels = jnp.stack([augment(k, image).mean() for k in keys])
    return levels.std()


image = jnp.linspace(0.0, 0.5, 48).reshape(6, 8)
spread = brightness_spread(image, 8)
print("varies", bool(spread > 1e-3))
