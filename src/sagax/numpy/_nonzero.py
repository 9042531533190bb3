"""Find the indices of nonzero elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config, tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import arithmetic, comparison, shaping, structural
from sagax._src.primitives.comparison import ne
from sagax._src.primitives.cumulative import cumsum_p
from sagax._src.primitives.scattering import ScatterDimensionNumbers, scatter_add
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax._src.primitives.sorting import sort_p
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import concrete_or_raise, static_int, with_aval
from sagax.numpy._fused import fused
from sagax.numpy._indexing.lazy import lazily, lazy_nonzero
from sagax.numpy._reductions import as_dtype
from sagax.numpy._shaping import atleast_1d, ravel

_thread = config.thread
_FIX = "give size=..., the number of positions that the result should have"


def nonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> tuple[Array, ...]:
    """Find the indices of the nonzero elements of `a`: a vector of integers for each dimension.

    How many there are depends on the contents of `a`, which must be concrete therefore, unless `size`
    says how many to return: the first ones, filled up with `fill_value` (a number, or a tuple of one
    for each dimension; by default 0).

    >>> snp.nonzero(snp.array([0, 5, 0, 7]))
    (Array([1, 3], dtype=int32),)
    """
    return indices_of("nonzero", a, size, fill_value)


def indices_of(function: str, a: Any, size: Any, fill_value: Any) -> tuple[Array, ...]:
    """Compute `nonzero`, for the function that errors name."""
    a, aval = with_aval(function, a)
    if not aval.ndim:
        raise ArgumentValueError(
            "a scalar has no positions",
            function=function,
            got=a,
            fix="make it an array first: numpy.atleast_1d(...)",
        )
    dtype = dtypes.default_int(_thread.settings.x64)
    fills = _fills(function, fill_value, aval.ndim)
    if size is None:
        if lazily() and isinstance(a, Tracer) and a.concrete() is None:
            positions = lazy_nonzero(a if aval.dtype == np.bool_ else ne(a, _zero_of(aval)), dtype)
            if positions is not None:
                return positions
        found = np.nonzero(concrete_or_raise(function, a, _FIX))
        return tuple([_base.as_array(function, i.astype(dtype)) for i in found])
    size = static_int(function, "size", size)
    if not dims.is_dim(size) and size < 0:
        raise ArgumentValueError.about(function, "size", size, "at least 0")
    found = _first_indices(a, *fills, size=size, dtype=dtype)
    return tuple(found)


def _zero_of(aval: Any) -> Any:
    return np.zeros((), aval.dtype)[()]


def _fills(function: str, fill_value: Any, ndim: int) -> list:
    """Return the fill value for each dimension."""
    if fill_value is None:
        return [0] * ndim
    if isinstance(fill_value, (tuple, list)):
        if len(fill_value) != ndim:
            raise ArgumentValueError(
                f"fill_value tuple must have length equal to number of axes ({ndim}); got"
                f" {len(fill_value)}",
                function=function,
            )
        return [_base.as_operand(function, v) for v in fill_value]
    value, aval = with_aval(function, fill_value)
    if aval.ndim == 1:
        return _fills(function, list(shaping.unstack(value)), ndim)
    if aval.ndim:
        raise ArgumentValueError.about(function, "fill_value", fill_value, "a number for each axis")
    return [value] * ndim


@fused
def _first_indices(a: Any, *fills: Any, size: Any, dtype: Any) -> list:
    aval = aval_of(a)
    count = aval.size
    if dims.same(count, 0):
        result_aval = intern_aval((size,), dtype, False, None)
        return [structural.broadcast_in_dim(as_dtype(f, dtype), result_aval.shape) for f in fills]
    flat = first_indices(ravel(a), size, dtype)
    valid = comparison.lt(flat, as_dtype(shaping.size_as_value(count), dtype))
    found, rest = [], flat
    for extent in aval.shape[:0:-1]:  # the last index changes fastest
        extent = as_dtype(shaping.size_as_value(extent), dtype)
        found.append(arithmetic.rem(rest, extent))
        rest = arithmetic.div(rest, extent)
    found.append(rest)
    return [
        select_n_p.bind(valid, structural.broadcast_in_dim(as_dtype(f, dtype), (size,)), index)
        for index, f in zip(found[::-1], fills)
    ]


def first_indices(mask: Any, size: Any, dtype: Any) -> Array:
    """Find the first `size` indices at which a vector is not zero, padded with its own size."""
    count = aval_of(mask).shape[0]
    known = not (dims.is_dim(count) or dims.is_dim(size))
    if known and min(count, size) >= tuning.NONZERO_MIN_COUNTED:
        return _counted_indices(mask, size, dtype)
    positions = shaping.broadcasted_iota(dtype, (count,), 0)
    beyond = structural.broadcast_in_dim(as_dtype(shaping.size_as_value(count), dtype), (count,))
    chosen = convert(mask, np.dtype(bool))
    (ordered,) = sort_p.bind(
        select_n_p.bind(chosen, beyond, positions), dimension=0, is_stable=False, num_keys=1
    )
    enough = dims.compare(size, "<=", count)
    if enough:
        return slice_in_dim(ordered, 0, size)
    end = as_dtype(shaping.size_as_value(count), dtype)
    if enough is None:  # that depends on the symbolic sizes
        return slice_in_dim(pad(ordered, end, ((0, size, 0),)), 0, size)
    return pad(ordered, end, ((0, size - count, 0),))


def _counted_indices(mask: Any, size: int, dtype: Any) -> Array:
    """Find indices as `first_indices`, without sorting: index k is the number of prefixes with at most k nonzeros."""
    before = cumsum_p.bind(convert(convert(mask, np.dtype(bool)), dtype), axis=0, reverse=False)
    counts = structural.full_of(intern_aval((size,), dtype, False, None), 0)
    rows = ScatterDimensionNumbers((), (0,), (0,))
    ones = structural.full_of(aval_of(before), 1)
    found = scatter_add(counts, structural.expand_dims(before, (1,)), ones, rows)
    return cumsum_p.bind(found, axis=0, reverse=False)


def flatnonzero(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Find the indices of the nonzero elements of `a`, flattened; see `nonzero`.

    >>> snp.flatnonzero(snp.array([[0, 5], [7, 0]]))
    Array([1, 2], dtype=int32)
    """
    return indices_of("flatnonzero", ravel(a), size, fill_value)[0]


def argwhere(a: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Find the indices of the nonzero elements of `a`, a row for each; see `nonzero`.

    >>> snp.argwhere(snp.array([[0, 5], [7, 0]]))
    Array([[0, 1],
           [1, 0]], dtype=int32)
    """
    a, aval = with_aval("argwhere", a)
    columns = indices_of("argwhere", atleast_1d(a), size, fill_value)
    if not aval.ndim:
        return slice_in_dim(structural.expand_dims(columns[0], (1,)), 0, 0, 1, 1)
    return shaping.stack(columns, 1)
