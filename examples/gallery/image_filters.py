"""Filter a photograph: blur, edges, and noise taken away by gradient descent.

The photograph (Grace Hopper, US Navy, in the public domain) comes with matplotlib. The judge is the ratio of
signal to noise: taking noise away must reach more than blurring does.
"""

import matplotlib
import numpy as np

import sagax
import sagax.numpy as snp
from sagax import lax, random
from sagax.scipy.signal import convolve2d

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.cbook import get_sample_data

NOISE, WEIGHT, STEPS = 0.1, 0.09, 150


def photograph():
    """The picture with half of its rows and columns, as numbers from 0 to 1 of shape (300, 256, 3)."""
    with get_sample_data("grace_hopper.jpg") as file:
        return snp.asarray(plt.imread(file, format="jpg")[::2, ::2] / 255, snp.float32)


def per_channel(function):
    """From a filter of one channel to a filter of red, green and blue."""
    return sagax.jit(sagax.vmap(function, in_axes=-1, out_axes=-1))


@per_channel
def blur(channel):
    weights = snp.exp(-0.5 * (snp.arange(-3, 4) / 0.9) ** 2)
    kernel = snp.outer(weights, weights) / weights.sum() ** 2
    return convolve2d(snp.pad(channel, 3, mode="edge"), kernel, mode="valid")


@per_channel
def edges(channel):
    slope = snp.array([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
    across, down = (convolve2d(channel, k, mode="same") for k in (slope, slope.T))
    return snp.hypot(across, down)


def roughness(channel):
    """Total variation: the sum of the lengths of all slopes, smoothed at zero."""
    down = snp.diff(channel, axis=0)[:, :-1]
    across = snp.diff(channel, axis=1)[:-1]
    return snp.sum(snp.sqrt(down**2 + across**2 + 1e-4))


@per_channel
def denoise(noisy):
    """Minimize the distance to the noisy channel plus the roughness, by accelerated gradient descent."""

    def objective(channel):
        return 0.5 * snp.sum((channel - noisy) ** 2) + WEIGHT * roughness(channel)

    def step(state, i):
        channel, before = state
        ahead = channel + i / (i + 3) * (channel - before)
        return (ahead - 0.02 * sagax.grad(objective)(ahead), channel), None

    start = (noisy, noisy)
    return lax.scan(step, start, snp.arange(STEPS, dtype=snp.float32))[0][0]


def decibels(image, original):
    return -10 * snp.log10(snp.mean((image - original) ** 2))


def main():
    original = photograph()
    noisy = original + NOISE * random.normal(random.key(0), original.shape)
    blurred, cleaned = blur(noisy), denoise(noisy)
    print(f"noisy     {decibels(noisy, original):.2f} dB")
    print(f"blurred   {decibels(blurred, original):.2f} dB")
    print(f"denoised  {decibels(cleaned, original):.2f} dB")

    pictures = {
        "noisy": noisy,
        "blurred": blurred,
        "denoised": cleaned,
        "edges of the original": 1 - edges(original),
    }
    figure, axes = plt.subplots(1, 4, figsize=(9, 3), layout="constrained")
    for ax, (name, picture) in zip(axes, pictures.items()):
        ax.imshow(np.clip(picture, 0, 1))
        ax.set_title(name)
        ax.set_axis_off()
    figure.savefig("image_filters.png", dpi=100)


main()
