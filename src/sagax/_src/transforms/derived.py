"""Cache derived jaxprs in the memo of the original."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr
from sagax._src.core.staging import stage
from sagax._src.core.trace import Trace, belongs_to_trace, current


def derived(jaxpr: Jaxpr, key: tuple, build: Callable[[], Any]) -> Any:
    """Return the result of `build`, cached by key: a tuple that begins with one of `memo_keys`."""
    found = jaxpr.memo.get(key)
    if found is None:
        found = jaxpr.memo[key] = build()
    return found


def derived_jaxpr(
    jaxpr: Jaxpr, key: tuple, fun: Callable[..., Sequence[Any]], avals: Sequence[Any], *more: Any
) -> tuple:
    """Stage the flat function `fun`, cached by key as in `derived`: (closed jaxpr, *more).

    `fun` may fill in `more`. A jaxpr that captured values of an enclosing transformation belongs to this call
    only, and is not cached.
    """
    found = jaxpr.memo.get(key)
    if found is None:
        staged, consts = stage(fun, avals, jaxpr.debug_info)
        found = ClosedJaxpr(staged, consts), *[tuple(m) for m in more]
        if not any(map(belongs_to_trace, consts)):
            jaxpr.memo[key] = found
    return found


def run_composite(trace: Trace, primitive: Any, args: Sequence[Any], params: dict) -> Any:
    """Apply a primitive without a rule for `trace` by its composite, whose operations `trace` handles."""
    with current(trace):
        return primitive.composite_rule(*args, **params)
