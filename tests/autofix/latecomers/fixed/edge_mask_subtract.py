# One correct fixed version of edge_mask_subtract.py
"""Boundary pixels of a segmentation by morphological erosion."""
import jax
import jax.numpy as jnp


def shifts(mask):
    padded = jnp.pad(mask, 1)
    h, w = mask.shape
    return [padded[1 + dy:1 + dy + h, 1 + dx:1 + dx + w]
            for dy, dx in ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))]


def erode(mask):
    return jnp.all(jnp.stack(shifts(mask)), axis=0)


def boundary(mask):
    return mask & ~erode(mask)


@jax.jit
def perimeter_ratio(image, level):
    mask = image > level
    return boundary(mask).sum() / mask.sum()


yy, xx = jnp.mgrid[:16, :16]
image = jnp.exp(-((yy - 8) ** 2 + (xx - 7) ** 2) / 20.0)
for level in (0.2, 0.5, 0.8):
    print(level, round(float(perimeter_ratio(image, level)), 4))
