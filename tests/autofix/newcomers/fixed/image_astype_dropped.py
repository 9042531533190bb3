import jax
import jax.numpy as jnp
import numpy as np


def load_pair(rng):
    first = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    second = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    return jnp.asarray(first), jnp.asarray(second)


@jax.jit
def psnr(reference, image):
    reference = reference.astype(jnp.float32)
    mse = jnp.mean((reference - image) ** 2)
    return 10.0 * jnp.log10(255.0**2 / mse)


a, b = load_pair(np.random.default_rng(5))
print(round(float(psnr(a, b)), 3))
