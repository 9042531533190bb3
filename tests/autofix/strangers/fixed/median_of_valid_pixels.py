# One correct fixed version of median_of_valid_pixels.py
import jax
import jax.numpy as jnp


@jax.jit
def background(frame, valid):
    pixels = jnp.where(valid, frame, jnp.nan)
    level = jnp.nanmedian(pixels)
    noise = 1.4826 * jnp.nanmedian(jnp.abs(pixels - level))
    return level, noise


frame = jnp.array([[10.0, 12.0, 90.0], [11.0, 13.0, 95.0], [9.0, 80.0, 14.0]])
valid = frame < 50.0
level, noise = background(frame, valid)
print(round(float(level), 4), round(float(noise), 4))
