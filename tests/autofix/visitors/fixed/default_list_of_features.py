# One correct fixed version of default_list_of_features.py
import jax
import jax.numpy as jnp


def pyramid(image, levels=3):
    """Peaks of ever coarser versions of an image."""
    outputs = []
    for _ in range(levels):
        outputs.append(image.max())
        image = image.reshape(image.shape[0] // 2, 2, image.shape[1] // 2, 2).mean(axis=(1, 3))
    return jnp.stack(outputs)


summarize = jax.jit(pyramid, static_argnames="levels")
print([round(float(v), 3) for v in summarize(jnp.arange(64.0).reshape(8, 8))])
print([round(float(v), 3) for v in summarize(jnp.arange(256.0).reshape(16, 16))])
