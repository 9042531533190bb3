# error: UnexpectedTracerError
# line: 17
# also-line: 19
# depends: image
# fix: fresh_list
# fixed-file: fixed/default_list_of_features.py
# result: [63.0, 58.5, 49.5] ; [255.0, 246.5, 229.5]
# family: leak/mutable-default

import jax
import jax.numpy as jnp


def pyramid(image, levels=3, outputs=[]):
    """Peaks of ever coarser versions of an image."""
    for _ in range(levels):
        outputs.append(image.max())
        image = image.reshape(image.shape[0] // 2, 2, image.shape[1] // 2, 2).mean(axis=(1, 3))
    return jnp.stack(outputs)


summarize = jax.jit(pyramid, static_argnames="levels")
print([round(float(v), 3) for v in summarize(jnp.arange(64.0).reshape(8, 8))])
print([round(float(v), 3) for v in summarize(jnp.arange(256.0).reshape(16, 16))])
