"""Programs that equations hold, rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.control.call import jit_p
from sagax._src.control.conditional import cond_p
from sagax._src.control.custom_calls import Inner, custom_jvp_p, custom_vjp_p
from sagax._src.control.remat import remat_p
from sagax._src.control.scan import scan_p
from sagax._src.control.while_loop import while_p
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr

Rewrite = Callable[[Jaxpr], Jaxpr]

# XLA puts the programs that these hold in their place; bodies of loops and branches it compiles apart.
CALLS = frozenset((jit_p, custom_jvp_p, custom_vjp_p, remat_p))
HOLDING = CALLS | {scan_p, while_p, cond_p}


def within(eqns: list[Eqn], rewrite: Rewrite) -> list[Eqn]:
    """The equations with the programs that they hold rewritten; the same list if nothing changes."""
    found = eqns
    for i, eqn in enumerate(eqns):
        if eqn.primitive in HOLDING:
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
    if isinstance(value, Inner):  # of a function with derivative rules, which stay as they are
        found = _in_parameter(value.jaxpr, rewrite)
        if found is value.jaxpr:
            return value
        return Inner(None, value.name, found, value.n_consts)
    if isinstance(value, tuple) and value and isinstance(value[0], (ClosedJaxpr, Jaxpr)):
        found = tuple([_in_parameter(v, rewrite) for v in value])
        return value if all(a is b for a, b in zip(found, value)) else found
    return value
