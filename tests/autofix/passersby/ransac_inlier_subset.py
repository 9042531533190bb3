# error: NonConcreteBooleanIndexError
# line: 30
# depends: points, idx
# fix: where_mask_sum
# fixed-file: fixed/ransac_inlier_subset.py
# result: slope 0.702 offset 0.996 ; support 22

"""RANSAC line fitting with a least squares polish on the inliers."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Line(NamedTuple):
    slope: jax.Array
    offset: jax.Array


def through(p, q):
    slope = (q[1] - p[1]) / (q[0] - p[0] + 1e-9)
    return Line(slope, p[1] - slope * p[0])


def residuals(line, points):
    return jnp.abs(line.slope * points[:, 0] + line.offset - points[:, 1])


def polish(points, keep):
    chosen = points[keep]
    x, y = chosen[:, 0], chosen[:, 1]
    xm, ym = x.mean(), y.mean()
    slope = jnp.sum((x - xm) * (y - ym)) / jnp.sum((x - xm) ** 2)
    return Line(slope, ym - slope * xm)


@jax.jit
def candidate(points, idx, tol):
    line = through(points[idx[0]], points[idx[1]])
    keep = residuals(line, points) < tol
    return polish(points, keep), keep.sum()


def ransac(points, pairs, tol=0.2):
    best, support = None, -1
    for idx in pairs:
        line, votes = candidate(points, idx, tol)
        if int(votes) > support:
            best, support = line, int(votes)
    return best, support


def make_points():
    x = jnp.linspace(0.0, 5.0, 26)
    y = 0.7 * x + 1.0 + 0.05 * jnp.sin(9 * x)
    outliers = jnp.arange(26) % 6 == 5
    y = jnp.where(outliers, y + 4.0, y)
    return jnp.stack([x, y], axis=1)


points = make_points()
pairs = jnp.array([[0, 5], [1, 20], [5, 11], [3, 16], [10, 17]])
line, support = ransac(points, pairs)
print("slope", round(float(line.slope), 3), "offset", round(float(line.offset), 3))
print("support", support)
