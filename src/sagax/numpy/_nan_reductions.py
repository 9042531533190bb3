"""Reduce arrays, ignoring NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._reductions as _reductions
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives import structural
from sagax._src.primitives.bitwise import bitwise_and
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.selection import select_n_p
from sagax.numpy._arguments import has_names, one_axis, refuse_out, with_aval
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._reductions import Axis, checked_where, masked

if TYPE_CHECKING or lazy_imports():
    import sagax.numpy._named_axes as _named_axes


def _without_nan(function: str, a: Any, where: Any) -> tuple[Any, Any]:
    """Return `a` and the mask of the elements that count (None: all)."""
    a, aval = with_aval(function, a)
    if where is not None:
        where = checked_where(function, where, aval.shape)
    if not dtypes.is_inexact(aval.dtype):
        return a, where
    numbers = eq(a, a)
    return a, numbers if where is None else bitwise_and(numbers, where)


# sums and products --------------------------------------------------------------------------------


@fused_function(1)
def nansum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Sum elements as `sum` does, with NaN counted as 0.

    >>> float(snp.nansum(snp.array([1, snp.nan, 2])))
    3.0
    """
    refuse_out("nansum", out)
    a, mask = _without_nan("nansum", a, where)
    return _reductions.sum(a, axis, dtype, None, keepdims, initial, mask)


@fused_function(1)
def nanprod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Multiply elements as `prod` does, with NaN counted as 1.

    >>> float(snp.nanprod(snp.array([3, snp.nan, 2])))
    6.0
    """
    refuse_out("nanprod", out)
    a, mask = _without_nan("nanprod", a, where)
    return _reductions.prod(a, axis, dtype, None, keepdims, initial, mask)


# extrema ------------------------------------------------------------------------------------------


@fused_function(1)
def nanmax(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Compute the maximum as `max` does, with NaN left out; NaN where there is nothing else.

    >>> float(snp.nanmax(snp.array([1, snp.nan, 2])))
    2.0
    """
    return _nan_extremum("nanmax", a, axis, out, keepdims, initial, where)


@fused_function(1)
def nanmin(
    a: Any,
    axis: Axis = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """Compute the minimum as `min` does, with NaN left out; NaN where there is nothing else.

    >>> float(snp.nanmin(snp.array([1, snp.nan, 2])))
    1.0
    """
    return _nan_extremum("nanmin", a, axis, out, keepdims, initial, where)


def _nan_extremum(
    function: str, a: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    refuse_out(function, out)
    a, aval = with_aval(function, a)
    reduce = _reductions.max if function == "nanmax" else _reductions.min
    if has_names(axis):
        raise _named_axes.refusal(function)
    axes = _reductions.axis_tuple(function, axis, aval.ndim)
    if initial is None:
        _reductions.check_not_empty(function, aval, axes)
    if not dtypes.is_inexact(aval.dtype) or initial is not None:
        a, mask = _without_nan(function, a, where)
        return reduce(a, axes, None, keepdims, initial, mask)
    if where is not None:
        raise ArgumentValueError(
            f"reduction operation {function} does not have an identity, so to use a where mask one"
            " has to specify 'initial'",
            function=function,
        )
    return _extremum_of_numbers(
        a, axes=axes, greatest=function == "nanmax", keepdims=bool(keepdims)
    )


@fused
def _extremum_of_numbers(a: Any, *, axes: tuple, greatest: bool, keepdims: bool) -> Array:
    reduce = _reductions.max if greatest else _reductions.min
    numbers = eq(a, a)
    found = reduce(masked(a, numbers, -np.inf if greatest else np.inf), axes, None, keepdims)
    some = _reductions.any(numbers, axes, None, keepdims)
    return select_n_p.bind(some, structural.full_of(aval_of(found), np.nan), found)


@fused_function(1)
def nanargmax(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Find the index of the maximum as `argmax` does, with NaN left out; -1 where all are NaN.

    >>> int(snp.nanargmax(snp.array([1, snp.nan, 2])))
    2
    """
    return _nan_position("nanargmax", a, axis, out, keepdims)


@fused_function(1)
def nanargmin(
    a: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
) -> Array:
    """Find the index of the minimum as `argmin` does, with NaN left out; -1 where all are NaN.

    >>> int(snp.nanargmin(snp.array([1, snp.nan, 2])))
    0
    """
    return _nan_position("nanargmin", a, axis, out, keepdims)


def _nan_position(function: str, a: Any, axis: int | None, out: Any, keepdims: Any) -> Array:
    refuse_out(function, out)
    a, aval = with_aval(function, a)
    find = _reductions.argmax if function == "nanargmax" else _reductions.argmin
    if axis is not None:
        axis = one_axis(function, axis, aval.ndim or 1)
    if not dtypes.is_inexact(aval.dtype) or not aval.size:
        return find(a, axis, None, keepdims)
    return _position_of_number(
        a, axis=axis, greatest=function == "nanargmax", keepdims=bool(keepdims)
    )


@fused
def _position_of_number(a: Any, *, axis: int | None, greatest: bool, keepdims: bool) -> Array:
    find = _reductions.argmax if greatest else _reductions.argmin
    numbers = eq(a, a)
    found = find(masked(a, numbers, -np.inf if greatest else np.inf), axis, None, keepdims)
    some = _reductions.any(numbers, axis if aval_of(a).ndim else None, None, keepdims)
    return select_n_p.bind(some, structural.full_of(aval_of(found), -1), found)


# mean and variance --------------------------------------------------------------------------------


@fused_function(1)
def nanmean(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """Compute the mean as `mean` does, with NaN left out; NaN where there is nothing else.

    >>> float(snp.nanmean(snp.array([1, snp.nan, 2])))
    1.5
    """
    refuse_out("nanmean", out)
    a, mask = _without_nan("nanmean", a, where)
    return _reductions.mean(a, axis, dtype, None, keepdims, where=mask)


@fused_function(1)
def nanvar(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """Compute the variance as `var` does, with NaN left out; NaN where too few are left.

    >>> float(snp.nanvar(snp.array([1, snp.nan, 3])))
    1.0
    """
    refuse_out("nanvar", out)
    a, mask = _without_nan("nanvar", a, where)
    return _reductions.var(a, axis, dtype, None, ddof, keepdims, where=mask, mean=mean)


@fused_function(1)
def nanstd(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: bool = False,
    where: Any = None,
    mean: Any = None,
) -> Array:
    """Compute the standard deviation as `std` does, with NaN left out; NaN where too few are left.

    >>> float(snp.nanstd(snp.array([1, snp.nan, 3])))
    1.0
    """
    refuse_out("nanstd", out)
    a, mask = _without_nan("nanstd", a, where)
    return _reductions.std(a, axis, dtype, None, ddof, keepdims, where=mask, mean=mean)
