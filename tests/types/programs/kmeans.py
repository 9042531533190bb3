"""Cluster points with k-means, and project them on their principal components."""

from typing import NamedTuple

import numpy as np

import sagax
import sagax.numpy as snp
from sagax import Array, lax, random
from sagax.typing import ArrayLike


class Clusters(NamedTuple):
    centers: Array
    labels: Array
    moved: Array
    iteration: Array


def distances(points: Array, centers: Array) -> Array:
    return snp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=-1)


def assign(points: Array, centers: Array) -> Array:
    return snp.argmin(distances(points, centers), axis=1)


def kmeans(key: Array, points: ArrayLike, k: int, limit: int = 50) -> Clusters:
    points = snp.asarray(points, dtype=snp.float32)
    centers = random.choice(key, points, (k,), replace=False)
    start = Clusters(centers, assign(points, centers), snp.array(snp.inf), snp.array(0))

    def unfinished(state: Clusters) -> Array:
        return (state.moved > 1e-5) & (state.iteration < limit)

    def step(state: Clusters) -> Clusters:
        labels = assign(points, state.centers)
        sums = sagax.ops.segment_sum(points, labels, num_segments=k)
        counts = snp.bincount(labels, length=k)
        centers = snp.where(
            counts[:, None] > 0, sums / snp.maximum(counts, 1)[:, None], state.centers
        )
        moved = snp.linalg.norm(centers - state.centers)
        return Clusters(centers, labels, moved, state.iteration + 1)

    return lax.while_loop(unfinished, step, start)


def principal_components(x: Array, n: int) -> tuple[Array, Array]:
    centered = x - x.mean(axis=0)
    _, s, vt = snp.linalg.svd(centered, full_matrices=False)
    return centered @ vt[:n].T, s[:n] ** 2 / (s**2).sum()


rng = np.random.default_rng(0)
middles = np.array([[0.0, 0.0, 0.0], [4.0, 4.0, 4.0]])
points = np.concatenate([rng.normal(m, 0.5, (20, 3)) for m in middles])
found = kmeans(random.key(0), points, 2)
projected, explained = principal_components(snp.asarray(points), 2)
names, counts = snp.unique(found.labels, return_counts=True)
order = snp.argsort(found.centers[:, 0])
print({int(name): int(count) for name, count in zip(names, counts, strict=True)})
print(found.centers[order].round(1).tolist(), int(found.iteration), projected.shape)
print(explained[0].item(), np.asarray(found.labels).dtype)
