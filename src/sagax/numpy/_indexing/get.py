"""Read by index: `x[index]` and `x.at[index].get(...)`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.gathering import GatherScatterMode, gather
from sagax._src.primitives.shaping import rev
from sagax._src.primitives.slicing import dynamic_slice, dynamic_slice_p
from sagax._src.primitives.slicing import slice as static_slice
from sagax._src.primitives.structural import expand_dims, reshape, squeeze
from sagax._src.runtime.array import ConcreteArray
from sagax.numpy._indexing.host import all_inside, is_concrete, read_on_host, view_of
from sagax.numpy._indexing.lazy import lazily, lazy_read
from sagax.numpy._indexing.parse import (
    ArrayIndexError,
    AxisSlice,
    Index,
    IndexArray,
    Point,
    clamped,
    empty_axis,
    inside,
    parse,
)
from sagax.numpy._indexing.plan import plan_of, traced

_thread = config.thread


def array_getitem(x: Any, index: Any) -> Any:
    """Index `x[index]`: the operator of arrays."""
    if type(x) is ConcreteArray and state.trace is evaluation:
        found = view_of(x, index)
        if found is not None:
            return found
    return getitem(x, index)


def getitem(
    x: Any,
    index: Any,
    *,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
    fill_value: Any = None,
    wrap_negative_indices: bool = True,
    strategy: str = "auto",
) -> Any:
    """Index the array `x` by NumPy's rules.

    An index out of bounds means the closest one in bounds, or with `mode` 'fill' the number
    `fill_value`; slices are cut to the array, as in Python.

    Raises:
      IndexError: too many indices, a mask of another shape, an element of an empty axis, a slice
        whose bounds are traced.
      TypeError: an index that is no integer, boolean, slice, None, `...` or array of such.
      ValueError: index arrays that do not broadcast, an unknown mode.
    """
    if lazily():
        view = lazy_read(x, index, getitem)
        if view is not None:
            return view
    shape = aval_of(x).shape
    read = parse(shape, index, wrap_negative_indices)
    index_mode = None if mode is None else GatherScatterMode.from_any(mode)
    fills = index_mode is GatherScatterMode.FILL_OR_DROP
    if index_mode is None and _thread.settings.check_bounds and is_concrete(x):
        check_bounds(read.items, shape, wrap_negative_indices)
    needs_gather = is_dynamic = False  # several positions, or one known at run time
    items: list = []
    for item in read.items:
        kind = type(item)
        if kind is Point:
            if not inside(item.at, shape[item.axis]):
                if index_mode is None and _thread.settings.check_static_indices:
                    raise _out_of_bounds(
                        item.at, item.axis, shape, wrap_negative_indices, "check_static_indices"
                    )
                needs_gather = needs_gather or fills
                if strategy == "auto" and not fills and _missing(item.at, shape[item.axis]):
                    # the window is moved into bounds when it is read, and `checkify` sees where it was
                    item, is_dynamic = (
                        Point(item.axis, max(-(2**31), min(item.at, 2**31 - 1))),
                        True,
                    )
                elif not fills:
                    if events.index_clamped.function is not None:
                        events.index_clamped.function(item.at, shape[item.axis])
                    item = Point(item.axis, clamped(item.at, shape[item.axis]))
        elif kind is IndexArray:
            _check_not_empty(item, shape)
            is_dynamic = True
            needs_gather = needs_gather or item.axis is None or item.at.ndim > 0
        elif kind is AxisSlice and item.is_dynamic:
            is_dynamic = True
            needs_gather = needs_gather or item.step != 1
        items.append(item)
    if strategy != "auto":
        needs_gather = _strategy(strategy, needs_gather or (is_dynamic and fills), is_dynamic)
        is_dynamic = is_dynamic or strategy == "dynamic_slice"
    elif is_concrete(x) and (not (fills and needs_gather) or all_inside(items, shape)):
        if events.static_indices_read.function is not None:
            events.static_indices_read.function(x, items)
        # checks that follow operations see new axes
        shown = None in items and events.operation_evaluated.function is not None
        found = None if shown else read_on_host(x, Index(items, read.separated))
        if found is not None:
            return found
    if needs_gather or (is_dynamic and fills):
        return _gathered(
            x,
            Index(items, read.separated),
            index_mode,
            fill_value,
            indices_are_sorted,
            unique_indices,
        )
    return _dynamic(x, items) if is_dynamic else _static(x, items)


def _missing(at: Any, size: Any) -> bool:
    """Return whether an index that is not in bounds is known to be out of bounds, under tracing."""
    return type(at) is int and type(size) is int and state.trace is not evaluation


def _strategy(strategy: Any, needs_gather: bool, is_dynamic: bool) -> bool:
    """Return whether to gather, for an index that needs it (`needs_gather`) or has traced parts."""
    if strategy not in ("gather", "static_slice", "dynamic_slice"):
        raise ArgumentValueError(
            function="ndarray.at[...].get",
            argument="strategy",
            got=repr(strategy),
            expected="'auto', 'gather', 'static_slice' or 'dynamic_slice'",
        )
    if strategy != "gather" and (needs_gather or (is_dynamic and strategy == "static_slice")):
        kinds = "static" if strategy == "static_slice" else "scalar"
        raise ArgumentError(
            f"the strategy '{strategy}' takes an index of {kinds} integers and slices only",
            function="ndarray.at[...].get",
            argument="strategy",
            fix="leave it to strategy='auto'",
        )
    return strategy == "gather"


def _check_not_empty(item: IndexArray, shape: tuple) -> None:
    """Raise if an element of an axis is asked for that has none."""
    if item.axis is not None:
        size = shape[item.axis]
        if type(size) is int and size == 0 and 0 not in item.at.shape:
            raise empty_axis(item.axis)


def check_bounds(items: list, shape: tuple, wrapped: bool) -> None:
    """Raise if an index that is known is out of bounds."""
    for item in items:
        if type(item) is Point and not inside(item.at, shape[item.axis]):
            raise _out_of_bounds(item.at, item.axis, shape, wrapped, "check_bounds")
        if type(item) is IndexArray and item.axis is not None and isinstance(item.at, np.ndarray):
            outside = (item.at < 0) | (item.at >= shape[item.axis])
            if outside.any():
                first = int(item.at[outside].flat[0])
                raise _out_of_bounds(first, item.axis, shape, wrapped, "check_bounds")


def _out_of_bounds(
    at: int, axis: int, shape: tuple, wrapped: bool, setting: str
) -> ArrayIndexError:
    size = shape[axis]
    least = -size if wrapped else 0
    index = at if at >= 0 or not wrapped else at - size
    return ArrayIndexError(
        f"index {index} is out of bounds for axis {axis} of size {size}",
        expected=f"an index from {least} to {size - 1}, since {setting} is on",
        fix="to allow it, say what it means: x.at[index].get(mode='clip') or mode='fill'",
    )


def _static(x: Any, items: list) -> Any:
    """Read by static items: slice, reverse, drop dimensions, add new ones."""
    shape = aval_of(x).shape
    starts, limits, strides = [0] * len(shape), list(shape), [1] * len(shape)
    reversed_dims, dropped, new = [], [], []
    rank = 0
    for item in items:
        if item is None:
            new.append(rank)
            rank += 1
        elif type(item) is Point:
            starts[item.axis], limits[item.axis] = item.at, item.at + 1
            dropped.append(item.axis)
        else:
            axis, start, size, step = item
            rank += 1
            if step < 0:
                start, step = start + (size - 1) * step, -step
                reversed_dims.append(axis)
            starts[axis], strides[axis] = start, step
            # a symbolic size may turn out to be 0
            limits[axis] = dims.max_dim(start + (size - 1) * step + 1, start)
    if any(step != 1 for step in strides):
        x = static_slice(x, starts, limits, strides)
    elif is_concrete(x):
        # One executable for all positions: `x[i]` in a loop compiles once.
        sizes = tuple([stop - start for start, stop in zip(starts, limits)])
        x = x if sizes == shape else dynamic_slice(x, starts, sizes)
    else:
        x = static_slice(x, starts, limits)
    if reversed_dims:
        x = rev(x, reversed_dims)
    if dropped:
        x = squeeze(x, dropped)
    return expand_dims(x, new) if new else x


def _dynamic(x: Any, items: list) -> Any:
    """Slice one window whose position is traced, then apply the static parts of the index."""
    shape = aval_of(x).shape
    starts: list[Any] = [0] * len(shape)
    sizes = list(shape)
    static: list = []
    for item in items:
        if item is None:
            static.append(None)
        elif type(item) is not AxisSlice:
            starts[item.axis], sizes[item.axis] = item.at, 1
            static.append(Point(item.axis, 0))
        else:
            axis, start, size, step = item
            inner = 0  # where the part starts in the window
            if step < 0:
                inner = (size - 1) * -step
                start = start - inner
            starts[axis], sizes[axis] = start, dims.dilate_dim(size, abs(step))
            static.append(AxisSlice(axis, inner, size, step))
    found = {s.dtype for s in starts if hasattr(s, "dtype")}
    dtype = found.pop() if found else np.dtype(np.int32)
    if found:
        dtype = np.dtype(np.int64 if any(d.itemsize > 4 for d in (dtype, *found)) else np.int32)
    starts = [traced(start, dtype) for start in starts]
    return _static(dynamic_slice_p.bind(x, *starts, slice_sizes=tuple(sizes)), static)


def _gathered(
    x: Any, index: Index, mode: Any, fill_value: Any, is_sorted: bool, is_unique: bool
) -> Any:
    shape = aval_of(x).shape
    plan = plan_of(shape, index)
    if any(type(s) is int and s == 0 and w == 1 for s, w in zip(shape, plan.window)):
        return reshape(x, plan.out_shape)  # empty, and so is x
    out = gather(
        x,
        plan.indices(index.items),
        plan.numbers,
        plan.window,
        indices_are_sorted=is_sorted or plan.is_sorted,
        unique_indices=is_unique or plan.is_unique,
        mode=mode,
        fill_value=fill_value,
    )
    if plan.reversed_dims:
        out = rev(out, plan.reversed_dims)
    return expand_dims(out, plan.new_axes) if plan.new_axes else out
