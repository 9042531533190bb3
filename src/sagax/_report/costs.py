"""Estimate FLOPs and bytes of the equations of a jaxpr, before compilation.

The estimates are orders of magnitude. Every elementwise operation counts as one FLOP per element. The
compiler may fuse operations, which saves memory traffic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from sagax._src.core import dims, dtypes
from sagax._src.core.jaxpr import Eqn, Jaxpr, Literal, Var, subjaxprs
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p


class Cost(NamedTuple):
    """Hold floating point operations, and bytes of operands and results."""

    flops: float
    bytes: float

    def times(self, n: float) -> Cost:
        return Cost(self.flops * n, self.bytes * n)


class Step(NamedTuple):
    """Hold a first-order equation, how often it runs, and the bytes alive while it runs."""

    eqn: Eqn
    times: float
    alive: float


def _element_count(aval: Any) -> float:
    """Return the number of elements; symbolic sizes count as 1."""
    shape = getattr(aval, "shape", ())
    return math.prod([1 if dims.is_dim(s) else s for s in shape])


def size_in_bytes(aval: Any) -> float:
    """Return the size of a value in bytes."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        return 0
    return _element_count(aval) * dtypes.itemsize(dtype)


def equation_cost(eqn: Eqn) -> Cost:
    """Return the cost of one run of a first-order equation."""
    ins, outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
    moved = sum(map(size_in_bytes, ins)) + sum(map(size_in_bytes, outs))
    return Cost(_flops(eqn, ins, outs), moved)


def _flops(eqn: Eqn, ins: list, outs: list) -> float:
    cost = eqn.primitive.cost
    if not isinstance(cost, int):
        return cost([_static_aval(a) for a in ins], [_static_aval(a) for a in outs], eqn.params)
    return cost * max(map(_element_count, outs), default=0)


def _static_aval(aval: Any) -> Any:
    """Replace the symbolic sizes of a type by 1."""
    if not hasattr(aval, "shape"):
        return aval
    return aval.update(shape=tuple(map(_static_extent, aval.shape)))


def _static_extent(size: Any) -> int:
    return 1 if dims.is_dim(size) else size


def execution_steps(jaxpr: Jaxpr, times: float = 1, beside: float = 0) -> Iterator[Step]:
    """Yield the equations of a jaxpr and its sub-jaxprs in order of execution.

    Bodies of scans count as often as they run, those of while loops once, as their number is unknown.
    """
    last: dict[Var, int] = {}
    for i, eqn in enumerate(jaxpr.eqns):
        last.update({v: i for v in eqn.invars if type(v) is Var})
    last.update({v: len(jaxpr.eqns) for v in jaxpr.outvars if type(v) is Var})
    ending: dict[int, list[Var]] = {}
    for v, i in last.items():
        ending.setdefault(i, []).append(v)
    alive = sum(size_in_bytes(v.aval) for v in (*jaxpr.constvars, *jaxpr.invars))
    for i, eqn in enumerate(jaxpr.eqns):
        called = _subjaxprs(eqn)
        alive += sum(size_in_bytes(v.aval) for v in eqn.outvars)
        if called:
            operands = sum(size_in_bytes(a.aval) for a in eqn.invars if type(a) is not Literal)
            for body, n in called:
                yield from execution_steps(body, times * n, beside + alive - operands)
        else:
            yield Step(eqn, times, beside + alive)
        alive -= sum(size_in_bytes(v.aval) for v in ending.get(i, ()))
        alive -= sum(size_in_bytes(v.aval) for v in eqn.outvars if v not in last)


def _subjaxprs(eqn: Eqn) -> list[tuple[Jaxpr, float]]:
    """Return the sub-jaxprs of an equation, with the number of their runs."""
    params = eqn.params
    if eqn.primitive is scan_p:
        return [(params["jaxpr"].jaxpr, _static_extent(params["length"]))]
    if eqn.primitive is cond_p:  # assume the costliest branch
        branches = [b.jaxpr for b in params["branches"]]
        return [(max(branches, key=_total_flops), 1)]
    if not eqn.primitive.is_higher_order:
        return []
    single = {k: v for k, v in params.items() if not isinstance(v, tuple)}
    return [(inner, 1) for inner in subjaxprs(single)]


def _total_flops(jaxpr: Jaxpr) -> float:
    return sum(equation_cost(s.eqn).flops * s.times for s in execution_steps(jaxpr))
