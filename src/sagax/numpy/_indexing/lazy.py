"""Index with traced masks under the option `masks='lazy'`: views instead of selected elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.shaping import broadcasted_iota
from sagax._src.primitives.structural import broadcast_in_dim, reshape

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import lazy_masks


_thread = config.thread


def lazily() -> bool:
    """Return whether traced masks select lazy views."""
    return _thread.settings.masks == "lazy"


def is_traced_mask(x: Any) -> bool:
    """Return whether `x` is an array of booleans that are not known while tracing."""
    return isinstance(x, Tracer) and dtypes.kind(x.dtype) == "b" and x.concrete() is None


def _split(index: Any) -> tuple[int, Any, tuple] | None:
    """Split an index that is one mask after full slices: the axis, the mask and the rest."""
    entries = index if isinstance(index, tuple) else (index,)
    for k, entry in enumerate(entries):
        if isinstance(entry, Array) and is_traced_mask(entry):
            return k, entry, entries[k + 1 :]
        if not (type(entry) is slice and entry == slice(None)):
            return None
    return None


def lazy_read(x: Any, index: Any, read: Callable[[Any, Any], Any]) -> Any:
    """Return `x[index]` as a lazy view, which `read` indexes further; None for other indices."""
    found = _split(index)
    if found is None:
        return None
    axis, mask, rest = found
    view = lazy_masks.lazy_view(x, mask, axis)
    if view is None or not rest:
        return view
    return read(view, (*(slice(None),) * (axis + 1), *rest))


def lazy_update(x: Any, index: Any, values: Any, update: Callable[[Any, Any], Any]) -> Any:
    """Update the part `x[index]` of `x` to `update(x, values)`; None as for `lazy_read`.

    `values` broadcast to the shape of the view, so they are a view of the same mask, or have size 1
    along its dimension.
    """
    found = _split(index)
    if found is None or any(e != slice(None) for e in found[2] if type(e) is slice):
        return None
    if any(type(e) is not slice for e in found[2]):
        return None
    axis, mask, _ = found
    aval = aval_of(x)
    view = lazy_masks.lazy_view(x, mask, axis)
    if view is None:
        return None
    shape, values_shape = view.shape, aval_of(values).shape
    lead = len(shape) - len(values_shape)
    fits = lead >= 0 and all(
        dims.same(h, s) or dims.same(h, 1) for h, s in zip(values_shape, shape[lead:], strict=True)
    )
    if not fits:
        return None
    if lead <= axis and dims.same(values_shape[axis - lead], shape[axis]):
        values = broadcast_in_dim(values, shape, range(lead, len(shape)))
        values = lazy_masks.lazy_fill(values, mask, axis)
    elif values_shape:
        # the dimension of the mask, of size 1 here, becomes those of the mask
        rank = aval_of(mask).ndim
        full = (1,) * lead + tuple(values_shape)
        values = reshape(values, (*full[:axis], *(1,) * rank, *full[axis + 1 :]))
        values = broadcast_in_dim(values, aval.shape, range(aval.ndim))
    changed = update(x, values)
    rank = aval_of(mask).ndim
    where = broadcast_in_dim(mask, aval.shape, range(axis, axis + rank))
    return select_n_p.bind(where, x, changed)


def lazy_nonzero(condition: Any, dtype: Any) -> tuple | None:
    """Return the indices where the traced boolean array `condition` is True, as lazy views."""
    shape = aval_of(condition).shape
    found = []
    for axis in range(len(shape)):
        view = lazy_masks.lazy_view(broadcasted_iota(dtype, shape, axis), condition)
        if view is None:
            return None
        found.append(view)
    return tuple(found)
