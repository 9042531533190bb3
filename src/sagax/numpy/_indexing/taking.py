"""Take and put elements at indices: take, take_along_axis, put and relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError
from sagax._src.primitives.arithmetic import add, rem
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.gathering import GatherDimensionNumbers, GatherScatterMode, gather
from sagax._src.primitives.scattering import ScatterDimensionNumbers, scatter
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import concatenate, size_as_value
from sagax._src.primitives.slicing import slice as static_slice
from sagax._src.primitives.structural import broadcast_in_dim, convert, reshape, zeros_of
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    check_choice,
    one_axis,
    refuse_out,
    with_aval,
)
from sagax.numpy._base import as_array
from sagax.numpy._fused import fused_function
from sagax.numpy._indexing.get import getitem
from sagax.numpy._indexing.parse import ArrayIndexError, wrapped
from sagax.numpy._indexing.update import IndexUpdateRef, as_updates, check_shape

_INT32 = np.dtype(np.int32)


def _take_by_numpy(
    avals: list, axis: Any = None, out: Any = None, mode: Any = None, *_: Any, **__: Any
) -> Any:
    """Take from small arrays by NumPy, without compiling; IndexError for an index out of bounds."""
    indices = avals[1].dtype
    if mode in (None, "fill") and dtypes.kind(indices) == "i" and indices.itemsize >= 4:
        return lambda a, i: a.take(i, axis)
    return None


@fused_function(2, _take_by_numpy)
def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: None = None,
    mode: str | None = None,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    fill_value: Any = None,
) -> Array:
    """Take the elements of `a` at `indices` along `axis`; their dimensions replace that axis.

    Args:
      axis: an int, or None to take from `a` with all its elements in one row.
      mode: what an index out of bounds means. 'fill' (and None): `fill_value`, by default NaN for
        inexact dtypes, the least value of signed integers, the greatest of unsigned ones, and True.
        'clip': the closest index in bounds, negative ones becoming 0. 'wrap': the index modulo the
        size of the axis. In the mode 'fill', indices down to minus the size count from the end.
      unique_indices, indices_are_sorted: promises about the indices.

    Raises:
      IndexError: an element of an empty axis is requested.

    >>> snp.take(snp.array([5., 6., 7.]), snp.array([0, -1, 9]))
    Array([ 5.,  7., nan], dtype=float32)
    """
    refuse_out("take", out)
    if mode == "raise":
        raise _no_raise("take")
    if mode not in (None, "fill", "clip", "wrap"):
        raise ArgumentValueError.about("take", "mode", repr(mode), "'fill', 'clip' or 'wrap'")
    a, aval = with_aval("take", a, 0)
    indices = _integers("take", indices, 1)
    if axis is None:
        a, k = reshape(a, (aval.size,)), 0
        aval = aval_of(a)
    else:
        k = one_axis("take", axis, aval.ndim)
    size = aval.shape[k]
    if type(size) is int and size == 0 and 0 not in aval_of(indices).shape:
        raise ArrayIndexError(
            f"cannot take elements of an empty axis: axis {k} of shape {aval.shape} has size 0",
            function="take",
        )
    if mode == "wrap":
        indices = _modulo(indices, size)
    return getitem(
        a,
        (slice(None),) * k + (indices,),
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode={None: "fill", "wrap": "promise_in_bounds"}.get(mode, mode),
        fill_value=fill_value,
        wrap_negative_indices=mode in (None, "fill"),
    )


def _no_raise(function: str) -> UnsupportedArgumentError:
    return UnsupportedArgumentError(
        f"numpy.{function} has no mode 'raise': a compiled program cannot raise",
        fix="use mode='clip' or mode='wrap', and check the indices first where they are concrete",
    )


def _integers(function: str, x: Any, position: int) -> Any:
    """Convert `x` to an array of integers; booleans count as 0 and 1."""
    x, aval = with_aval(function, x, position)
    if dtypes.is_extended(aval.dtype) or not (
        dtype_predicates.is_integer(aval.dtype) or aval.dtype == np.bool_
    ):
        raise ArgumentValueError.about(
            function, "indices", x, "an array of integers", fix="convert them with .astype(int)"
        )
    if aval.dtype == np.bool_:
        return convert(x, _INT32)
    return x


def _modulo(indices: Any, size: Any) -> Any:
    """Wrap indices into an axis of that size, modulo the size."""
    if isinstance(indices, (int, np.integer, np.ndarray)) and not dims.is_dim(size):
        return np.asarray(indices, np.int64) % size
    dtype = aval_of(indices).dtype
    if dtype.itemsize < 4:
        dtype = _INT32
        indices = convert(indices, dtype)
    if dims.is_dim(size):
        size = convert(size_as_value(size), dtype)
    left = rem(indices, size)
    return select_n(lt(left, 0), left, add(left, size))


@fused_function(2)
def take_along_axis(
    arr: Any,
    indices: Any,
    axis: int | None = -1,
    mode: Any = None,
    fill_value: Any = None,
    *,
    wrap_negative_indices: bool = True,
) -> Array:
    """Take the elements of `arr` at `indices` along `axis`, matching up in all other dimensions.

    `arr` and `indices` have the same number of dimensions and broadcast against each other in all
    but `axis`. `mode` defines what an index out of bounds means: 'fill' (and None) puts
    `fill_value`, by default NaN (see `take`), 'clip' takes the closest index.

    Args:
      axis: an int, or None to take from `arr` with all its elements in one row.
      wrap_negative_indices: whether negative indices count from the end.

    >>> x = snp.array([[3, 1, 2], [6, 5, 4]])
    >>> snp.take_along_axis(x, snp.array([[1], [2]]), axis=1)
    Array([[1],
           [4]], dtype=int32)
    """
    function = "take_along_axis"
    arr, aval = with_aval(function, arr, 0)
    indices, index_aval = with_aval(function, indices, 1)
    _check_integers(function, index_aval, indices)
    if axis is None:
        if index_aval.ndim != 1:
            raise ArgumentValueError.about(
                function, "indices", indices, "an array with one dimension, since axis is None"
            )
        arr, k = reshape(arr, (aval.size,)), 0
        aval = aval_of(arr)
    else:
        _same_rank(function, aval, index_aval)
        k = one_axis(function, axis, aval.ndim)
    shape = _common_shape(function, aval.shape, index_aval.shape, k)
    if _is_empty(aval.shape[k : k + 1]) and not _is_empty(shape):
        raise ArrayIndexError(f"index is out of bounds for axis {k} with size 0", function=function)
    if _is_empty(shape):
        return broadcast_in_dim(zeros_of(intern_aval((), aval.dtype, aval.weak_type, None)), shape)
    numbers = _along(aval.shape, index_aval.shape, k)
    return gather(
        arr,
        _vectors(indices, aval.shape, k, numbers, wrap_negative_indices),
        numbers,
        [size if d in numbers.offset_dims else 1 for d, size in enumerate(aval.shape)],
        mode=GatherScatterMode.from_any(mode),
        fill_value=fill_value,
    )


def _common_shape(function: str, shape: tuple, index_shape: tuple, axis: int) -> tuple:
    """Compute the shape of the result: that of the indices along the axis, broadcast elsewhere."""
    sizes = [
        index_shape[d] if d == axis else dims.broadcast_dim(shape[d], index_shape[d])
        for d in range(len(shape))
    ]
    if None in sizes:
        d = sizes.index(None)
        raise ArgumentValueError(
            f"Incompatible shapes for broadcasting: sizes {shape[d]} and {index_shape[d]} of "
            f"dimension {d}",
            function=function,
            got=f"arr of shape {shape} and indices of shape {index_shape}",
            expected=f"equal sizes, or size 1, in all dimensions but axis {axis}",
        )
    return tuple(sizes)


def _along(shape: tuple, index_shape: tuple, axis: int) -> GatherDimensionNumbers:
    """Return dimension numbers for indices along an axis.

    Dimensions of equal size go along with one another. A dimension in which the indices have size 1
    is left out of the index vectors, and taken in full; one in which the array has size 1 is at 0.
    """
    others = [d for d in range(len(shape)) if d != axis]
    both = [d for d in others if dims.same(shape[d], index_shape[d])]
    array_only = [d for d in others if d not in both and dims.same(index_shape[d], 1)]
    index_only = [d for d in others if d not in both and d not in array_only]
    index_dims = [d for d in range(len(shape)) if d not in array_only]
    return GatherDimensionNumbers(
        offset_dims=array_only,
        collapsed_slice_dims=sorted([axis, *index_only]),
        start_index_map=(axis,),
        operand_batching_dims=both,
        start_indices_batching_dims=[index_dims.index(d) for d in both],
    )


def _vectors(indices: Any, shape: tuple, axis: int, numbers: Any, wrap: bool) -> Any:
    """Build index vectors for these dimension numbers from the indices along an axis."""
    if isinstance(indices, (int, np.generic)):
        indices = np.asarray(indices)
    if wrap:
        indices = wrapped(indices, shape[axis])
    sizes = [s for d, s in enumerate(indices.shape) if d not in numbers.offset_dims]
    return reshape(indices, (*sizes, 1))


def _is_empty(shape: tuple) -> bool:
    return any(type(s) is int and s == 0 for s in shape)


def _same_rank(function: str, a: Any, b: Any) -> None:
    if a.ndim != b.ndim:
        raise ArgumentValueError(
            f"arr has {a.ndim} dimensions, indices {b.ndim}; they must have equally many",
            function=function,
            got=f"arr of shape {a.shape} and indices of shape {b.shape}",
            fix="add dimensions to the indices, as in indices[..., None]",
        )


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = True) -> Array:
    """Copy `a` with the values `v` at the flat (row-major) indices `ind`.

    `v` is repeated as often as needed. Arrays are immutable: `inplace=False` has to be passed.

    Args:
      mode: what an index out of bounds means: 'clip' (and None) the closest one, 'wrap' the index
        modulo the size of `a`. Negative indices count from the end, except in the mode 'clip'.

    >>> snp.put(snp.zeros(4), snp.array([0, 2]), 7, inplace=False)
    Array([7., 0., 7., 0.], dtype=float32)
    """
    _refuse_inplace("put", inplace, "x.at[...].set(values)")
    if mode == "raise":
        raise _no_raise("put")
    check_choice("put", "mode", mode, (None, "clip", "wrap"), "'wrap' or 'clip'")
    a, aval = with_aval("put", a, 0)
    ind, ind_aval = with_aval("put", ind, 1)
    v, v_aval = with_aval("put", v, 2)
    if _is_empty(ind_aval.shape) or _is_empty(v_aval.shape):
        return a
    if _is_empty(aval.shape):
        raise ArrayIndexError("cannot put values into an empty array", function="put", got=aval)
    if mode == "wrap":
        ind = _modulo(ind, aval.size)
    values = _repeated(reshape(v, (v_aval.size,)), v_aval.size, ind_aval.size)
    ref = IndexUpdateRef(reshape(a, (aval.size,)), reshape(ind, (ind_aval.size,)))
    out = ref.set(
        values,
        mode="promise_in_bounds" if mode == "wrap" else "clip",
        wrap_negative_indices=mode != "clip",
    )
    return reshape(out, aval.shape)


def _refuse_inplace(function: str, inplace: bool, instead: str) -> None:
    if inplace:
        raise ArgumentValueError(
            f"numpy.{function} cannot change arrays in place, since they are immutable. Pass "
            "inplace=False to get a changed copy.",
            function=function,
            fix=f"{function}(..., inplace=False), or {instead}",
        )


def _repeated(v: Any, length: int, count: int) -> Any:
    """Return the first `count` elements of `v`, repeated cyclically."""
    if length == 1:
        return reshape(v, ())
    if length < count:
        v = concatenate([v] * -(-count // length), 0)
    return static_slice(v, (0,), (count,))


def _check_integers(function: str, aval: Any, indices: Any) -> None:
    if dtypes.is_extended(aval.dtype) or not dtype_predicates.is_integer(aval.dtype):
        raise DtypeError.about(function, "indices", indices, "an array of integers")


def put_along_axis(
    arr: Any, indices: Any, values: Any, axis: int | None, inplace: bool = True, *, mode: Any = None
) -> Array:
    """Copy `arr` with `values` at `indices` along `axis`, matching up in all other dimensions.

    `arr` and `indices` are as in `take_along_axis`; the values broadcast to the places. Updates at
    indices out of bounds are dropped (`mode` 'drop', the default) or go to the closest index
    ('clip'). Arrays are immutable: `inplace=False` has to be passed.

    >>> snp.put_along_axis(snp.zeros((2, 2)), snp.array([[1], [0]]), 5, axis=1, inplace=False)
    Array([[0., 5.],
           [5., 0.]], dtype=float32)
    """
    function = "put_along_axis"
    _refuse_inplace(function, inplace, "x.at[...].set(values)")
    arr, aval = with_aval(function, arr, 0)
    indices, index_aval = with_aval(function, indices, 1)
    values = as_updates("numpy.put_along_axis", values, aval)
    return _put_along_axis(arr, indices, as_array(function, values), axis, mode=mode)


@fused_function(3)
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None, *, mode: Any) -> Array:
    function = "put_along_axis"
    original, aval, index_aval = arr, aval_of(arr), aval_of(indices)
    _check_integers(function, index_aval, indices)
    full_shape = aval.shape
    if axis is None:
        arr, k = reshape(arr, (aval.size,)), 0
        aval = aval_of(arr)
    _same_rank(function, aval, index_aval)
    if axis is not None:
        k = one_axis(function, axis, aval.ndim)
    shape = _common_shape(function, aval.shape, index_aval.shape, k)
    check_shape(f"numpy.{function}", values, shape)
    if _is_empty(shape) or _is_empty(aval.shape):
        return as_array(function, original)
    numbers = _along(aval.shape, index_aval.shape, k)
    out = scatter(
        arr,
        _vectors(indices, aval.shape, k, numbers, True),
        broadcast_in_dim(values, shape, range(len(shape) - aval_of(values).ndim, len(shape))),
        ScatterDimensionNumbers(*numbers),
        mode=mode,
    )
    return reshape(out, full_shape)
