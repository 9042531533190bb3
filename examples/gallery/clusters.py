"""Find the ten digits without their labels: principal components, then k-means from many starts at once.

The data are the 1,797 scanned digits of 8x8 pixels that come with scikit-learn. Labels only judge the result.
"""

import matplotlib
import numpy as np
from sklearn.datasets import load_digits

import sagax
import sagax.numpy as snp
from sagax import lax, random

matplotlib.use("Agg")
import matplotlib.pyplot as plt

CLUSTERS, STARTS, COMPONENTS = 10, 50, 20


@sagax.jit
def principal_components(x):
    """Coordinates along the directions of greatest variance, these directions, and their shares of it."""
    centered = x - x.mean(axis=0)
    _, spread, directions = snp.linalg.svd(centered, full_matrices=False)
    shares = spread**2 / (spread**2).sum()
    return centered @ directions.T, directions, shares


def squared_distances(x, centers):
    return (x**2).sum(axis=1)[:, None] - 2 * x @ centers.T + (centers**2).sum(axis=1)


def first_centers(x, key):
    """Draw points far from each other: each with a chance that grows with its squared distance."""

    def draw(nearest, key):
        i = random.categorical(key, snp.log(nearest + 1e-9))
        distances = ((x - x[i]) ** 2).sum(axis=1)
        return snp.minimum(nearest, distances), x[i]

    return lax.scan(draw, snp.ones(len(x)), random.split(key, CLUSTERS))[1]


def k_means(x, key):
    """Move each center to the mean of the points nearest to it, until no center moves."""

    def assign(centers):
        distances = squared_distances(x, centers)
        return distances.argmin(axis=1), distances.min(axis=1).mean()

    def moved(state):
        before, centers, steps = state
        return (snp.abs(centers - before).max() > 1e-4) & (steps < 100)

    def move(state):
        _, centers, steps = state
        near = assign(centers)[0][:, None] == snp.arange(CLUSTERS)
        counts = snp.maximum(near.sum(axis=0), 1)
        return centers, near.T.astype(x.dtype) @ x / counts[:, None], steps + 1

    centers = first_centers(x, key)
    _, centers, steps = lax.while_loop(moved, move, move((centers, centers, 0)))
    return centers, *assign(centers), steps


@sagax.jit
def best_of_many(x, key):
    """The clusters with the least distances, of all starts; and what each start came to."""
    *found, spread, steps = sagax.vmap(k_means, (None, 0))(x, random.split(key, STARTS))
    best = spread.argmin()
    return *(array[best] for array in found), spread, steps


def main():
    data = load_digits()
    x, directions, shares = principal_components(snp.asarray(data.data, snp.float32))
    centers, nearest, spread, steps = best_of_many(x[:, :COMPONENTS], random.key(0))
    # each cluster stands for the digit that most of its points show
    digits = np.array([np.bincount(data.target[nearest == k]).argmax() for k in range(CLUSTERS)])
    right = (digits[np.asarray(nearest)] == data.target).mean()
    print(f"variance in {COMPONENTS} components  {shares[:COMPONENTS].sum():.4f}")
    print(f"spread, best and worst start  {spread.min():.1f}, {spread.max():.1f}")
    print(f"named right without labels  {right:.3f}")

    figure = plt.figure(figsize=(8, 4.2), layout="constrained")
    left, panel = figure.subfigures(1, 2, width_ratios=[1.2, 1])
    ax = left.subplots()
    ax.scatter(*x[:, :2].T, c=nearest, cmap="tab10", s=5)
    ax.set(title="Clusters in the first two components")
    images = centers @ directions[:COMPONENTS] + data.data.mean(axis=0)
    for ax, k in zip(panel.subplots(2, 5).flat, digits.argsort()):
        ax.imshow(images[k].reshape(8, 8), cmap="gray_r")
        ax.set_title(str(digits[k]))
        ax.set_axis_off()
    panel.suptitle("Their centers, and the digit most show")
    figure.savefig("clusters.png", dpi=100)


main()
