# error: NonConcreteBooleanIndexError
# line: 16
# depends: valid
# fix: where_nan
# trap: zeros in place of the masked pixels move the median
# fixed-file: fixed/median_of_valid_pixels.py
# result: 11.5 2.2239
# family: 1/mask-that-counts-the-rest

import jax
import jax.numpy as jnp


@jax.jit
def background(frame, valid):
    pixels = frame[valid]
    level = jnp.median(pixels)
    noise = 1.4826 * jnp.median(jnp.abs(pixels - level))
    return level, noise


frame = jnp.array([[10.0, 12.0, 90.0], [11.0, 13.0, 95.0], [9.0, 80.0, 14.0]])
valid = frame < 50.0
level, noise = background(frame, valid)
print(round(float(level), 4), round(float(noise), 4))
