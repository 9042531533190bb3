"""Compute summary statistics along an axis: mode, ranks, standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sagax.numpy as snp
import sagax.numpy._base as _base
from sagax._src.api.vmap import vmap
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.shaping import size_as_value
from sagax.numpy._arguments import UnsupportedArgumentError, check_choice, one_axis
from sagax.numpy._fused import fused_function


class ModeResult(NamedTuple):
    """The most frequent elements, and their counts."""

    mode: Array
    count: Array


def _checked_policy(function: str, nan_policy: str) -> None:
    if nan_policy == "propagate":
        return
    if nan_policy in ("omit", "raise"):
        raise UnsupportedArgumentError(
            f"{function} has no nan_policy={nan_policy!r}",
            fix="leave it out: NaN then gives NaN; drop the NaN before, where values are concrete",
        )
    raise ArgumentValueError.about(function, "nan_policy", repr(nan_policy), "'propagate'")


def _along(f: Callable[[Array], Any], a: Array, axis: int | None, keepdims: bool = False) -> Any:
    """Apply `f` to each vector along `axis`; to the flattened array where it is None."""
    reduced_shape = (1,) * a.ndim
    if axis is None:
        a, axis = a.reshape(-1), 0
    else:
        reduced_shape = tuple([1 if i == axis % a.ndim else s for i, s in enumerate(a.shape)])
    for _ in range(a.ndim - 1):
        f = vmap(f)
    found = f(snp.moveaxis(a, axis, -1))
    return tuple([x.reshape(reduced_shape) for x in found]) if keepdims else found


@fused_function(1)
def mode(
    a: Any, axis: int | None = 0, nan_policy: str = "propagate", keepdims: bool = False
) -> ModeResult:
    """Find the most frequent element along `axis` (None: of all), the least of several, and its count.

    Raises ArgumentValueError for an unknown `nan_policy`; "omit" and "raise" are not supported.

    >>> stats.mode(snp.array([3, 1, 3, 2, 1])).mode
    Array(1, dtype=int32)
    """
    _checked_policy("mode", nan_policy)

    def one(row: Array) -> tuple[Array, Array]:
        ordered = snp.sort(row)
        first, end = _equal_ranges(ordered)
        best = snp.argmax(end - first)
        return ordered[best], (end - first)[best].astype(snp.result_type(int))

    x = _base.as_array("mode", a)
    x = x if x.ndim else x.reshape(1)
    axis = None if axis is None else one_axis("mode", axis, x.ndim)
    if not x.size and (axis is None or x.ndim == 1):
        nothing = snp.zeros((1,) * x.ndim if keepdims else (), snp.float32)
        return ModeResult(nothing + snp.nan, nothing)
    if not x.size and axis is not None and not x.shape[axis]:
        raise ArgumentValueError.about("mode", "a", x, "some elements")
    return ModeResult(*_along(one, x, axis, keepdims))


def _equal_ranges(ordered: Array) -> tuple[Array, Array]:
    """The start and end of the run of elements equal to each one; NaN equals NaN."""
    return snp.searchsorted(ordered, ordered), snp.searchsorted(ordered, ordered, side="right")


@fused_function(1)
def rankdata(
    a: Any, method: str = "average", *, axis: int | None = None, nan_policy: str = "propagate"
) -> Array:
    """Rank each element among those along `axis` (None: the flattened array), from 1.

    `method` ranks equal elements: by the "average", "min" or "max" of the ranks they take up,
    "dense" (the next greater element has the next rank) or "ordinal" (in order of position).

    >>> stats.rankdata(snp.array([0, 2, 3, 2]))
    Array([1. , 2.5, 4. , 2.5], dtype=float32)
    """
    _checked_policy("rankdata", nan_policy)
    methods = ("average", "min", "max", "dense", "ordinal")
    check_choice("rankdata", "method", method, methods, ", ".join(methods))

    def ranks(row: Array) -> Array:
        if method == "ordinal":
            return snp.argsort(snp.argsort(row, stable=True)) + 1
        ordered = snp.sort(row)
        if method == "dense":
            new = ordered[1:] != ordered[:-1]
            dense = snp.concatenate([snp.ones(1, int), 1 + snp.cumsum(new, dtype=int)])
            return dense[snp.searchsorted(ordered, row)]
        first = snp.searchsorted(ordered, row) + 1
        last = snp.searchsorted(ordered, row, side="right")
        if method == "average":
            return (first + last) / 2
        return first if method == "min" else last

    def one(row: Array) -> Array:
        found = ranks(row).astype(float)
        if not dtypes.is_inexact(row.dtype):
            return found
        return snp.where(snp.isnan(row).any(), snp.nan, found)

    x = _base.as_array("rankdata", a)
    axis = None if axis is None else one_axis("rankdata", axis, x.ndim)
    found = _along(one, x, axis)
    return found if axis is None else snp.moveaxis(found, -1, axis)


@fused_function(1)
def sem(
    a: Any,
    axis: int | None = 0,
    ddof: int = 1,
    nan_policy: str = "propagate",
    *,
    keepdims: bool = False,
) -> Array:
    """Compute the standard error of the mean along `axis` (None: of all): std / sqrt(n).

    `ddof` is subtracted from n in the variance. With `nan_policy="omit"` NaNs do not count; "raise" is not
    supported, as values may be traced.

    >>> stats.sem(snp.array([1.0, 2.0, 3.0, 4.0]))
    Array(0.64549726, dtype=float32)
    """
    x = _base.as_array("sem", a)
    axis = None if axis is None else one_axis("sem", axis, x.ndim)
    if nan_policy == "omit":
        count = snp.sum(~snp.isnan(x), axis, keepdims=keepdims)
        spread = snp.nanstd(x, axis, ddof=ddof, keepdims=keepdims)
        return spread / snp.sqrt(count.astype(float)).astype(spread.dtype)
    _checked_policy("sem", nan_policy)
    n = snp.size(x) if axis is None else x.shape[axis]
    spread = snp.std(x, axis, ddof=ddof, keepdims=keepdims)
    n = size_as_value(n).astype(float) if dims.is_dim(n) else float(n)
    return spread / snp.sqrt(n).astype(spread.dtype)
