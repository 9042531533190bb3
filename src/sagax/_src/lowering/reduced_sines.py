"""Leave sines, cosines, tangents and logarithms of float64 to XLA that it computes within a reduction.

Newer XLA compiles a chain of elementwise operations that ends in a reduction by another library, whose sine is five
times as fast as the formula of `primitives/sine.py`, and whose logarithm as fast as that of `primitives/formulas.py`. These are the ones whose every reader leads to a sum, an extremum
or a product, and whose operand comes from memory by simple operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import memo_keys
from sagax._src.core.families import Fusion
from sagax._src.core.jaxpr import Eqn, Jaxpr, Var
from sagax._src.lowering.map_subjaxprs import within
from sagax._src.primitives.accuracy import AccuracyMode
from sagax._src.primitives.dot_general import dot_general_p
from sagax._src.primitives.structural import broadcast_in_dim_p, reshape_p
from sagax._src.primitives.transcendental import cos_p, log_p, sin_p, tan_p
from sagax._src.transforms.derived import derived


def leave_reduced_sines(jaxpr: Jaxpr) -> Jaxpr:
    """Mark the sines and cosines that reductions absorb, also in sub-jaxprs, as XLA's own."""
    return derived(jaxpr, (memo_keys.REDUCED_SINES,), lambda: _marked(jaxpr))


def _marked(jaxpr: Jaxpr) -> Jaxpr:
    eqns = within(jaxpr.eqns, leave_reduced_sines)
    if any(_is_sine(eqn) for eqn in eqns):
        from_memory = _from_memory(jaxpr, eqns)
        reduced = find_reduced(jaxpr, eqns)
        eqns = [
            eqn.replace(params={**eqn.params, "accuracy": AccuracyMode.DEFAULT})
            if _is_sine(eqn) and eqn.invars[0] in from_memory and eqn.outvars[0] in reduced
            else eqn
            for eqn in eqns
        ]
    return jaxpr if eqns is jaxpr.eqns else jaxpr.replace(eqns=eqns)


def _is_sine(eqn: Eqn) -> bool:
    """Return whether an equation is lowered to a formula if its elements are many."""
    p = eqn.primitive
    has_formula = p in (sin_p, cos_p, tan_p) or (
        p is log_p and eqn.invars[0].aval.dtype == np.float64
    )
    return has_formula and "accuracy" not in eqn.params


def _is_simple(eqn: Eqn) -> bool:
    p = eqn.primitive
    if p is reshape_p or p is broadcast_in_dim_p:
        return True
    return bool(p.elementwise) and not p.handles_keys and (p.latency <= 1 or _is_sine(eqn))


def _from_memory(jaxpr: Jaxpr, eqns: list[Eqn]) -> set[Any]:
    """Return the values that simple operations compute from what is stored."""
    found: set[Any] = {*jaxpr.invars, *jaxpr.constvars}
    for eqn in eqns:
        simple = _is_simple(eqn) and all(v in found for v in eqn.invars if type(v) is Var)
        stored = eqn.primitive.fusion == Fusion.SEPARATE and not eqn.primitive.is_call
        if simple or stored:
            found.update(eqn.outvars)
    return found


def find_reduced(jaxpr: Jaxpr, eqns: list[Eqn]) -> set[Any]:
    """Return the values whose every reader is, or leads by elementwise operations to, a reduction."""
    others: set[Any] = {v for v in jaxpr.outvars if type(v) is Var}
    for eqn in reversed(eqns):
        p = eqn.primitive
        absorbs = p.fusion == Fusion.REDUCES or p is dot_general_p
        leads = bool(p.elementwise) and not any(v in others for v in eqn.outvars)
        if not (absorbs or leads):
            others.update(v for v in eqn.invars if type(v) is Var)
    return {v for eqn in eqns for v in eqn.outvars if v not in others}
