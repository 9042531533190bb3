"""Compute differences, gradients and trapezoidal integrals, and unwrap phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives import structural
from sagax._src.primitives.slicing import slice_in_dim
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    axes_in_order,
    one_axis,
    static_int,
    with_aval,
)
from sagax.numpy._arithmetic import remainder
from sagax.numpy._base import promotes_freely
from sagax.numpy._cumulative import cumsum
from sagax.numpy._floats import isfinite
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._joining import concatenate
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._selection import where
from sagax.numpy._shaping import broadcast_to, ravel, reshape, squeeze


def _slice(x: Any, start: int, stop: int | None, axis: int) -> Any:
    """Slice x[start:stop] along `axis`, by Python's rules."""
    return slice_in_dim(x, start, stop, 1, axis)


@fused_function(1)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Compute the differences of neighbors in `a` along `axis`, `n` times over.

    `prepend` and `append` are put before and after `a` first: arrays, or numbers for one element.
    Same dtype; of booleans, whether they differ.

    >>> snp.diff(snp.array([1, 4, 9]))
    Array([3, 5], dtype=int32)
    """
    n = static_int("diff", "n", n)
    a, aval = with_aval("diff", a)
    if n == 0:
        return _base.as_array("diff", a)
    if n < 0:
        raise ArgumentValueError(f"order must be non-negative but got {n}", function="diff")
    if not aval.ndim:
        raise ArgumentValueError(
            "diff requires input that is at least one dimensional", function="diff", got=a
        )
    d = one_axis("diff", axis, aval.ndim)
    pieces = [a]
    for position, end in ((3, prepend), (4, append)):
        if end is None:
            continue
        end, e_aval = with_aval("diff", end, position)
        if not e_aval.ndim:
            end = broadcast_to(end, (*aval.shape[:d], 1, *aval.shape[d + 1 :]))
        pieces.insert(0 if position == 3 else len(pieces), end)
    x = concatenate(pieces, d) if len(pieces) > 1 else _base.as_array("diff", a)
    return _differences(x, n=n, axis=d)


@fused
def _differences(x: Any, *, n: int, axis: int) -> Array:
    for _ in range(n):
        size = x.aval.shape[axis]
        if not dims.is_dim(size) and size < 1:
            return x
        left, right = _slice(x, 0, size - 1, axis), _slice(x, 1, size, axis)
        x = right != left if x.dtype == np.bool_ else right - left
    return x


@fused_function(1)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Compute the differences of neighbors in the flattened `ary`, between `to_begin` and `to_end`.

    >>> snp.ediff1d(snp.array([1, 4, 9]), to_end=7)
    Array([3, 5, 7], dtype=int32)
    """
    x = ravel(_base.as_operand("ediff1d", ary))
    found = diff(x)
    before, after = (
        []
        if end is None
        else [structural.convert(ravel(_base.as_operand("ediff1d", end)), x.dtype)]
        for end in (to_begin, to_end)
    )
    return concatenate([*before, found, *after]) if before or after else found


@fused_function(1, floats="operands")
def gradient(
    f: Any, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int | None = None
) -> Array | list[Array]:
    """Compute the derivative of `f` along each axis by central differences, one-sided at the ends.

    Args:
      varargs: the distance between neighbors: one number for all axes, or for each axis a number or
        a vector of coordinates. By default 1.
      axis: the axes to differentiate along; None: all.

    A list of arrays of the shape of `f`, floating point; for one axis the array itself.

    >>> snp.gradient(snp.array([1.0, 4.0, 9.0]))
    Array([3., 4., 5.], dtype=float32)
    """
    if edge_order is not None:
        raise UnsupportedArgumentError(
            "The 'edge_order' argument to numpy.gradient is not supported."
        )
    (x,) = _base.promote_inexact("gradient", _base.as_operand("gradient", f))
    x = _base.as_array("gradient", x)
    axes = tuple(range(x.ndim)) if axis is None else axes_in_order("gradient", axis, x.ndim)
    spacings = list(varargs) if varargs else [1.0]
    if len(spacings) == 1:
        spacings *= len(axes)
    if len(spacings) != len(axes):
        raise ArgumentError(
            f"Invalid number of spacing arguments {len(varargs)} for axis={axis}",
            function="gradient",
            expected=f"one, or one for each of {len(axes)} axes",
        )
    found = [_derivative(x, h, d) for h, d in zip(spacings, axes)]
    return found[0] if len(axes) == 1 else found


def _derivative(x: Any, spacing: Any, axis: int) -> Array:
    size = x.shape[axis]
    if not dims.is_dim(size) and size < 2:
        raise ArgumentValueError(
            "Shape of array too small to calculate a numerical gradient, at least 2 elements are"
            " required.",
            function="gradient",
            got=f"size {size} along axis {axis}",
        )
    spacing, aval = with_aval("gradient", spacing, 1)
    if aval.ndim > 1:
        raise ArgumentValueError(
            "Spacing arrays must be 1D arrays or scalars.", function="gradient", got=spacing
        )
    if aval.ndim and not dims.same(aval.shape[0], size):
        raise ArgumentValueError(
            "Spacing arrays must have the size of their axis.",
            function="gradient",
            got=f"{aval.shape[0]} coordinates",
            expected=f"{size}, the size of axis {axis}",
        )
    if not aval.ndim:
        return _even_derivative(x, spacing, axis=axis)
    return _uneven_derivative(
        x, structural.convert(spacing, x.dtype, aval.weak_type and x.weak_type), axis=axis
    )


def _even_derivative(x: Any, h: Any, *, axis: int) -> Array:
    n = x.shape[axis]
    steps = _slice(x, 1, n, axis) - _slice(x, 0, n - 1, axis)
    first, last = _slice(steps, 0, 1, axis), _slice(steps, n - 2, n - 1, axis)
    inner = (_slice(x, 2, n, axis) - _slice(x, 0, n - 2, axis)) * 0.5
    return concatenate([first, inner, last], axis) / h


def _uneven_derivative(x: Any, points: Any, *, axis: int) -> Array:
    """Differentiate to second order in both distances, by the parabola through three points."""
    n = x.shape[axis]
    shape = [1] * x.ndim
    shape[axis] = -1
    widths = reshape(_slice(points, 1, n, 0) - _slice(points, 0, n - 1, 0), tuple(shape))
    slopes = (_slice(x, 1, n, axis) - _slice(x, 0, n - 1, axis)) / widths
    left, right = _slice(widths, 0, n - 2, axis), _slice(widths, 1, n - 1, axis)
    before, after = _slice(slopes, 0, n - 2, axis), _slice(slopes, 1, n - 1, axis)
    inner = (before * right + after * left) / (left + right)
    return concatenate(
        [_slice(slopes, 0, 1, axis), inner, _slice(slopes, n - 2, n - 1, axis)], axis
    )


@fused_function(1, floats="operands")
@promotes_freely
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrate `y` along `axis` by the trapezoidal rule, in floating point.

    The points lie at `x` (a vector, or of the shape of `y`) or `dx` apart.

    >>> float(snp.trapezoid(snp.array([1, 2, 3]), dx=2))
    8.0
    """
    y, aval = with_aval("trapezoid", y, 0)
    d = one_axis("trapezoid", axis, aval.ndim)
    if x is None:
        y = _base.operand_inexact("trapezoid", y)  # first: a float has no dtype with an int4
        y, dx = _base.promote_inexact("trapezoid", y, _base.as_operand("trapezoid", dx, 2))
        widths = dx
    else:
        x, x_aval = with_aval("trapezoid", x, 1)
        y, x = _base.promote_inexact("trapezoid", y, x)
        if x_aval.ndim == 1:
            widths = diff(x)
            widths = reshape(widths, (*widths.shape, *[1] * (aval.ndim - 1 - d)))
        else:
            widths = diff(x, axis=d)
    y = _base.as_array("trapezoid", y)
    if dims.same(aval.shape[d], 0):
        return sum_along(y, d)
    if x is None and not _base.shape_of(widths):
        size = y.shape[d]
        if y.aval.explicit_sharding is not None:  # parts of a divided dimension are no whole shards
            ends = _slice(y, 0, 1, d) + _slice(y, size - 1, size, d)
            return widths * (sum_along(y, d) - 0.5 * squeeze(ends, d))
        if not dims.is_dim(size) and size > 1:
            return _trapezia_of_one_width(widths, y, axis=d)
    return _trapezia(widths, y, axis=d)


@fused
def _trapezia_of_one_width(width: Any, y: Any, *, axis: int) -> Array:
    """Sum `y`, less half of both ends. Infinite ends remain infinite."""
    total = sum_along(y, axis)
    halves = 0.5 * sum_along(slice_in_dim(y, 0, None, y.shape[axis] - 1, axis), axis)
    return width * where(isfinite(halves), total - halves, total)


@fused
def _trapezia(widths: Any, y: Any, *, axis: int) -> Array:
    """Sum the areas of trapezia of these widths, whose sides are neighbors in `y`."""
    pairs = _slice(y, 1, None, axis) + _slice(y, 0, y.shape[axis] - 1, axis)
    return 0.5 * sum_along(widths * pairs, axis)


@fused_function(1, floats="operands")
def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * math.pi) -> Array:
    """Add multiples of `period` to `p` along `axis`, so that neighbors are close.

    Where neighbors differ by more than `discont` (at least, and by default, half a period), the
    difference becomes at most half a period. Integers with an int as `period` stay integers.

    >>> snp.unwrap(snp.array([0, 1, 7, 13]), period=4)
    Array([0, 1, 3, 5], dtype=int32)
    """
    p, aval = with_aval("unwrap", p)
    if dtypes.is_complex(aval.dtype):
        raise ArgumentValueError(
            "complex numbers have no phase to unwrap", function="unwrap", got=p
        )
    if not aval.ndim:
        raise ArgumentValueError.about("unwrap", "p", p, "at least one dimension")
    d = one_axis("unwrap", axis, aval.ndim)
    dtype, weak = _base.common_dtype("unwrap", (p, _base.as_operand("unwrap", period, 3)))
    if dims.same(aval.shape[d], 0):
        return _base.as_array("unwrap", structural.convert(p, dtype, weak))
    x = structural.convert(p, dtype)
    steps = diff(x, axis=d)
    if dtypes.kind(dtype) in "iu":
        half: Any = period // 2
        ambiguous = (period % 2) == 0
    else:
        half = period / 2
        ambiguous = True
    wrapped = remainder(steps + half, period) - half
    if ambiguous is not False:
        # exactly half a period keeps its sign
        wrapped = where((wrapped == -half) & (steps > 0), half, wrapped)
    change = wrapped - steps
    limit = half if discont is None else discont
    change = where(abs(steps) < limit, 0, change)
    first = _slice(x, 0, 1, d)
    rest = _slice(x, 1, None, d) + cumsum(change, d)
    return structural.convert(concatenate([first, rest], d), aval_of(x).dtype)
