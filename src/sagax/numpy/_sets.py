"""Compute set operations on vectors: unique, union, intersection, difference, membership.

How many elements such a set has depends on the contents of the arguments, which must be concrete
therefore; with `size` the result has that many elements, and the functions can be traced.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config, tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError, ConcretizationTypeError
from sagax._src.primitives import shaping, structural
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax._src.primitives.sorting import sort_p
from sagax.numpy._arguments import check_choice, one_axis, static_int, with_aval
from sagax.numpy._base import promotes_freely
from sagax.numpy._cumulative import cumsum
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._indexing import getitem
from sagax.numpy._joining import concatenate
from sagax.numpy._logic import logical_not
from sagax.numpy._nonzero import first_indices
from sagax.numpy._selection import clip, where
from sagax.numpy._shaping import broadcast_to, moveaxis, ravel, reshape
from sagax.numpy._sorting import searchsorted

_thread = config.thread


def _host(function: str, *arrays: Any) -> list[np.ndarray]:
    """Return the contents of concrete arrays of one dtype."""
    for x in arrays:
        if isinstance(x, Tracer) and x.concrete() is None:
            error = ConcretizationTypeError(
                x,
                f"The error arose in jnp.{function}. The size of its result depends on the values of its argument.",
            )
            raise error.attach(fix="give size=..., the number of elements of the result")
    return [np.asarray(x.concrete() if isinstance(x, Tracer) else x) for x in arrays]


def _are_traced(*arrays: Any) -> bool:
    """Return whether a result may have a derivative: as on jax those that `assume_unique` have one, others zeros."""
    return any(isinstance(x, Tracer) for x in arrays)


def _size(function: str, size: Any) -> Any:
    size = static_int(function, "size", size)
    if not dims.is_dim(size) and size < 0:
        raise ArgumentValueError.about(function, "size", size, "at least 0")
    return size


def _integers(x: np.ndarray) -> Array:
    return _base.as_array("unique", x.astype(dtypes.default_int(_thread.settings.x64)))


def _strong_if_complex(x: Array) -> Array:
    """Make the elements of sets of complex numbers strongly typed."""
    return _base.strong(x) if dtypes.is_complex(x.dtype) else x


# unique -------------------------------------------------------------------------------------------


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    size: int | None = None,
    fill_value: Any = None,
    sorted: bool = True,
) -> Any:
    """Find the distinct elements of `ar`, ascending; with `axis` the distinct slices along it.

    Args:
      return_index: also return where each element occurs first.
      return_inverse: also return the position of each element of `ar` among the distinct ones.
      return_counts: also return how often each occurs.
      equal_nan: whether all NaN are one element.
      size: how many elements to return: the first ones, filled up with `fill_value`, by default the
        least element. Without it `ar` must be concrete.
      sorted: accepted for compatibility; the elements are always sorted.

    >>> snp.unique(snp.array([3, 1, 3]), return_counts=True)
    (Array([1, 3], dtype=int32), Array([1, 2], dtype=int32))
    """
    ar = _strong_if_complex(_base.as_array("unique", ar))
    aval = ar.aval
    flags = (bool(return_index), bool(return_inverse), bool(return_counts))
    if axis is not None:
        axis = one_axis("unique", axis, aval.ndim)
    if size is None:
        found = _unique_here(_host("unique", ar)[0], axis, equal_nan, aval.weak_type)
    else:
        found = _unique_sized("unique", ar, aval, axis, bool(equal_nan), size, fill_value, flags)
    values, *others = found
    chosen = [x for x, wanted in zip(others, flags) if wanted]
    return (values, *chosen) if chosen else values


def _unique_here(x: np.ndarray, axis: int | None, equal_nan: bool, weak: bool) -> tuple:
    """Compute values, first positions, inverse and counts, by NumPy."""
    dtype = x.dtype
    if dtypes.is_narrow_float(dtype) or dtype.type.__module__ == "ml_dtypes":
        # exact, and in the same order
        x = x.astype(np.float32 if dtypes.kind(dtype) == "f" else np.int32)
    values, index, inverse, counts = np.unique(
        x,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )
    inverse = inverse.reshape(x.shape if axis is None else (x.shape[axis],))
    array = _base.as_array("unique", values.astype(dtype))
    if weak:
        array = structural.convert(array, dtype, True)
    return array, _integers(index), _integers(inverse), _integers(counts)


def _unique_sized(
    function: str,
    ar: Any,
    aval: Any,
    axis: Any,
    equal_nan: bool,
    size: Any,
    fill_value: Any,
    flags: tuple = (False, False, False),
) -> tuple:
    """Compute `unique` for a result of known size; results that `flags` do not request are None."""
    size = _size(function, size)
    if dims.same(aval.size, 0):
        if fill_value is None and not dims.same(size, 0):
            raise ArgumentValueError(
                "for zero-sized input with nonzero size argument, fill_value must be specified",
                function=function,
                got=ar,
            )
        full_shape = aval.shape if axis is None else (aval.shape[axis],)
        shape = (size,) if axis is None else (*aval.shape[:axis], size, *aval.shape[axis + 1 :])
        fill = structural.convert(_base.as_array(function, fill_value or 0), aval.dtype)
        nothing = _integers(np.zeros(size, np.int32))
        return (
            broadcast_to(fill, shape),
            nothing,
            _integers(np.zeros(full_shape, np.int32)),
            nothing,
        )
    filled = fill_value is not None and not dims.same(size, 0)
    fill = [_base.as_operand(function, fill_value)] if filled else []
    return _unique_traced(ar, *fill, axis=axis, equal_nan=equal_nan, size=size, flags=flags)


@fused
def _unique_traced(
    ar: Any, *fill: Any, axis: int | None, equal_nan: bool, size: int, flags: tuple
) -> tuple:
    wants_index, wants_inverse, wants_counts = flags
    ar = _base.as_array("unique", ar)
    x = ravel(ar) if axis is None else moveaxis(ar, axis, 0)
    count, *rest = x.shape
    rows = reshape(x, (count, -1)) if rest else x
    order, new = _distinct(rows, equal_nan)
    integer = order.dtype
    # where each distinct element starts; `count` where there are no more
    starts = first_indices(new, size + 1 if wants_counts else size, integer)
    first = starts[:size] if wants_counts else starts
    valid = first < count
    within = getitem(order, (clip(first, 0, count - 1),), wrap_negative_indices=False)
    index = where(valid, within, order[0])
    values = getitem(x, (index,), wrap_negative_indices=False)
    if fill:  # without one the least element, the one at order[0], fills up
        other = structural.convert(_base.as_array("unique", fill[0]), x.dtype)
        values = where(reshape(valid, (size, *[1] * len(rest))), values, other)
    if axis is not None:
        values = moveaxis(values, 0, axis)
    inverse = counts = None
    if wants_inverse:
        rank = cumsum(structural.convert(new, integer)) - 1
        inverse = structural.full_of(rank.aval, 0).at[order].set(rank, unique_indices=True)
        inverse = reshape(inverse, ar.shape if axis is None else (count,))
    if wants_counts:
        counts = where(valid, starts[1:] - first, 0)
    return values, index if wants_index else None, inverse, counts


def _distinct(rows: Any, equal_nan: bool) -> tuple[Any, Any]:
    """Sort a vector, or the rows of a matrix: the order, and which differ from the one before."""
    count = rows.shape[0]
    integer = dtypes.default_int(_thread.settings.x64)
    positions = shaping.broadcasted_iota(integer, (count,), 0)
    columns = [rows]
    if rows.ndim > 1:
        columns = [reshape(c, (count,)) for c in shaping.split(rows, (1,) * rows.shape[1], 1)]
    keys = len(columns)
    *ordered, order = sort_p.bind(*columns, positions, dimension=0, is_stable=True, num_keys=keys)
    new = _differs(ordered[0], equal_nan)
    for column in ordered[1:]:
        new = new | _differs(column, equal_nan)
    return order, new


def _differs(x: Any, equal_nan: bool) -> Any:
    """Mask the elements of a sorted vector that differ from the one before; the first one does."""
    n = x.shape[0]
    left, right = slice_in_dim(x, 0, n - 1), slice_in_dim(x, 1, n)
    step = left != right
    if equal_nan and dtypes.is_inexact(x.dtype):
        # only NaN follows a NaN, unless it is one part of a complex number
        joined = (left != left) & (right != right) if dtypes.is_complex(x.dtype) else left != left
        step = step & logical_not(joined)
    return pad(step, np.True_, ((1, 0, 0),))


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


def unique_all(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> UniqueAllResult:
    """Find the distinct elements of `x`, their first indices, the inverse indices, and counts.

    NaN are all distinct. `size` and `fill_value` as in `unique`.

    >>> snp.unique_all(snp.array([3, 1, 3])).indices
    Array([1, 0], dtype=int32)
    """
    return UniqueAllResult(
        *unique(x, True, True, True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_counts(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueCountsResult:
    """Find the distinct elements of `x`, and count each. NaN are all distinct.

    >>> snp.unique_counts(snp.array([3, 1, 3])).counts
    Array([1, 2], dtype=int32)
    """
    return UniqueCountsResult(
        *unique(x, return_counts=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_inverse(
    x: Any, /, *, size: int | None = None, fill_value: Any = None
) -> UniqueInverseResult:
    """Find the distinct elements of `x`, and the inverse indices; NaN are all distinct.

    >>> snp.unique_inverse(snp.array([3, 1, 3])).inverse_indices
    Array([1, 0, 1], dtype=int32)
    """
    return UniqueInverseResult(
        *unique(x, return_inverse=True, equal_nan=False, size=size, fill_value=fill_value)
    )


def unique_values(x: Any, /, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Find the distinct elements of `x` in ascending order. NaN are all distinct.

    >>> snp.unique_values(snp.array([3, 1, 3]))
    Array([1, 3], dtype=int32)
    """
    return unique(x, equal_nan=False, size=size, fill_value=fill_value)


# sets ---------------------------------------------------------------------------------------------


def _promoted_vectors(function: str, ar1: Any, ar2: Any) -> tuple[tuple[Array, Array], bool]:
    """Promote both arguments to vectors of a common dtype; return also if that is weak."""
    a, b = with_aval(function, ar1, 0)[0], with_aval(function, ar2, 1)[0]
    weak = _base.common_dtype(function, (a, b))[1]
    a, b = (_base.as_array(function, x) for x in _base.promote_dtypes(function, a, b))
    a, b = _strong_if_complex(ravel(a)), _strong_if_complex(ravel(b))
    return (a, b), weak and not dtypes.is_complex(a.dtype)


def _from_host(function: str, found: np.ndarray, dtype: Any, weak: bool) -> Array:
    """Convert a result of NumPy to an array."""
    if not dtypes.is_complex(dtype):
        found = np.real(found)
    return structural.convert(_base.as_array(function, found.astype(dtype)), dtype, weak)


@fused_function(2)
@promotes_freely
def union1d(ar1: Any, ar2: Any, *, size: int | None = None, fill_value: Any = None) -> Array:
    """Find the distinct elements of both arguments, in ascending order.

    `size` and `fill_value` as in `unique`.

    >>> snp.union1d(snp.array([3, 1]), snp.array([1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    joined, weak = _promoted_vectors("union1d", ar1, ar2)
    joined = concatenate(joined)
    if size is None:
        return _unique_here(_host("union1d", joined)[0], None, True, weak)[0]
    return _unique_sized("union1d", joined, joined.aval, None, True, size, fill_value)[0]


def _compressed(values: Any, mask: Any, size: Any, fill: Any) -> tuple[Any, Any, Any]:
    """Select the first `size` of `values` where `mask` holds, padded; with positions and validity."""
    count = values.shape[0]
    positions = first_indices(mask, size, dtypes.default_int(_thread.settings.x64))
    valid = positions < count
    found = getitem(values, (clip(positions, 0, count - 1),), wrap_negative_indices=False)
    if fill is None and size:  # the least of them, NaN among NaN; 0 if there are none
        least = where(valid, found, found[:1]).min()
        fill = where(valid.any(), least, structural.full_of(least.aval, 0))
    return where(valid, found, fill) if size else found, positions, valid


def _argsort(x: Any) -> tuple[Any, Any]:
    """Sort a vector; return also the positions that sort it."""
    positions = shaping.broadcasted_iota(dtypes.default_int(_thread.settings.x64), x.shape, 0)
    ordered, order = sort_p.bind(x, positions, dimension=0, is_stable=True, num_keys=1)
    return ordered, order


def _fill_value_as(function: str, fill_value: Any, dtype: Any) -> Any:
    if fill_value is None:
        return None
    return structural.convert(_base.as_array(function, fill_value), dtype)


@fused_function(2)
@promotes_freely
def intersect1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    return_indices: bool = False,
    *,
    size: Any = None,
    fill_value: Any = None,
) -> Any:
    """Find the distinct elements that occur in both arguments, in ascending order.

    With `return_indices` also where each occurs first in either. With `size` the result has that many
    elements, filled up with `fill_value`, by default its least element (0 if it has none).

    >>> snp.intersect1d(snp.array([3, 1, 1]), snp.array([1, 2, 3]))
    Array([1, 3], dtype=int32)
    """
    (a, b), weak = _promoted_vectors("intersect1d", ar1, ar2)
    if size is None:
        x, y = _host("intersect1d", a, b)
        common, i, j = np.intersect1d(x, y, assume_unique=False, return_indices=True)
        if not (assume_unique and _are_traced(a, b)):
            values = _from_host("intersect1d", common, x.dtype, weak)
            return (values, _integers(i), _integers(j)) if return_indices else values
        size = common.size
    size = _size("intersect1d", size)
    n, m = a.shape[0], b.shape[0]
    if not n or not m:
        fill = _fill_value_as("intersect1d", 0 if fill_value is None else fill_value, a.dtype)
        values = broadcast_to(fill, (size,))
        positions = [_integers(np.full((size,), k, np.int32)) for k in (n, m)]
        return (values, *positions) if return_indices else values
    first, order = _argsort(a)
    second, other = _argsort(b)
    mask = _differs(first, True) & isin(first, b)
    values, positions, valid = _compressed(
        first, mask, size, _fill_value_as("intersect1d", fill_value, a.dtype)
    )
    if not return_indices:
        return values
    i = where(valid, order[clip(positions, 0, n - 1)], n)
    j = where(valid, other[clip(searchsorted(second, values), 0, m - 1)], m)
    return values, i, j


@fused_function(2)
@promotes_freely
def setdiff1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """Find the distinct elements of `ar1` that do not occur in `ar2`, in ascending order.

    With `assume_unique` they stay in the order of `ar1`. With `size` the result has that many
    elements, filled up with `fill_value`, by default 0.

    >>> snp.setdiff1d(snp.array([3, 1, 1, 5]), snp.array([1, 2]))
    Array([3, 5], dtype=int32)
    """
    aval = with_aval("setdiff1d", ar1, 0)[1]
    weak = aval.weak_type and not dtypes.is_complex(aval.dtype)
    (a, b), _ = _promoted_vectors("setdiff1d", ar1, ar2)
    if size is None:
        x, y = _host("setdiff1d", a, b)
        found = np.setdiff1d(x, y, assume_unique)
        if not (assume_unique and _are_traced(a, b)):
            return _from_host("setdiff1d", found, aval.dtype, weak)
        size = found.size
    found = _not_in(a, b, bool(assume_unique), _size("setdiff1d", size), fill_value)
    return structural.convert(found, aval.dtype, weak)


def _not_in(a: Array, b: Array, assume_unique: bool, size: Any, fill_value: Any) -> Array:
    """Compute `setdiff1d` of two vectors of one dtype, padded to a size."""
    fill = _fill_value_as("setdiff1d", 0 if fill_value is None else fill_value, a.dtype)
    if not a.shape[0]:
        return broadcast_to(fill, (size,))
    if assume_unique:
        return _compressed(a, isin(a, b, invert=True), size, fill)[0]
    ordered, _ = _argsort(a)
    mask = _differs(ordered, False) & isin(ordered, b, invert=True)
    return _compressed(ordered, mask, size, fill)[0]


@fused_function(2)
@promotes_freely
def setxor1d(
    ar1: Any,
    ar2: Any,
    assume_unique: bool = False,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Array:
    """Find the distinct elements that occur in just one of the arguments, in ascending order.

    With `size` the result has that many elements, filled up with `fill_value`, by default its least
    element (0 if it has none).

    >>> snp.setxor1d(snp.array([3, 1, 1]), snp.array([1, 2]))
    Array([2, 3], dtype=int32)
    """
    (a, b), weak = _promoted_vectors("setxor1d", ar1, ar2)
    if size is None:
        x, y = _host("setxor1d", a, b)
        found = np.setxor1d(x, y)
        if not (assume_unique and _are_traced(a, b)):
            return _from_host("setxor1d", found, x.dtype, weak)
        size = found.size
    size = _size("setxor1d", size)
    joined = concatenate([a, b])
    if not joined.shape[0]:
        fill = _fill_value_as("setxor1d", 0 if fill_value is None else fill_value, a.dtype)
        return broadcast_to(fill, (size,))
    ordered, _ = _argsort(joined)
    alone = (isin(ordered, a) != isin(ordered, b)) | (ordered != ordered)  # NaN equals none
    mask = _differs(ordered, False) & alone
    return _compressed(ordered, mask, size, _fill_value_as("setxor1d", fill_value, a.dtype))[0]


@promotes_freely
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    method: str = "auto",
) -> Array:
    """Return whether each of `element` occurs in `test_elements` (with `invert`: does not); boolean.

    NaN occurs nowhere. `method` is one of 'auto', 'compare_all', 'binary_search', 'sort'; all give the
    same result.

    >>> snp.isin(snp.array([1, 2, 3]), snp.array([2, 5]))
    Array([False,  True, False], dtype=bool)
    """
    methods = ("auto", "compare_all", "binary_search", "sort")
    check_choice("isin", "method", method, methods, f"one of {methods}")
    x, aval = with_aval("isin", element, 0)
    test, _ = with_aval("isin", test_elements, 1)
    x, test = (_base.as_array("isin", v) for v in _base.promote_dtypes("isin", x, test))
    test = ravel(test)
    if dims.same(test.shape[0], 0):
        found = structural.full_of(aval.update(dtype=np.dtype(bool), weak_type=False), False)
    else:
        amount = aval.size * test.shape[0]
        few = dims.is_dim(amount) or amount <= tuning.ISIN_MAX_COMPARISONS
        found = _compared(x, test) if method == "compare_all" or few else _searched(x, test)
    return logical_not(found) if invert else found


@fused
def _compared(x: Any, test: Any) -> Array:
    return (structural.expand_dims(x, (x.ndim,)) == test).any(-1)


@fused
def _searched(x: Any, test: Any) -> Array:
    (ordered,) = sort_p.bind(test, dimension=0, is_stable=False, num_keys=1)
    positions = clip(searchsorted(ordered, x), None, test.shape[0] - 1)
    return getitem(ordered, (positions,), wrap_negative_indices=False) == x
