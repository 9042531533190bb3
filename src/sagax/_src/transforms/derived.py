"""Derive jaxprs from jaxprs once, and keep them in the memo of the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr
from sagax._src.core.staging import stage
from sagax._src.core.trace import Trace, Tracer, current


def derived(jaxpr: Jaxpr, key: tuple, make: Callable[[], Any]) -> Any:
    """Return what `make` makes, once for each key: a tuple that begins with one of `memo_keys`."""
    found = jaxpr.memo.get(key)
    if found is None:
        found = jaxpr.memo[key] = make()
    return found


def derived_program(
    jaxpr: Jaxpr, key: tuple, fun: Callable[..., Sequence[Any]], avals: Sequence[Any], *more: Any
) -> tuple:
    """Stage the flat function `fun`, once for each key as of `derived`: (closed jaxpr, *more).

    `more` is filled in while `fun` runs. A program that captured values of an enclosing transformation
    belongs to this call only, and is not kept.
    """
    found = jaxpr.memo.get(key)
    if found is None:
        made, consts = stage(fun, avals, jaxpr.debug_info)
        found = ClosedJaxpr(made, consts), *[tuple(m) for m in more]
        if not any(isinstance(c, Tracer) for c in consts):
            jaxpr.memo[key] = found
    return found


def run_composite(trace: Trace, primitive: Any, args: Sequence[Any], params: dict) -> Any:
    """An operation that `trace` has no rule for, in those that it is composed of: `trace` sees each of them."""
    with current(trace):
        return primitive.composite_rule(*args, **params)
