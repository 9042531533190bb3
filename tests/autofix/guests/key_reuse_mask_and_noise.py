# error: none
# expect: KeyReuseError
# jax-differs: jax silently ties the noise to the mask
# line: 17
# depends: -
# fix: split_key
# fixed-file: fixed/key_reuse_mask_and_noise.py
# result: True

import jax
import jax.numpy as jnp


@jax.jit
def corrupt(key, image, rate):
    keep = jax.random.uniform(key, image.shape) > rate
    noise = jax.random.uniform(key, image.shape)
    return jnp.where(keep, image, noise)


@jax.jit
def noise_level(key, rate):
    image = jnp.full((64, 64), 2.0)
    noisy = corrupt(key, image, rate)
    return jnp.sum(jnp.where(noisy < 1.5, noisy, 0.0)) / jnp.sum(noisy < 1.5)


level = noise_level(jax.random.key(6), 0.3)
print(bool(0.45 < level < 0.55))
