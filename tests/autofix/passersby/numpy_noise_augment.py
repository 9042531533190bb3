# error: none
# expect: SideEffectWarning | StaleValueWarning
# jax-differs: jax bakes the first noise sample in as a constant
# line: 19
# depends: -
# fix: jax_random
# fixed-file: fixed/numpy_noise_augment.py
# result: varies True

"""Check that an image augmentation really varies between calls."""
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)


def jitter(image, strength):
    gain = 1.0 + strength * rng.standard_normal()
    return jnp.clip(image * gain, 0.0, 1.0)


def flip(image):
    return image[:, ::-1]


@jax.jit
def augment(image):
    image = jitter(image, 0.2)
    return 0.5 * (image + flip(image))


def brightness_spread(image, n):
    levels = jnp.stack([augment(image).mean() for _ in range(n)])
    return levels.std()


image = jnp.linspace(0.0, 0.5, 48).reshape(6, 8)
spread = brightness_spread(image, 8)
print("varies", bool(spread > 1e-3))
