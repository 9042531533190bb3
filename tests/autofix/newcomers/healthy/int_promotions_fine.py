import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def grayscale_histogram(image, bins=8):
    weights = jnp.array([0.299, 0.587, 0.114])
    gray = image.astype(jnp.float32) @ weights
    index = jnp.clip((gray / 256.0 * 8).astype(jnp.int32), 0, 7)
    return jnp.zeros(8, jnp.int32).at[index.ravel()].add(1)


image = np.random.default_rng(0).integers(0, 256, (12, 12, 3), dtype=np.uint8)
histogram = grayscale_histogram(image)
print(int(histogram.sum()), histogram.dtype)
