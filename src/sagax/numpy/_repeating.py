"""Repeat, insert and delete elements."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    ConcretizationTypeError,
    SagaxError,
)
from sagax._src.primitives import slicing, structural
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.shaping import broadcasted_iota
from sagax.numpy._arguments import axes_in_order, concrete_or_raise, one_axis, static_int, with_aval
from sagax.numpy._arithmetic import minimum
from sagax.numpy._conversion import asarray
from sagax.numpy._creation import zeros
from sagax.numpy._cumulative import cumsum
from sagax.numpy._fused import fused_function
from sagax.numpy._indexing import getitem
from sagax.numpy._joining import concatenate, stack
from sagax.numpy._selection import clip, where
from sagax.numpy._shaping import broadcast_to, moveaxis, ravel
from sagax.numpy._sorting import argsort, searchsorted


class OutOfBoundsError(SagaxError, IndexError, ValueError):
    """A position that the axis does not have."""


def _line(function: str, a: Any, axis: Any, *, checked: bool = True) -> tuple[Any, int]:
    """Return `a` and the axis to work along: flattened where that is None or `a` a scalar.

    Without `checked` a scalar takes any axis.
    """
    x, aval = with_aval(function, a)
    if axis is None or not aval.ndim:
        return ravel(x), one_axis(function, axis or 0, 1) if checked else 0
    return _base.as_array(function, x), one_axis(function, axis, aval.ndim)


# repeat -------------------------------------------------------------------------------------------


@fused_function(1)
def repeat(
    a: Any,
    repeats: Any,
    axis: int | None = None,
    *,
    total_repeat_length: int | None = None,
    out_sharding: Any = None,
) -> Array:
    """Repeat each element of `a` along `axis`; without one, flattened.

    `repeats` is a number, or one for each element, of any shape. The size of the result is their sum, so that they
    must be known while tracing, unless `total_repeat_length` says the size: then what is more is cut
    off, and the last element fills up what is less.

    >>> snp.repeat(snp.array([5, 6, 7]), snp.array([1, 0, 2]))
    Array([5, 7, 7], dtype=int32)
    """
    if out_sharding is not None:
        options = {"repeats": repeats, "axis": axis, "total_repeat_length": total_repeat_length}
        return with_out_sharding("repeat", functools.partial(repeat, **options), (a,), out_sharding)
    x, d = _line("repeat", a, axis, checked=False)
    size = x.aval.shape[d]
    if total_repeat_length is not None:
        total_repeat_length = static_int("repeat", "total_repeat_length", total_repeat_length)
    if dims.is_dim(repeats):
        return _repeat_all(x, repeats, d)
    times, aval = with_aval("repeat", repeats, 1)
    if dtypes.kind(aval.dtype) not in "iub":
        raise ArgumentError.about("repeat", "repeats", repeats, "integers")
    if aval.ndim > 1:
        times, aval = with_aval("repeat", ravel(times))
    if aval.ndim == 1 and not _fits(aval.shape[0], size):
        raise ArgumentValueError(
            function="repeat",
            argument="repeats",
            got=repeats,
            expected=f"a number, or a vector of {size}: one for each element along axis {d}",
        )
    traced = isinstance(times, Tracer) and times.concrete() is None
    if total_repeat_length is not None:
        each = broadcast_to(times, (size,))
        return _repeat_up_to(x, each, total_repeat_length, d)
    if traced:
        error = ConcretizationTypeError(
            times,
            "The error arose in jnp.repeat. The size of its result depends on the values of repeats.",
        )
        raise error.attach(fix="give total_repeat_length=..., the size that the result should have")
    times = np.asarray(concrete_or_raise("repeat", times, ""))
    if (times < 0).any():
        raise ArgumentValueError.about("repeat", "repeats", repeats, "numbers of at least 0")
    if times.size == 1:
        return _repeat_all(x, int(times.reshape(())), d)
    positions = np.repeat(np.arange(size, dtype=np.int32), times)
    return getitem(x, (slice(None),) * d + (positions,), wrap_negative_indices=False)


def _fits(count: Any, size: Any) -> bool:
    return dims.same(count, 1) or dims.same(count, size)


def _repeat_all(x: Any, times: Any, axis: int) -> Array:
    """Repeat each element `times` times."""
    shape = x.aval.shape
    wide = (*shape[: axis + 1], times, *shape[axis + 1 :])
    remaining = tuple([i for i in range(len(wide)) if i != axis + 1])
    x = structural.broadcast_in_dim(x, dims.canonical_shape(wide, "repeat"), remaining)
    return structural.reshape(x, (*shape[:axis], shape[axis] * times, *shape[axis + 1 :]))


def _repeat_up_to(x: Any, repeats: Any, total: int, axis: int) -> Array:
    size = x.aval.shape[axis]
    if dims.same(size, 0):
        if not dims.same(total, 0):
            raise ArgumentValueError(
                "there is no element to repeat", function="repeat", got=f"size 0 along axis {axis}"
            )
        return x
    # Sums of small integers would wrap, and the positions must have the dtype of the ends.
    dtype = dtypes.int64 if aval_of(repeats).dtype.itemsize == 8 else dtypes.int32
    ends = cumsum(structural.convert(repeats, dtype))  # element i fills the positions up to ends[i]
    positions = searchsorted(ends, broadcasted_iota(dtype, (total,), 0), side="right")
    positions = clip(positions, None, size - 1)
    return getitem(x, (slice(None),) * axis + (positions,), wrap_negative_indices=False)


# delete and insert --------------------------------------------------------------------------------


def delete(
    arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False
) -> Array:
    """Delete the elements at `obj` along `axis` of `arr`; without one, flattened.

    `obj` is an int, a slice, an array of ints or a boolean mask. How many elements are deleted must be
    known: an array of ints has to be concrete, unless `assume_unique_indices` promises that none
    occurs twice; an int may be traced.

    >>> snp.delete(snp.array([5, 6, 7]), snp.array([0, 2]))
    Array([6], dtype=int32)
    """
    x, d = _line("delete", arr, axis)
    size = x.aval.shape[d]
    if isinstance(obj, slice) and dims.is_dim(size):
        return _at(x, _outside_slice(obj, size), d)
    if isinstance(obj, slice):
        return _left(x, np.delete(np.arange(size, dtype=np.int32), obj), d)
    positions, aval = with_aval("delete", obj, 1)
    kind = dtypes.kind(aval.dtype)
    if kind not in "biu":
        raise ArgumentValueError.about(
            "delete", "obj", obj, "an int, a slice, an array of integers or a boolean mask"
        )
    traced = isinstance(positions, Tracer) and positions.concrete() is None
    if kind == "b":
        mask = concrete_or_raise(
            "delete", positions, "give the positions of the elements to delete"
        )
        if mask.shape != (size,):
            raise ArgumentValueError(
                function="delete",
                argument="obj",
                got=obj,
                expected=f"a mask of shape ({size},), one for each element along axis {d}",
            )
        return _left(x, np.flatnonzero(~mask).astype(np.int32), d)
    if not traced and dims.is_dim(size):
        found = concrete_or_raise("delete", positions, "")
        positions = _wrapped_indices(np.unique(np.asarray(found)).tolist(), size, d)
        assume_unique_indices = True
    elif not traced:
        positions = np.asarray(concrete_or_raise("delete", positions, ""))
        _check_bounds("delete", positions, size, d)
        return _left(x, np.delete(np.arange(size, dtype=np.int32), positions.ravel()), d)
    if traced and aval.ndim == 0:
        position = structural.convert(_from_front(positions, size), dtypes.int32)
        index = broadcasted_iota(dtypes.int32, (size - 1,), 0)
        return _at(x, where(index < position, index, index + 1), d)
    if not assume_unique_indices:
        error = ConcretizationTypeError(
            positions,
            "The error arose in jnp.delete. How many elements it leaves depends on the values of obj.",
        )
        raise error.attach(fix="give assume_unique_indices=True if no position occurs twice")
    if traced:
        positions = structural.convert(_from_front(ravel(positions), size), dtypes.int32)
    # the positions that are left, in order: those that are not deleted sort before those that are
    index = broadcasted_iota(dtypes.int32, (size, positions.shape[0]), 0)
    deleted = (index == positions[None]).any(1)
    order = argsort(deleted)[: size - positions.shape[0]]
    return _at(x, order, d)


def _left(x: Any, positions: np.ndarray, axis: int) -> Array:
    """Return what is left of `x`: few runs of ascending positions are slices, which are quicker than a gather."""
    ends = np.flatnonzero(np.diff(positions) != 1) + 1
    many = len(ends) >= tuning.JOINED_SLICES_MAX or x.aval.explicit_sharding is not None
    if many or not len(positions):
        return _at(x, positions, axis)
    runs = [(int(run[0]), int(run[-1]) + 1) for run in np.split(positions, ends)]
    parts = [slicing.slice_in_dim(x, *run, 1, axis) for run in runs]
    return concatenate(parts, axis) if len(parts) > 1 else parts[0]


def _inserted(x: Any, new: Any, positions: np.ndarray, axis: int) -> Array | None:
    """Insert slices of `new` before known positions; None where they are many."""
    size, count = x.aval.shape[axis], new.aval.shape[axis]
    positions = np.clip(np.where(positions < 0, positions + size, positions), 0, size)
    order = np.argsort(positions, kind="stable")
    positions = positions[order]
    if np.any(order[1:] < order[:-1]) or x.aval.explicit_sharding is not None:
        return None
    # the elements before each group of equal positions, then the group
    begins = np.flatnonzero(np.diff(positions, prepend=-1))
    if len(begins) > tuning.JOINED_SLICES_MAX:
        return None
    parts, before = [], 0
    for begin, end in itertools.pairwise([*begins, count] if count else []):
        at = int(positions[begin])
        parts.append(slicing.slice_in_dim(x, before, at, 1, axis))
        parts.append(slicing.slice_in_dim(new, int(begin), int(end), 1, axis))
        before = at
    parts.append(slicing.slice_in_dim(x, before, size, 1, axis))
    parts = [part for part in parts if aval_of(part).shape[axis]]
    return concatenate(parts, axis) if parts else x


def _at(x: Any, positions: Any, axis: int) -> Array:
    return getitem(x, (slice(None),) * axis + (positions,), wrap_negative_indices=False)


def _from_front(positions: Any, size: dims.Size) -> Any:
    """Count negative positions from the front. Integers of few bits are widened: sums with the size would wrap."""
    if aval_of(positions).dtype.itemsize < 4:
        positions = structural.convert(positions, dtypes.int32)
    return where(positions < 0, positions + size, positions)


def _outside_slice(obj: slice, size: dims.Size) -> Any:
    """Return the positions on an axis of symbolic size that a slice leaves out."""
    start, count, step = dims.canonical_slice(obj, size)
    if step < 0:
        start, step = start + (count - 1) * step, -step
    index = broadcasted_iota(dtypes.int32, (size - count,), 0)
    after = index - start  # how many are left between the first one deleted and this one
    deleted = count if step == 1 else minimum(count, after // (step - 1) + 1)
    return where(after < 0, index, index + deleted)


def _wrapped_indices(positions: Sequence[int], size: dims.Size, axis: int) -> Any:
    """Normalize distinct positions on an axis of symbolic size to nonnegative ones."""
    found: list = []
    for position in positions:
        if not -size <= position < size:
            raise _out_of_bounds("delete", position, axis, size)
        from_front = position if position >= 0 else position + size
        # noted where it depends on the size: how many are left does
        if not any(from_front == other for other in found):
            found.append(from_front)
    return stack([asarray(p, dtypes.int32) for p in found]) if found else zeros(0, dtypes.int32)


def _check_bounds(function: str, positions: np.ndarray, size: int, axis: int) -> None:
    wrong = positions[(positions < -size) | (positions >= size)]
    if wrong.size:
        raise _out_of_bounds(function, int(wrong.flat[0]), axis, size)


def _out_of_bounds(function: str, position: int, axis: int, size: dims.Size) -> OutOfBoundsError:
    return OutOfBoundsError(
        f"index {position} is out of bounds for axis {axis} with size {size}", function=function
    )


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """Insert `values` into `arr` along `axis` before the positions `obj`; without one, flattened.

    `obj` is an int, a slice or an array of ints, which count in `arr` as it is. `values` broadcasts to
    what is inserted and takes the dtype of `arr`.

    >>> snp.insert(snp.array([1, 2, 3]), snp.array([1, 3]), 9)
    Array([1, 9, 2, 3, 9], dtype=int32)
    """
    x, d = _line("insert", arr, axis)
    values, v_aval = with_aval("insert", values, 2)
    size = x.aval.shape[d]
    if isinstance(obj, slice):
        obj = np.arange(size, dtype=np.int32)[obj]
    positions, aval = with_aval("insert", obj, 1)
    if dtypes.kind(aval.dtype) not in "iub":
        raise ArgumentValueError.about("insert", "obj", obj, "an int, a slice or integers")
    if aval.ndim > 1:
        raise ArgumentValueError.about("insert", "obj", obj, "an int or a vector of ints")
    weak = x.aval.weak_type and aval_of(values).weak_type
    values = structural.convert_given(values, x.aval.dtype, weak)
    if v_aval.ndim < x.aval.ndim:
        values = structural.expand_dims(values, range(x.aval.ndim - v_aval.ndim))
    if not aval.ndim:  # one position: the first axis of values is the axis of insertion
        values = moveaxis(values, 0, d)
    count = aval.shape[0] if aval.ndim else values.aval.shape[d]
    new = broadcast_to(values, (*x.aval.shape[:d], count, *x.aval.shape[d + 1 :]))
    if not dims.is_dim(size) and not dims.is_dim(count):
        known = positions.concrete() if isinstance(positions, Tracer) else positions
        if known is not None:
            known = np.broadcast_to(np.asarray(known).astype(np.int64), (count,))
            found = _inserted(x, new, known, d)
            if found is not None:
                return found
    positions = _base.as_array("insert", positions)
    positions = clip(_from_front(positions, size), 0, size)
    positions = broadcast_to(structural.convert(positions, dtypes.int32), (count,))
    # Sort `x` followed by `new` by position, new elements before old ones.
    index = broadcasted_iota(dtypes.int32, (size,), 0)
    order = argsort(concatenate([2 * index + 1, 2 * positions]))
    return _at(concatenate([x, new], d), order, d)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """Trim the zeros at the front ('f') and the back ('b') of `filt`.

    A number is returned as it is. An array of several dimensions is cut to the smallest part that holds all its non-zero elements,
    along `axis` (None: all axes). Its contents must be known while tracing.

    >>> snp.trim_zeros(snp.array([0, 1, 0, 2, 0]))
    Array([1, 0, 2], dtype=int32)
    """
    x, aval = with_aval("trim_zeros", filt)
    sides = trim.lower() if isinstance(trim, str) else ""
    if not sides or set(sides) - set("fb"):
        raise ArgumentValueError.about("trim_zeros", "trim", repr(trim), "'f', 'b' or 'fb'")
    axes = tuple(range(aval.ndim)) if axis is None else axes_in_order("trim_zeros", axis, aval.ndim)
    if not aval.ndim:
        return _base.as_array("trim_zeros", x)
    values = concrete_or_raise(
        "trim_zeros", x, "leave the zeros in place, or trim before the traced function"
    )
    found = np.nonzero(values)
    index = []
    for d in range(aval.ndim):
        low, high = 0, aval.shape[d]
        if d in axes:
            if not len(found[d]):
                high = 0
            else:
                low = int(found[d].min()) if "f" in sides else 0
                high = int(found[d].max()) + 1 if "b" in sides else high
        index.append(slice(low, high))
    return getitem(_base.as_array("trim_zeros", x), tuple(index))
