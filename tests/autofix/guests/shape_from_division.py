# error: TypeError
# line: 14
# depends: -
# fix: integer_shape
# fixed-file: fixed/shape_from_division.py
# result: (4, 4) (2, 2) 13.5

import jax
import jax.numpy as jnp


def downsample(image, factor):
    rows, cols = image.shape
    blocks = image.reshape(rows / factor, factor, cols / factor, factor)
    return blocks.mean(axis=(1, 3))


@jax.jit
def pyramid(image):
    half = downsample(image, 2)
    quarter = downsample(half, 2)
    return half, quarter


half, quarter = pyramid(jnp.arange(64.0).reshape(8, 8))
print(half.shape, quarter.shape, float(quarter[0, 0]))
