"""Parse the index of `x[...]` into items.

Everything that can be decided while tracing is decided here: the ellipsis, masks, indices that
count from the end, errors. What comes after knows three kinds of items, and None for a new axis.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.shardings import Sharding
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ConcretizationTypeError,
    DtypeError,
    NonConcreteBooleanIndexError,
    SagaxError,
)
from sagax._src.primitives.arithmetic import add
from sagax._src.primitives.comparison import lt
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import size_as_value
from sagax._src.primitives.structural import convert
from sagax._src.runtime.array import ConcreteArray
from sagax.numpy._conversion import asarray
from sagax.numpy._indexing.windows import Slice

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)


class ArrayIndexError(SagaxError, IndexError):
    """An index that does not fit the array."""

    code = "SX0126"


class AxisSlice(NamedTuple):
    """`size` elements along an axis: from `start` on, `step` apart.

    They lie inside of the axis, unless `start` is a scalar array, which is known when the program
    runs.
    """

    axis: int
    start: Any
    size: Any
    step: Any

    @property
    def is_dynamic(self) -> bool:
        """Return whether the start is traced."""
        return type(self.start) is not int and not dims.is_dim(self.start)


class Point(NamedTuple):
    """One element along an axis; it is out of bounds if the user's index was."""

    axis: int
    at: Any


class IndexArray(NamedTuple):
    """The elements along an axis that an array of integers names.

    The array is a NumPy array where it is known. Axis None: no axis is taken, there is only a shape
    to broadcast with. `mask`: the array comes from a mask, so its elements differ.
    """

    axis: int | None
    at: Any
    mask: bool = False


class Index(NamedTuple):
    """A parsed index: slices, points, index arrays, and None for a new axis, in order.

    Each axis of the array is in one of them.

    `separated`: items that are broadcast together (points and index arrays) have something between them, so
    that the result has their dimensions first.
    """

    items: list[Any]
    separated: bool


# -- the full index -------------------------------------------------------------------------------


def parse(shape: tuple, index: Any, wrap: bool = True) -> Index:
    """Parse an index into an array of this shape.

    With `wrap` negative indices count from the end of their axis.
    """
    entries = _entries(index)
    taken, hole = 0, None
    for k, entry in enumerate(entries):
        if entry is Ellipsis:
            if hole is not None:
                raise ArrayIndexError(
                    "an index holds `...` at most once, since it stands for all other axes",
                    got=index,
                    fix="write : for each of the other axes",
                )
            hole = k
        elif entry is not None:
            taken += _axes_of(entry)
    rest = len(shape) - taken
    if rest < 0:
        raise ArrayIndexError(
            f"too many indices: {taken} for an array of shape {dims.shape_text(shape)}",
            got=index,
            expected=f"at most {len(shape)}",
        )
    items: list[Any] = []
    together: list[int] = []  # the entries that are broadcast together
    axis = 0
    for k, entry in enumerate(entries):
        if entry is None:
            items.append(None)
        elif entry is Ellipsis:
            items += [AxisSlice(a, 0, shape[a], 1) for a in range(axis, axis + rest)]
            axis += rest
        else:
            found = _items_of(entry, axis, shape, k, wrap)
            items += found
            if type(found[0]) is not AxisSlice:
                together.append(k)
            axis += _axes_of(entry)
    items += [AxisSlice(a, 0, shape[a], 1) for a in range(axis, len(shape))]
    separated = bool(together) and together[-1] - together[0] >= len(together)
    return Index(items, separated)


def _entries(index: Any) -> list:
    if isinstance(index, (str, bytes)):
        raise _no_text(index)
    if not isinstance(index, tuple):
        if isinstance(index, Sequence):
            raise ArgumentError(
                f"a {type(index).__name__} is no index: it could mean elements of the first axis, or "
                "an index for each axis",
                got=index,
                expected="an array (elements of the first axis), or a tuple (an index for each axis)",
                fix="for elements of the first axis: x[numpy.array(index)]; for an index for each "
                "axis: x[tuple(index)]",
            )
        index = (index,)
    return [_entry(e, k) for k, e in enumerate(index)]


def _no_text(index: Any) -> ArgumentError:
    return ArgumentError(
        f"text is no index; got {index!r}",
        expected="integers, slices, None, ... or arrays of integers or booleans",
        fix="arrays have no named fields; keep named arrays in a dict",
    )


def _entry(e: Any, position: int) -> Any:
    """Convert an entry of the index to one of few types.

    None, Ellipsis, slice, Slice, int, Dim, NumPy array of integers or booleans, Array of integers.
    """
    kind = type(e)
    if e is None or e is Ellipsis or kind is int or kind is slice or kind is Slice:
        return e
    if dims.is_dim(e):
        return e
    if isinstance(e, Array):
        return _array_entry(e)
    if isinstance(e, (bool, np.ndarray, np.generic)):
        x = np.asarray(e)
        if x.dtype.kind == "b":
            return x
        if x.dtype.kind not in "iu" and not (
            dtypes.is_numeric_dtype(x.dtype) and dtype_predicates.is_integer(x.dtype)
        ):
            raise _wrong_dtype(x.dtype.name if x.dtype.kind != "U" else "str")
        return x.astype(_INT64) if x.dtype.kind not in "iu" else int(x) if x.ndim == 0 else x
    if isinstance(e, (str, bytes)):
        raise _no_text(e)
    if isinstance(e, (list, tuple)):
        x = asarray(e)
        return np.zeros(x.shape, _INT32) if x.size == 0 else _entry(x, position)
    if isinstance(e, (float, complex)):
        raise _wrong_dtype(kind.__name__, e)
    if hasattr(e, "__jax_array__"):
        return _entry(e.__jax_array__(), position)
    try:
        return operator.index(e)
    except TypeError:
        raise ArrayIndexError(
            f"a value of type {kind.__name__} is no index",
            got=e,
            expected="an integer, a slice, None, ... or an array of integers or booleans",
        ) from None


def _wrong_dtype(dtype: str, value: Any = None) -> DtypeError:
    fix = "convert it with .astype(int), or round it first"
    if isinstance(value, float) and value.is_integer():
        fix = f"write {int(value)}; if it is a quotient, divide with // instead of /"
    return DtypeError(
        f"indices must be integers or booleans; got an index of type {dtype}", fix=fix
    )


def _array_entry(x: Array) -> Any:
    kind = dtypes.kind(x.dtype)
    if kind == "b":
        value = x.concrete() if isinstance(x, Tracer) else x
        if value is None:
            raise NonConcreteBooleanIndexError(x)
        return np.asarray(value)
    if kind not in "iu" or dtypes.is_extended(x.dtype):
        raise _wrong_dtype(dtypes.name(x.dtype))
    # As a divided array divides the result, it is left where it is.
    divided = isinstance(x, ConcreteArray) and isinstance(x._device, Sharding)
    if divided and not x._device.is_fully_replicated:  # type: ignore[union-attr]
        return x
    if type(x) is ConcreteArray and (
        x._host is not None or (x._where().platform == "cpu" and x.is_fully_addressable)
    ):
        host = x.host()
        if host.dtype.kind not in "iu":
            host = host.astype(_INT64)
        return host if host.ndim else int(host)
    return x


def _axes_of(entry: Any) -> int:
    """Count the axes of an entry other than None and Ellipsis."""
    return entry.ndim if isinstance(entry, np.ndarray) and entry.dtype == bool else 1


# -- one entry ------------------------------------------------------------------------------------


def _items_of(entry: Any, axis: int, shape: tuple, position: int, wrap: bool) -> list[Any]:
    if isinstance(entry, np.ndarray):
        if entry.dtype == bool:
            return _mask_items(entry, axis, shape, position)
        size = shape[axis]
        return [IndexArray(axis, wrapped(entry, size) if wrap else _narrow(entry, size))]
    size = shape[axis]
    kind = type(entry)
    if kind is slice:
        return [_axis_slice(axis, entry, size, position)]
    if kind is Slice:
        return [_window(axis, entry, size, position)]
    if isinstance(entry, Array):
        return [IndexArray(axis, wrapped(entry, size) if wrap else _wide(entry))]
    if kind is int:
        dtypes.check_python_int(entry, _INT64 if config.current().x64 else _INT32)
    if type(size) is int and size == 0:
        raise empty_axis(axis)
    return [Point(axis, entry + size if wrap and entry < 0 else entry)]


def empty_axis(axis: int) -> ArrayIndexError:
    """Build the error for an element of an axis that has none."""
    return ArrayIndexError(
        f"index is out of bounds for axis {axis} with size 0",
        expected="an axis with elements, or an empty array of indices",
    )


def _mask_items(mask: np.ndarray, axis: int, shape: tuple, position: int) -> list[Any]:
    if mask.ndim == 0:  # True or False: a new axis with one element, or with none
        return [IndexArray(None, np.zeros(int(mask), _INT32), True)]
    expected = shape[axis : axis + mask.ndim]
    # a mask of size 0 selects nothing of any axis, as in NumPy
    if not all(m == 0 or dims.same(m, size) for m, size in zip(mask.shape, expected)):
        raise ArrayIndexError(
            f"the mask at position {position} of the index has shape {dims.shape_text(mask.shape)}; "
            f"it selects from axes of shape {dims.shape_text(expected)}",
            expected="a mask with the sizes of the axes that it selects from",
        )
    found = np.nonzero(mask)
    return [IndexArray(axis + k, at.astype(_INT32), True) for k, at in enumerate(found)]


def _axis_slice(axis: int, s: slice, size: Any, position: int) -> AxisSlice:
    try:
        start, count, step = dims.canonical_slice(s, size)
    except TypeError as error:
        bounds = (s.start, s.stop, s.step)
        for bound in bounds:
            if isinstance(bound, Tracer) and bound.concrete() is None:
                raise _moving_slice(s, bound, position) from None
        if isinstance(error, SagaxError):
            raise
        bad = next((b for b in bounds if not _is_integer(b)), None)
        raise ArgumentError(
            f"the bounds of a slice must be integers or None, not of type {type(bad).__name__}",
            got=f"{_slice_text(s)} at position {position} of the index",
            fix=f"write {int(bad)}" if isinstance(bad, float) and bad.is_integer() else None,
        ) from None
    # one element, or none, is the same in either direction
    one = type(count) is int and count <= 1
    return AxisSlice(axis, start, count, 1 if one else step)


def _is_integer(bound: Any) -> bool:
    try:
        return bound is None or dims.is_dim(bound) or operator.index(bound) is not None
    except TypeError:
        return False


def _slice_text(s: slice) -> str:
    return f"slice({s.start!r}, {s.stop!r}, {s.step!r})"


def _moving_slice(s: slice, tracer: Tracer, position: int) -> ArrayIndexError:
    return ArrayIndexError(
        "the bounds of a slice must be static, since they decide the size of the result; got "
        f"{_slice_text(s)} at position {position} of the index, with a traced value in it",
        fix="for a static size from a traced start on: x[sagax.ds(start, size)], or "
        "lax.dynamic_slice (to write: lax.dynamic_update_slice); or compute with all of x and a "
        "mask, as in jnp.where(jnp.arange(n) < stop, x, 0); or mark the bound as static "
        "(static_argnames in jit)",
        tracer=tracer,
    )


def _window(axis: int, s: Slice, size: Any, position: int) -> AxisSlice:
    start = s.start
    count, stride = _integer("size", s.size), _integer("stride", s.stride)
    if stride < 1:
        raise ArgumentError.about("ds", "stride", stride, "at least 1")
    if not isinstance(start, (Array, np.ndarray)):
        start = _integer("start", start)
        return _axis_slice(axis, slice(start, start + count * stride, stride), size, position)
    if start.ndim or not dtype_predicates.is_integer(start.dtype):
        raise ArgumentError.about("ds", "start", start, "an integer scalar")
    if count < 0 or (stride == 1 and count > size):
        raise ArgumentError(
            f"a window of {count} elements does not fit into axis {axis} with size {size}",
            function="ds",
            argument="size",
        )
    return AxisSlice(axis, wrapped(start, size), count, stride)


def _integer(argument: str, value: Any) -> Any:
    """Convert an entry to an int or a symbolic size."""
    if dims.is_dim(value):
        return value
    if isinstance(value, Tracer) and value.concrete() is None:
        raise ConcretizationTypeError(value, f"The {argument} of a slice made by sagax.ds.")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError.about("ds", argument, value, "an integer") from None


# -- indices as numbers ---------------------------------------------------------------------------


def wrapped(at: Any, size: Any) -> Any:
    """Wrap negative indices into an axis of that size; the result has at least 32 bits."""
    if not isinstance(at, np.ndarray):
        at = _wide(at)
        if dtype_predicates.is_unsigned(at.dtype):
            return at
        end = convert(size_as_value(size), at.dtype) if dims.is_dim(size) else size
        return select_n(lt(at, 0), at, add(at, end))
    if at.dtype.kind == "i" and at.size and at.min() < 0:
        if dims.is_dim(size):
            at = _narrow(at, size)
            return select_n(at < 0, at, add(at, convert(size_as_value(size), at.dtype)))
        at = np.where(at < 0, at.astype(_INT64) + size, at)
    return _narrow(at, size)


def _narrow(at: np.ndarray, size: Any) -> np.ndarray:
    """Convert static indices to 32 bits; those that do not fit are out of bounds, and stay so."""
    if at.dtype == _INT32:
        return at
    low, high = np.iinfo(_INT32).min, np.iinfo(_INT32).max
    if type(size) is int and size > high:
        return at.astype(_INT64)
    if at.dtype.itemsize >= 4:
        at = np.minimum(at, high) if at.dtype.kind == "u" else np.clip(at, low, high)
    return at.astype(_INT32)


def _wide(at: Any) -> Any:
    """Convert traced indices to a type that holds the sizes of arrays."""
    dtype = aval_of(at).dtype
    return at if dtype.itemsize >= 4 and dtype.kind in "iu" else convert(at, _INT32)


def inside(at: Any, size: Any) -> bool:
    """Return whether a static index is known to be in bounds."""
    if type(at) is int and type(size) is int:
        return 0 <= at < size
    return dims.same(clamped(at, size), at)


def clamped(at: Any, size: Any) -> Any:
    """Clamp the static index into bounds."""
    return dims.clamp_dim(at, 0, size - 1)
