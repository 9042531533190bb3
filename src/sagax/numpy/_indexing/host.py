"""Index arrays on the host with NumPy outside of tracing, bit for bit as XLA.

No program is compiled for it, and none is looked up: an index costs about what it costs in NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config, tuning
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.shardings import Sharding
from sagax._src.core.trace import evaluation, state
from sagax._src.diagnostics import events
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime.array import ConcreteArray
from sagax.numpy._indexing.parse import Index, IndexArray, Point, inside

if TYPE_CHECKING or lazy_imports():
    from sagax._src.runtime.key_reuse import watch


_thread = config.thread
_U32 = np.dtype(np.uint32)
_SIMPLE = frozenset((int, slice, type(None), type(Ellipsis)))

# NumPy's ufuncs that combine updates with old elements exactly as the engine does
_WRITES = {"set": None, "add": np.add, "subtract": np.subtract}


def is_concrete(x: Any) -> bool:
    """Return whether `x` is an array with contents, and nothing is traced."""
    return type(x) is ConcreteArray and state.trace is evaluation


def view_of(x: ConcreteArray, index: Any) -> Any:
    """Return `x[index]` as a NumPy view, for static basic indices in bounds; None otherwise."""
    kind = type(index)
    if kind is int:
        key: Any = (index, ...)  # an array of shape () in place of a scalar
    elif kind is slice:
        key = index
    elif kind is tuple and all([type(i) in _SIMPLE for i in index]):  # noqa: C419, the hot path
        if None in index and events.operation_evaluated.function is not None:
            return None  # checks that follow operations see the new axis
        key = index if Ellipsis in index else (*index, ...)
    else:
        return None
    host = x._host
    if host is None or x._device is not None:
        host = _host_of(x)
        if host is None:
            return None
    aval = x.aval
    dtype = aval.dtype
    watched = False
    if host.dtype is not dtype or dtype is _U32:
        watched = _thread.settings.debug_key_reuse and _may_hold_keys(dtype)
        if watched and kind is tuple:
            return None
        if dtypes.is_extended(dtype) and (kind is tuple or not aval.ndim):
            return None  # the indices must not reach the dimensions inside of each element
    try:
        view = host[key]
    except (IndexError, TypeError, ValueError):  # wrong indices are explained elsewhere
        return None
    if host.size > tuning.NUMPY_MAX_ELEMENTS or host.ndim != aval.ndim:
        found = _array_of_view(x, host, view)
        return watch.share_element(x, found, key) if watched else found
    if watched:
        found = intern_aval(view.shape, dtype, aval.weak_type, None)
        return watch.share_element(x, ConcreteArray(found, view, None, x._device), key)
    return ConcreteArray(
        intern_aval(view.shape, dtype, aval.weak_type, None), view, None, x._device
    )


def _may_hold_keys(dtype: Any) -> bool:
    """Decide if arrays of a dtype may hold keys, which only operations that track their use read."""
    return dtype is _U32 or dtypes.is_extended(dtype)


def _host_of(x: ConcreteArray) -> np.ndarray | None:
    """Return the contents of `x`, if they are in the memory of the host."""
    if isinstance(x._device, Sharding):
        return None
    if x._host is None and x.device.platform != "cpu":
        return None
    return x.host()


def _array_of_view(x: ConcreteArray, host: np.ndarray, view: np.ndarray) -> ConcreteArray:
    """Create an array from a view of the contents of `x`."""
    aval = x.aval
    if host.size > tuning.NUMPY_MAX_ELEMENTS and view.size < host.size // 2:
        view = view.copy()  # a small part must not keep a large array in memory
        view.flags.writeable = False
    inner = host.ndim - aval.ndim  # dimensions inside of each element, such as those of a key
    shape = view.shape[:-inner] if inner else view.shape
    aval = intern_aval(shape, aval.dtype, aval.weak_type, None)
    return ConcreteArray(aval, view, None, x._device)


def read_on_host(x: ConcreteArray, index: Index) -> Any:
    """Read by an index that is all concrete; None if it is not, or if that is no faster.

    It is none for index arrays into large arrays, which the engine gathers faster. Places out of
    bounds are moved into bounds.
    """
    if _thread.settings.debug_key_reuse and _may_hold_keys(x.aval.dtype):
        return None
    host = _host_of(x)
    if host is None:
        return None
    arrays = [item.at for item in index.items if type(item) is IndexArray]
    if arrays and (host.size > tuning.NUMPY_MAX_ELEMENTS or not _all_small(arrays)):
        return None
    key = _key(index, host.shape)
    if key is None:
        return None
    try:
        view = host[key]
    except IndexError:  # arrays that do not broadcast are explained elsewhere
        return None
    if arrays:
        if view.size > tuning.NUMPY_MAX_ELEMENTS:
            return None
        view = np.ascontiguousarray(view)
        view.flags.writeable = False
    return _array_of_view(x, host, view)


def update_on_host(method: str, x: ConcreteArray, index: Index, values: Any) -> Any:
    """Update `x` on the host, if all is known, in bounds and small; None otherwise.

    The values have the dtype of `x` and broadcast to the part.
    """
    if (
        method not in _WRITES
        or dtypes.is_extended(x.aval.dtype)
        or x.aval.size > tuning.NUMPY_MAX_ELEMENTS
    ):
        return None
    host = _host_of(x)
    if host is None:
        return None
    if type(values) is ConcreteArray:
        if values._host is None or values._device is not x._device:
            return None
        values = values._host
    elif not isinstance(values, (np.ndarray, np.generic)) or values.dtype != host.dtype:
        return None
    if values.size > tuning.NUMPY_MAX_ELEMENTS or not all_inside(index.items, host.shape):
        return None
    key = _key(index, host.shape)
    if key is None:
        return None
    combine = _WRITES[method]
    if combine is not None and host.dtype == np.bool_:
        return None  # is refused
    out = host.copy()
    if combine is None:
        out[key] = values
    elif any(type(item) is IndexArray for item in index.items):
        with np.errstate(all="ignore"):
            combine.at(out, key, values)
    else:
        with np.errstate(all="ignore"):
            combine(out[key], values, out=out[key])
    out.flags.writeable = False
    return ConcreteArray(x.aval, out, None, x._device)


def _all_small(arrays: list) -> bool:
    return all(isinstance(at, np.ndarray) and at.size <= tuning.NUMPY_MAX_ELEMENTS for at in arrays)


def _key(index: Index, shape: tuple) -> tuple | None:
    """Convert the index for NumPy, with all positions in bounds; None if an item is traced."""
    key: list = []
    for item in index.items:
        kind = type(item)
        if item is None:
            key.append(None)
        elif kind is Point:
            key.append(item.at)
        elif kind is IndexArray:
            if item.axis is None or not isinstance(item.at, np.ndarray):
                return None
            last = max(shape[item.axis] - 1, 0)
            key.append(np.minimum(np.maximum(item.at, 0), last))
        elif item.is_dynamic:
            return None
        else:
            stop = item.start + item.size * item.step
            key.append(slice(item.start, stop if stop >= 0 else None, item.step))
    if index.separated and _looks_adjacent(index):
        return None
    return (*key, ...)


def _looks_adjacent(index: Index) -> bool:
    """Return whether an ellipsis of no axes keeps the index arrays apart, which the items do not show."""
    together = [k for k, item in enumerate(index.items) if type(item) in (Point, IndexArray)]
    return together[-1] - together[0] < len(together)


def all_inside(items: list, shape: tuple) -> bool:
    """Return whether all elements are known to be in bounds."""
    for item in items:
        if type(item) is Point and not inside(item.at, shape[item.axis]):
            return False
        if type(item) is IndexArray and item.axis is not None:
            at = item.at
            if not isinstance(at, np.ndarray) or (
                at.size and (at.min() < 0 or at.max() >= shape[item.axis])
            ):
                return False
    return True
