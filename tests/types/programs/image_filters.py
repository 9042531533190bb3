"""Blur, sharpen and resize an image, and find its edges."""

from collections.abc import Callable, Sequence
from typing import Literal

import sagax
import sagax.numpy as snp
from sagax import Array, lax

Border = Literal["reflect", "edge"]


def gaussian(width: int, sigma: float) -> Array:
    at = snp.arange(width) - (width - 1) / 2
    weights = snp.exp(-(at**2) / (2 * sigma**2))
    return weights / weights.sum()


def convolve(image: Array, kernel: Array, border: Border = "reflect") -> Array:
    rows, columns = kernel.shape
    padding = ((rows // 2, rows // 2), (columns // 2, columns // 2))
    padded = snp.pad(image, padding, mode=border)
    out = lax.conv_general_dilated(
        padded[None, None],
        kernel[None, None],
        window_strides=(1, 1),
        padding="VALID",
        dimension_numbers=("NCHW", "OIHW", "NCHW"),
    )
    return out[0, 0]


def blur(image: Array, sigma: float = 1.0) -> Array:
    weights = gaussian(5, sigma)
    return convolve(image, snp.outer(weights, weights))


def edges(image: Array) -> Array:
    sobel = snp.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]], dtype=snp.float32)
    return snp.hypot(convolve(image, sobel), convolve(image, sobel.T, border="edge"))


def sharpen(image: Array) -> Array:
    return snp.clip(image + 0.8 * (image - blur(image)), 0, 1)


def apply_all(filters: Sequence[Callable[[Array], Array]], image: Array) -> list[Array]:
    return [sagax.jit(f)(image) for f in filters]


def total_variation(image: Array) -> Array:
    return snp.abs(snp.diff(image, axis=0)).sum() + snp.abs(snp.diff(image, axis=1)).sum()


def denoise(noisy: Array, steps: int) -> Array:
    def objective(image: Array) -> Array:
        return snp.sum((image - noisy) ** 2) + 0.1 * total_variation(image)

    slope = sagax.grad(objective)
    return lax.fori_loop(0, steps, lambda _, image: image - 0.05 * slope(image), noisy)


x, y = snp.meshgrid(snp.linspace(-1, 1, 16), snp.linspace(-1, 1, 16), indexing="ij")
disc = (x**2 + y**2 < 0.5).astype(snp.float32)
noisy = disc + 0.1 * sagax.random.normal(sagax.random.key(0), disc.shape)
results = apply_all([blur, edges, sharpen], noisy)
small = sagax.image.resize(results[0], (8, 8), method="linear")
clean = denoise(noisy, steps=5)
better = total_variation(clean) < total_variation(noisy)
print([r.shape for r in results], small.shape, bool(better))
histogram, bounds = snp.histogram(clean, bins=4)
print(histogram.sum().item(), bounds.shape, disc.at[0].set(1.0).sum())
