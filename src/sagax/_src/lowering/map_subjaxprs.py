"""Map a pass over sub-jaxprs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr

Rewrite = Callable[[Jaxpr], Jaxpr]


def holds(eqn: Eqn) -> bool:
    """Return whether an equation has sub-jaxprs that `within` rewrites: calls, bodies of loops, branches."""
    return eqn.primitive.is_call or eqn.primitive.is_control


def within(eqns: list[Eqn], rewrite: Rewrite) -> list[Eqn]:
    """Rewrite the sub-jaxprs of the equations; return the same list if nothing changes."""
    found = eqns
    for i, eqn in enumerate(eqns):
        if holds(eqn):
            new = _rewritten(eqn, rewrite)
            if new is not eqn:
                if found is eqns:
                    found = list(eqns)
                found[i] = new
    return found


def _rewritten(eqn: Eqn, rewrite: Rewrite) -> Eqn:
    params = {name: _in_parameter(value, rewrite) for name, value in eqn.params.items()}
    if all(params[name] is value for name, value in eqn.params.items()):
        return eqn
    return eqn.replace(params=params)


def _in_parameter(value: Any, rewrite: Rewrite) -> Any:
    if isinstance(value, ClosedJaxpr):
        found = rewrite(value.jaxpr)
        return value if found is value.jaxpr else ClosedJaxpr(found, value.consts)
    if isinstance(value, Jaxpr):
        return rewrite(value)
    if hasattr(value, "rewritten"):  # a function with derivative rules, which stay unchanged
        return value.rewritten(lambda jaxpr: _in_parameter(jaxpr, rewrite))
    if isinstance(value, tuple) and value and isinstance(value[0], (ClosedJaxpr, Jaxpr)):
        found = tuple([_in_parameter(v, rewrite) for v in value])
        return value if all(a is b for a, b in zip(found, value)) else found
    return value
