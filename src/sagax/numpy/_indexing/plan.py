"""Plan one gather or scatter for a parsed index.

The window of the gather (or scatter) runs over what a slice takes with step 1 or -1; every other
item contributes one number to the index vectors. Both share the plan: a scatter writes where the
gather of the same plan reads.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from sagax._src.core import dims, dtype_predicates
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.primitives.arithmetic import add, min, mul
from sagax._src.primitives.gathering import GatherDimensionNumbers
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.scattering import ScatterDimensionNumbers
from sagax._src.primitives.shaping import concatenate, full, iota, size_as_value
from sagax._src.primitives.structural import broadcast_in_dim, convert
from sagax._src.runtime.array import from_host
from sagax.numpy._indexing.parse import AxisSlice, Index, IndexArray, Point

_INT32 = np.dtype(np.int32)
_INT64 = np.dtype(np.int64)


class Entry(NamedTuple):
    """One number of each index vector: which item gives it, and where the item's dimensions are.

    The positions are those in the shape of the batch of vectors.
    """

    item: int
    positions: tuple[int, ...]


@record(slots=True)
class Plan:
    """Plan one gather or scatter of `x[index]`: all but the indices themselves.

    `out_shape` is the shape of `x[index]`. The gather gives `core_shape`: without the `new_axes`,
    and with the dimensions `reversed_dims` in the other direction.
    """

    out_shape: tuple
    core_shape: tuple
    new_axes: tuple[int, ...]
    reversed_dims: tuple[int, ...]
    numbers: GatherDimensionNumbers
    scatter_numbers: ScatterDimensionNumbers
    window: tuple
    batch_shape: tuple
    entries: tuple[Entry, ...]
    is_sorted: bool
    is_unique: bool
    is_empty: bool  # there are no elements to read or write

    def indices(self, items: list) -> Any:
        """Compute the index vectors: an array of shape (*batch_shape, entries)."""
        values = [_value(items[entry.item]) for entry in self.entries]
        wide = any(getattr(v, "dtype", _INT32).itemsize > 4 for v in values)
        dtype = _INT64 if wide else _INT32
        # While tracing, index vectors that a few numbers define are computed, not constants.
        arrays = any(isinstance(v, np.ndarray) for v in values)
        if (arrays or state.trace is evaluation) and self._is_static(values):
            return from_host(self._known(values, dtype))
        rank = len(self.batch_shape)
        cell = (*self.batch_shape, 1)
        columns = [
            broadcast_in_dim(traced(value, dtype), cell, entry.positions)
            for value, entry in zip(values, self.entries)
        ]
        return concatenate(columns, rank) if columns else full((*self.batch_shape, 0), 0, dtype)

    def _is_static(self, values: list) -> bool:
        return dims.is_static(self.batch_shape) and all(
            isinstance(v, (int, np.ndarray)) or (type(v) is _Line and type(v.start) is int)
            for v in values
        )

    def _known(self, values: list, dtype: Any) -> np.ndarray:
        found = np.empty((*self.batch_shape, len(values)), dtype)
        for k, value in enumerate(values):
            if type(value) is _Line:
                value = value.start + value.step * np.arange(value.size)
            if isinstance(value, np.ndarray):
                shape = [1] * len(self.batch_shape)
                for size, position in zip(value.shape, self.entries[k].positions):
                    shape[position] = size
                value = value.reshape(shape)
            found[..., k] = value
        found.flags.writeable = False
        return found


class _Line(NamedTuple):
    """The indices that a slice takes, one by one."""

    start: Any
    size: Any
    step: int


def _value(item: Any) -> Any:
    """Return the contribution of an item to the index vectors."""
    if type(item) is not AxisSlice:
        return item.at
    _, start, size, step = item
    if step == 1:
        return start
    return start - (size - 1) if step == -1 else _Line(start, size, step)


def traced(value: Any, dtype: Any) -> Any:
    """Return the contribution of an item, as an operand of that dtype."""
    if isinstance(value, int):
        return scalar_like(value, dtype)
    if type(value) is _Line:
        line = mul(iota(dtype, value.size), scalar_like(value.step, dtype))
        start = value.start
        return line if type(start) is int and start == 0 else add(line, traced(start, dtype))
    if dims.is_dim(value):
        value = size_as_value(value)
    have = aval_of(value).dtype
    if have == dtype:
        return value
    if dtype_predicates.is_unsigned(have) and have.itemsize >= dtype.itemsize:
        value = min(value, scalar_like(np.iinfo(dtype).max, have))  # out of bounds, and stays so
    return convert(value, dtype)


def plan_of(shape: tuple, index: Index) -> Plan:
    """Plan the gather of an index into an array of this shape."""
    item_types: list = []
    for item in index.items:
        kind = type(item)
        if kind is Point:
            item_types.append(_POINTS[item.axis] if item.axis < 32 else Point(item.axis, None))
        elif kind is IndexArray:
            item_types.append(IndexArray(item.axis, item.at.shape, item.mask))
        elif kind is AxisSlice and item.is_dynamic:
            item_types.append(AxisSlice(item.axis, None, item.size, item.step))
        else:
            item_types.append(item)
    return _plan(shape, tuple(item_types), index.separated)


_POINTS = [Point(axis, None) for axis in range(32)]


@functools.lru_cache(maxsize=4096)
def _plan(shape: tuple, items: tuple, separated: bool) -> Plan:
    """Plan for items without values: points at None, shapes in place of index arrays."""
    common = _broadcast([item.at for item in items if type(item) is IndexArray])
    together = [k for k, item in enumerate(items) if type(item) in (Point, IndexArray)]
    # the item whose position the broadcast dimensions take in the result
    first = together[0] if together and not separated else 0
    out_shape: list[Any] = []
    new_axes: list[int] = []
    offset_dims: list[int] = []
    reversed_dims: list[int] = []
    batch_shape: list[Any] = []
    # for each axis of the array
    window: list[Any] = [1] * len(shape)
    entries: list[Any] = [None] * len(shape)
    collapsed: list[int] = []
    last = 0  # where the broadcast dimensions end in the shape of the batch
    for k, item in enumerate(items):
        if k == first:
            batch_shape += common
            out_shape += common
            last = len(batch_shape)
        if item is None:
            new_axes.append(len(out_shape))
            out_shape.append(1)
        elif type(item) is not AxisSlice:
            if item.axis is not None:
                collapsed.append(item.axis)
                entries[item.axis] = item
        else:
            axis, start, size, step = item
            if abs(step) == 1:
                dim = len(out_shape) - len(new_axes)
                offset_dims.append(dim)
                window[axis] = size
                if step == -1:
                    reversed_dims.append(dim)
                if start is None or not dims.same(size, shape[axis]):
                    entries[axis] = Entry(k, ())
            else:
                collapsed.append(axis)
                entries[axis] = Entry(k, (len(batch_shape),))
                batch_shape.append(size)
            out_shape.append(size)
    for k in together:
        axis = items[k].axis
        if axis is not None:
            rank = len(items[k].at or ())
            entries[axis] = Entry(k, tuple(range(last - rank, last)))
    lines = [item.step for item in items if type(item) is AxisSlice and abs(item.step) != 1]
    alone = all(dims.same(s, 1) for s in common)
    masks = [item.at for item in items if type(item) is IndexArray and item.mask]
    numbers = GatherDimensionNumbers(
        offset_dims,
        sorted(collapsed),
        [axis for axis, entry in enumerate(entries) if entry is not None],
    )
    return Plan(
        out_shape=tuple(out_shape),
        core_shape=tuple([s for i, s in enumerate(out_shape) if i not in new_axes]),
        new_axes=tuple(new_axes),
        reversed_dims=tuple(reversed_dims),
        numbers=numbers,
        scatter_numbers=ScatterDimensionNumbers(*numbers),
        window=tuple(window),
        batch_shape=tuple(batch_shape),
        entries=tuple([entry for entry in entries if entry is not None]),
        is_sorted=alone and all(step > 0 for step in lines),
        is_unique=alone or common in masks,
        is_empty=any(type(s) is int and s == 0 for s in (*out_shape, *shape)),
    )


def _broadcast(shapes: list) -> tuple:
    """Compute the shape that the arrays of the index broadcast to."""
    out: list[Any] = []
    for k in range(-max(map(len, shapes), default=0), 0):
        size: Any = 1
        for shape in shapes:
            if len(shape) >= -k and size is not None:
                size = dims.broadcast_dim(size, shape[k])
        if size is None:
            raise ArgumentValueError(
                f"Incompatible shapes for broadcasting: shapes={shapes}",
                function="x[index]",
                got="arrays of the shapes " + " and ".join(map(str, shapes)),
                expected="index arrays that broadcast to one shape",
                fix="to take all combinations: x[numpy.ix_(i, j)]",
            )
        out.append(size)
    return tuple(out)
