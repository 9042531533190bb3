"""Count elements by value or by bin: bincount and histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives import structural
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    concrete_or_raise,
    refuse_sharding,
    static_int,
    with_aval,
)
from sagax.numpy._calculus import diff
from sagax.numpy._conversion import array
from sagax.numpy._creation import linspace, zeros
from sagax.numpy._joining import stack
from sagax.numpy._reductions import max as max_along
from sagax.numpy._reductions import min as min_along
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._selection import clip, where
from sagax.numpy._shaping import ravel, reshape
from sagax.numpy._sorting import searchsorted

_thread = config.thread


def bincount(
    x: Any,
    weights: Any = None,
    minlength: int = 0,
    *,
    length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Count each number 0, 1, ... in the vector `x`, or sum their `weights`.

    The result has `length` elements if given: greater numbers are left out, `minlength` is ignored.
    Otherwise it has at least `minlength`, and as many as `x` needs, which must be concrete then. Negative numbers count as 0.

    >>> snp.bincount(snp.array([1, 1, 3]))
    Array([0, 2, 0, 1], dtype=int32)
    """
    refuse_sharding("bincount", out_sharding)
    x, aval = with_aval("bincount", x, 0)
    if dtypes.kind(aval.dtype) not in "iub":
        raise ArgumentError(
            f"x argument to bincount must have an integer type; got {dtypes.name(aval.dtype)}",
            function="bincount",
            fix="convert it: x.astype(int)",
            x=x,
        )
    if aval.ndim != 1:
        raise ArgumentValueError.about("bincount", "x", x, "a vector (one dimension)")
    minlength = static_int("bincount", "minlength", minlength)
    if length is None:
        known = concrete_or_raise(
            "bincount", x, "give length=..., the number of elements that the result should have"
        )
        length = max(minlength, int(known.max()) + 1 if known.size else 0)
    else:
        length = static_int("bincount", "length", length)
    if weights is None:
        weights = np.ones((), dtypes.default_int(_thread.settings.x64))[()]
    else:
        weights, w_aval = with_aval("bincount", weights, 1)
        if not dims.same_shape(w_aval.shape, aval.shape):
            raise ArgumentValueError.about(
                "bincount", "weights", weights, f"the shape of x, {aval.shape}"
            )
    counts = zeros((length,), aval_of(weights).dtype)
    if dtypes.kind(aval.dtype) == "b":
        x = structural.convert(x, dtypes.int32)
    return counts.at[clip(x, 0)].add(weights, mode="drop")


# histograms ---------------------------------------------------------------------------------------


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Compute the edges of the bins of a histogram of `a`, in floating point.

    `bins` is their number, for bins of equal width from the least to the greatest element (or over
    `range`, a pair), or the edges themselves.

    >>> snp.histogram_bin_edges(snp.array([0.0, 3.0]), bins=3)
    Array([0., 1., 2., 3.], dtype=float32)
    """
    del (
        weights
    )  # as in NumPy they would only matter to ways of choosing bins that are not supported
    a, _ = with_aval("histogram_bin_edges", a)
    return _edges("histogram_bin_edges", a, bins, range)


def _edges(function: str, a: Any, bins: Any, limits: Any) -> Array:
    if isinstance(bins, str):
        raise UnsupportedArgumentError(
            f"numpy.{function}: string values for `bins` are not supported",
            fix="give the number of bins, or their edges",
        )
    if isinstance(bins, (list, tuple)):
        bins = array(bins)
    bins, aval = with_aval(function, bins, 1)
    (a,) = _base.promote_inexact(function, a)
    dtype = aval_of(a).dtype
    if aval.ndim == 1:
        return structural.convert(_base.as_array(function, bins), dtype)
    if aval.ndim > 1:
        raise ArgumentValueError.about(function, "bins", bins, "a number, or a vector of edges")
    count = static_int(function, "bins", bins)
    if count < 1:
        raise ArgumentValueError.about(function, "bins", count, "at least one bin")
    if limits is not None:
        low, high = _limits(function, limits, dtype)
    elif aval_of(a).size == 0:
        low, high = (structural.convert(_base.as_array(function, v), dtype) for v in (0.0, 1.0))
    else:
        low, high = min_along(a), max_along(a)
    flat = low == high  # a bin has to have a width
    low, high = where(flat, low - 0.5, low), where(flat, high + 0.5, high)
    return linspace(low, high, count + 1, dtype=dtype)


def _limits(function: str, limits: Any, dtype: Any) -> tuple[Any, Any]:
    if isinstance(limits, (Array, np.ndarray)) and limits.shape == (2,):
        limits = (limits[0], limits[1])
    if not isinstance(limits, (list, tuple)) or len(limits) != 2:
        raise ArgumentValueError.about(function, "range", limits, "a pair: least and greatest")
    low, high = (
        structural.convert(_base.as_array(function, _base.as_operand(function, v)), dtype)
        for v in limits
    )
    return low, high


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
    out_sharding: Any = None,
) -> tuple[Array, Array]:
    """Count the elements of `a` in each bin, or sum their weights; and return the edges of the bins.

    A bin holds its left edge, the last one both. `bins` and `range` as in `histogram_bin_edges`. With
    `density` the counts are divided by their sum and the widths of the bins. Floating point.

    >>> counts, edges = snp.histogram(snp.array([1, 2, 2, 3]), bins=2)
    >>> counts
    Array([1., 3.], dtype=float32)
    """
    refuse_sharding("histogram", out_sharding)
    a, aval = with_aval("histogram", a)
    if weights is None:
        (a,) = _base.promote_inexact("histogram", a)
        each = structural.full_of(aval_of(a).update(weak_type=False), 1)
    else:
        weights, w_aval = with_aval("histogram", weights, 3)
        if not dims.same_shape(w_aval.shape, aval.shape):
            raise ArgumentValueError(
                "weights should have the same shape as a.",
                function="histogram",
                got=f"shapes {w_aval.shape} and {aval.shape}",
            )
        a, each = _base.promote_inexact("histogram", a, weights)
    edges = _edges("histogram", a, bins, range)
    bin_indices = _bins_of(edges, ravel(a))
    counts = zeros((edges.shape[0],), aval_of(each).dtype)
    counts = counts.at[bin_indices].add(ravel(each), mode="drop")[1:]
    if density:
        counts = counts / diff(edges) / sum_along(counts)
    return counts, edges


def _bins_of(edges: Array, x: Any) -> Array:
    """Return the number, from 1, of the bin of each of `x`; 0 or too great where there is none."""
    count = edges.shape[0]
    bin_indices = searchsorted(edges, x, side="right")
    last = structural.reshape(edges[-1:], ())
    return where(x == last, count - 1, bin_indices)


@_base.promotes_freely
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool | None = None
) -> tuple[Array, list[Array]]:
    """Count the points in each cell of a grid, or sum their weights; and return the edges.

    `sample` is a matrix with a row for each point; `bins` a number or edges for all coordinates, or a
    sequence with one of these for each; `range` a sequence with a pair, or None, for each. Counts are
    integers unless there are weights. With `density` they are divided by their sum and by the volumes
    of the cells.

    >>> counts, edges = snp.histogramdd(snp.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]), bins=2)
    >>> counts
    Array([[1, 0],
           [1, 1]], dtype=int32)
    """
    sample, aval = with_aval("histogramdd", sample)
    if aval.ndim != 2:
        raise ArgumentValueError.about(
            "histogramdd", "sample", sample, "a matrix with a row for each point"
        )
    (sample,) = _base.promote_inexact("histogramdd", sample)
    points, count = aval.shape
    if weights is not None:
        weights, w_aval = with_aval("histogramdd", weights, 3)
        if not dims.same_shape(w_aval.shape, (points,)):
            raise ArgumentValueError(
                "should have one weight for each sample.",
                function="histogramdd",
                got=f"shape {w_aval.shape} for {points} samples",
            )
        (weights,) = _base.promote_inexact("histogramdd", weights)
    if range is not None and (not isinstance(range, (list, tuple)) or len(range) != count):
        raise ArgumentValueError.about(
            "histogramdd", "range", range, f"None, or {count} pairs: one for each coordinate"
        )
    if isinstance(bins, (list, tuple)):
        if len(bins) != count:
            raise ArgumentValueError(
                "should be a bin for each dimension.",
                function="histogramdd",
                got=f"{len(bins)} for {count} coordinates",
            )
        each = list(bins)
    else:
        each = [bins] * count
    edges, bin_indices, shape = [], [], []
    for i, b in enumerate(each):
        x = sample[:, i]
        edges.append(_edges("histogramdd", x, b, None if range is None else range[i]))
        bin_indices.append(_bins_of(edges[-1], x))
        shape.append(edges[-1].shape[0] + 1)
    if weights is None:
        weights = np.ones((), dtypes.default_int(_thread.settings.x64))[()]
    counts = zeros(tuple(shape), aval_of(weights).dtype)
    counts = counts.at[tuple(bin_indices)].add(weights)
    counts = counts[(slice(1, -1),) * count]
    if density:
        counts = _base.promote_dtypes("histogramdd", counts, *edges)[0]
        counts = counts / sum_along(counts)
        for i, e in enumerate(edges):
            widths = [1] * count
            widths[i] = -1
            counts = counts / reshape(diff(e), tuple(widths))
    return counts, edges


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    weights: Any = None,
    density: bool | None = None,
) -> tuple[Array, Array, Array]:
    """Count the points (x, y) in each cell of a grid; and return the edges along x and along y.

    `bins` is a number or edges for both, or a pair of these; everything else as in `histogramdd`.

    >>> x, y = snp.array([0.0, 1.0, 1.0]), snp.array([0.0, 1.0, 0.0])
    >>> counts, _, _ = snp.histogram2d(x, y, bins=2)
    >>> counts
    Array([[1, 0],
           [1, 1]], dtype=int32)
    """
    x, x_aval = with_aval("histogram2d", x, 0)
    y, y_aval = with_aval("histogram2d", y, 1)
    if x_aval.ndim != 1 or not dims.same_shape(x_aval.shape, y_aval.shape):
        raise ArgumentValueError(
            "x and y must be vectors of one size",
            function="histogram2d",
            got=f"shapes {x_aval.shape} and {y_aval.shape}",
        )
    x, y = _base.promote_inexact("histogram2d", x, y)
    sample = stack([x, y], 1)
    if isinstance(bins, (list, tuple)) and len(bins) not in (1, 2):
        bins = array(bins)
    elif isinstance(bins, (list, tuple)) and len(bins) == 1:
        bins = list(bins) * 2
    counts, (along_x, along_y) = histogramdd(sample, bins, range, weights, density)
    return counts, along_x, along_y
