"""Index with `ds`: slices of static size at a traced start."""

from __future__ import annotations

from typing import Any

from sagax._src import trees
from sagax._src.core.value import Array
from sagax._src.frozen_class import record


@record(slots=True)
class Slice:
    """`size` elements, `stride` apart, from a `start` that may be traced; made by `sagax.ds`."""

    start: Any
    size: Any
    stride: int = 1


def _flatten(s: Slice) -> tuple:
    if isinstance(s.start, Array):
        return (s.start,), (s.size, s.stride)
    return (), (s.start, s.size, s.stride)


def is_window(index: Any) -> bool:
    """Return whether an index is a `Slice`."""
    return type(index) is Slice


trees.register_pytree_node(Slice, _flatten, lambda static, start: Slice(*start, *static))

_EVERYTHING: Any = trees.UNSET


def ds(start: Any, size: Any = _EVERYTHING, stride: int | None = None) -> slice | Slice:
    """Create an index like `start : start + size : stride`, where `start` may be a traced value.

    `size` counts elements and is static. With one argument it is that argument which is the size,
    and the start is 0; `ds(None)` takes everything. A window that does not lie inside of the array
    is moved to where it does when it is read, and dropped when it is written; with a stride this
    goes for each element.

    >>> sagax.jit(lambda x, i: x[sagax.ds(i, 2)])(snp.arange(5), 3)
    Array([3, 4], dtype=int32)
    """
    if start is None:
        return slice(None)
    if size is _EVERYTHING:
        start, size = 0, start
    return Slice(start, size, 1 if stride is None else stride)
