# error: none
# expect: IntegerOverflowWarning | OverflowError
# jax-differs: jax wraps uint8 sums modulo 256
# line: 22
# depends: base, overlay
# fix: wider_dtype
# fixed-file: fixed/uint8_image_blend.py
# result: mean 150.0 ; histogram [0, 32, 32, 0]

import jax
import jax.numpy as jnp
import numpy as np


def checker(h, w, low, high):
    yy, xx = np.mgrid[:h, :w]
    return np.where((yy // 2 + xx // 2) % 2 == 0, low, high).astype(np.uint8)


@jax.jit
def blend(base, overlay):
    return (base + overlay) // 2


@jax.jit
def histogram(image):
    edges = jnp.array([0, 64, 128, 192, 256])
    counts, _ = jnp.histogram(image.astype(jnp.float32), bins=edges)
    return counts


base = jnp.asarray(checker(8, 8, 40, 200))
overlay = jnp.full((8, 8), 180, dtype=jnp.uint8)
mixed = blend(base, overlay)
print("mean", round(float(mixed.mean()), 2))
print("histogram", [int(c) for c in histogram(mixed)])
