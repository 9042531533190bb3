"""Write to a part of an eager reference in place, by an executable that takes over its memory."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.api.jit import jit
from sagax._src.primitives.references import read_part, write_part


@functools.lru_cache(maxsize=256)
def _compiled(transforms: tuple, add: bool) -> Callable[..., Any]:
    def write(contents: Any, value: Any, *operands: Any) -> Any:
        return write_part(contents, value, transforms, operands, add=add)

    return jit(write, donate_argnums=0, stale="ignore")


@functools.lru_cache(maxsize=256)
def _reading(transforms: tuple) -> Callable[..., Any]:
    def read(contents: Any, *operands: Any) -> Any:
        return read_part(contents, transforms, operands)

    return jit(read, stale="ignore")


def write(ref: Any, value: Any, operands: Sequence[Any], transforms: tuple, add: bool) -> Any:
    """Write `value`, or add it, to a part of the contents; return the part as it was, None if it is added to."""
    contents = ref._value.copy() if ref._shared else ref._value
    # By an executable of its own: in that which writes, XLA would copy the contents for it. And NumPy would hold on
    # to their memory.
    before = None if add else _reading(transforms)(contents, *operands)
    ref._value, ref._shared = _compiled(transforms, add)(contents, value, *operands), False
    return before
