"""Pruning: drop the equations that no output and no side effect needs."""

from __future__ import annotations

from collections.abc import Sequence

from sagax._src.core.jaxpr import Jaxpr, Var


def prune_jaxpr(jaxpr: Jaxpr, used_outputs: Sequence[bool] | None = None) -> Jaxpr:
    """`jaxpr` without equations whose results are unused and that have no effects.

    Inputs stay as they are. With `used_outputs`, outputs not marked are dropped first.
    """
    outvars = jaxpr.outvars
    if used_outputs is not None:
        outvars = [v for v, used in zip(outvars, used_outputs, strict=True) if used]
    live = {v for v in outvars if type(v) is Var}
    kept = []
    for eqn in reversed(jaxpr.eqns):
        if eqn.effects or not live.isdisjoint(eqn.outvars):
            kept.append(eqn)
            for v in eqn.invars:
                if type(v) is Var:
                    live.add(v)
    if len(kept) == len(jaxpr.eqns) and outvars is jaxpr.outvars:
        return jaxpr
    kept.reverse()
    return Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, kept, jaxpr.effects, jaxpr.debug_info)


def used_inputs(jaxpr: Jaxpr) -> list[bool]:
    """Which inputs any equation or output reads."""
    read = {v for e in jaxpr.eqns for v in e.invars if type(v) is Var}
    read.update(v for v in jaxpr.outvars if type(v) is Var)
    return [v in read for v in jaxpr.invars]
