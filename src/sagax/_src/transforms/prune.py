"""Prune jaxprs: remove equations without used results or effects, at any depth."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sagax._src.core import memo_keys
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Var
from sagax._src.core.operands import LoopOperands, LoopResults, carry_fixpoint
from sagax._src.transforms.derived import derived


def prune_jaxpr(jaxpr: Jaxpr, used_outputs: Sequence[bool] | None = None) -> Jaxpr:
    """Remove equations of `jaxpr` whose results are unused and that have no effects.

    Inputs are unchanged. With `used_outputs`, unmarked outputs are removed first.
    """
    if used_outputs is None and memo_keys.IS_PRUNED in jaxpr.memo:
        return jaxpr
    outvars = jaxpr.outvars
    if used_outputs is not None:
        outvars = [v for v, used in zip(outvars, used_outputs, strict=True) if used]
    live = {v for v in outvars if type(v) is Var}
    eqns = []
    changed = outvars is not jaxpr.outvars
    for eqn in reversed(jaxpr.eqns):
        if not eqn.effects:
            used = [v in live for v in eqn.outvars]
            if not any(used):
                changed = True
                continue
            if eqn.primitive.prune_rule is not None and not all(used):
                smaller = _smaller(eqn, used)
                changed = changed or smaller is not eqn
                eqn = smaller
        eqns.append(eqn)
        live.update([v for v in eqn.invars if type(v) is Var])
    if changed:
        eqns.reverse()
        info = jaxpr.debug_info
        jaxpr = Jaxpr(jaxpr.constvars, jaxpr.invars, outvars, eqns, jaxpr.effects, info)
    jaxpr.memo[memo_keys.IS_PRUNED] = True
    return jaxpr


def _smaller(eqn: Eqn, used: list[bool]) -> Eqn:
    """Prune the jaxpr of a higher-order equation for its used results."""
    found = eqn.primitive.prune_rule(used, **eqn.params)
    if found is None:
        return eqn
    params, operands, results = found
    return eqn.replace(
        params=params,
        invars=[v for v, keep in zip(eqn.invars, operands, strict=True) if keep],
        outvars=[v for v, keep in zip(eqn.outvars, results, strict=True) if keep],
    )


def used_inputs(jaxpr: Jaxpr) -> list[bool]:
    """Mark the inputs that any equation or output reads."""
    read = {v for e in jaxpr.eqns for v in e.invars if type(v) is Var}
    read.update(v for v in jaxpr.outvars if type(v) is Var)
    return [v in read for v in jaxpr.invars]


def prune_subjaxpr(
    closed: ClosedJaxpr, used_outputs: Sequence[bool], always: Sequence[bool] | None = None
) -> tuple[ClosedJaxpr, list[bool]]:
    """Return a sub-jaxpr with the used outputs only, and marks of the inputs that it still takes.

    These are the inputs that it reads, those that define a symbolic size, and those marked in `always`. Cached.
    """

    def build() -> tuple[Jaxpr, list[bool]]:
        small = prune_jaxpr(closed.jaxpr, used_outputs)
        keep = [
            read or not all(type(size) is int for size in v.aval.shape)
            for read, v in zip(used_inputs(small), small.invars, strict=True)
        ]
        if always is not None:
            keep = [a or b for a, b in zip(keep, always, strict=True)]
        invars = [v for v, k in zip(small.invars, keep, strict=True) if k]
        return small.replace(invars=invars), keep

    key = (memo_keys.PRUNED, tuple(used_outputs), always and tuple(always))
    jaxpr, keep = derived(closed.jaxpr, key, build)
    return ClosedJaxpr(jaxpr, closed.consts), keep


def prune_call(used: Sequence[bool], *, jaxpr: ClosedJaxpr, **params: Any) -> tuple:
    """Prune the jaxpr of a call; the prune rule of primitives that apply one jaxpr."""
    small, operands = prune_subjaxpr(jaxpr, used)
    return {"jaxpr": small, **params}, operands, used


def prune_loop(
    body: ClosedJaxpr, used: LoopResults, n_constants: int
) -> tuple[ClosedJaxpr, LoopOperands, LoopResults]:
    """Prune a loop's body to the used results and their dependencies across iterations.

    Returns the smaller body, and marks of the remaining inputs and results. A part of the carry remains as both
    or as neither.
    """

    def grouped(marks: Sequence[bool]) -> LoopOperands:
        return LoopOperands.split(marks, n_constants, len(used.carry))

    used_results = carry_fixpoint(
        used, lambda used: grouped(prune_subjaxpr(body, used.flat())[1]).carry
    )
    always = grouped([False] * len(body.jaxpr.invars))
    always = dataclasses.replace(always, carry=used_results.carry)
    small, keep = prune_subjaxpr(body, used_results.flat(), always.flat())
    return small, grouped(keep), used_results
