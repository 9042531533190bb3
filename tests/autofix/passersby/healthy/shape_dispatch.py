# error: none
# expect: none
# result: [7.5, 7.5, 7.5] ; float32 1.0

import jax
import jax.numpy as jnp


@jax.jit
def luminance(image):
    if image.dtype == jnp.uint8:
        image = image.astype(jnp.float32) / 255.0
    if image.ndim == 2:
        return image
    if image.shape[-1] == 4:
        alpha = image[..., 3:]
        image = image[..., :3] * alpha + (1.0 - alpha)
    assert image.shape[-1] == 3, "expected RGB"
    return image @ jnp.array([0.2126, 0.7152, 0.0722])


grey = jnp.full((5, 3), 0.5)
rgb = jnp.full((5, 3, 3), 0.5)
rgba = jnp.concatenate([rgb, jnp.ones((5, 3, 1))], axis=-1)
totals = [round(float(luminance(im).sum()), 3) for im in (grey, rgb, rgba)]
print(totals)
byte = luminance(jnp.full((2, 2, 3), 255, dtype=jnp.uint8))
print(byte.dtype, round(float(byte.mean()), 4))
