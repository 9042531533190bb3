"""Find random keys that all examples of a vmap share."""

from __future__ import annotations

from typing import Any

from sagax._autofix.checks.report import Add, own_span
from sagax._src import source_stacks
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.diagnostics.errors import KeyReuseError
from sagax._src.diagnostics.spans import is_user_file
from sagax._src.primitives.random_bits import random_bits_p
from sagax._src.transforms.batch import BatchTrace

__all__ = ["watch_vmap"]


def watch_vmap(add: Add) -> None:
    """Report draws in a mapped function from a key that is the same for all examples."""
    process = BatchTrace.process

    def watched(trace: Any, primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        result = process(trace, primitive, args, params)
        for x in args:
            aval = getattr(x, "aval", None)
            if aval is not None and dtypes.is_extended(aval.dtype) and aval.shape == ():
                if getattr(x, "_trace", None) is not trace and _draws(primitive, params):
                    _report(add, trace)
                    break
        return result

    BatchTrace.process = watched  # type: ignore[method-assign]


def _draws(primitive: Any, params: dict[str, Any]) -> bool:
    if primitive is random_bits_p:
        return True
    return any(
        any(_draws(e.primitive, e.params) for e in inner.eqns) for inner in subjaxprs(params)
    )


def _report(add: Add, trace: Any) -> None:
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
