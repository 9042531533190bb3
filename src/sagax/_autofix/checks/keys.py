"""Find random keys that all examples of a vmap share."""

from __future__ import annotations

from typing import Any

from sagax._autofix.checks.report import Add, own_span
from sagax._src import source_stacks
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import KeyReuseError
from sagax._src.diagnostics.spans import is_user_file
from sagax._src.primitives.random_bits import random_bits_p

__all__ = ["watch_vmap"]


def watch_vmap(add: Add) -> None:
    """Report draws in a mapped function from a key that is the same for all examples."""

    def check(trace: Any, primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> None:
        if trace.batch_axis.size == 1:
            return
        for x in args:
            aval = getattr(x, "aval", None)
            if aval is not None and dtypes.is_extended(aval.dtype) and aval.shape == ():
                if _draws(primitive, params):
                    _report(add)
                    return

    events.unmapped_operation.function = check


def _draws(primitive: Any, params: dict[str, Any]) -> bool:
    if primitive is random_bits_p:
        return True
    return any(
        any(_draws(e.primitive, e.params) for e in inner.eqns) for inner in subjaxprs(params)
    )


def _report(add: Add) -> None:
    stack = source_stacks.stack()
    span = own_span(stack)
    if span is None or not any(is_user_file(c.co_filename) for c in stack.raw_frames()[0]):
        return
    add(
        KeyReuseError,
        "one key for all examples of a vmap: it is not mapped, so that each example draws the same numbers",
        stack,
        span=span,
    )
