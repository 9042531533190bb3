"""Estimates of what the operations of a traced program cost, before the compiler has seen it.

They tell orders of magnitude apart: an elementwise operation counts as one floating point operation an
element, whatever it is; the compiler may fuse operations, so that less memory is read and written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from sagax._src.core import dims, dtypes
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.scan import scan_p

__all__ = ["Cost", "Step", "cost_of", "size_in_bytes", "steps"]


class Cost(NamedTuple):
    """Floating point operations, and bytes of operands and results."""

    flops: float
    bytes: float

    def times(self, n: float) -> Cost:
        return Cost(self.flops * n, self.bytes * n)


class Step(NamedTuple):
    """An operation that holds no program: how often it runs, and how many bytes are alive beside it."""

    eqn: Eqn
    times: float
    alive: float


def _size(aval: Any) -> float:
    """How many elements; symbolic sizes count as 1."""
    shape = getattr(aval, "shape", ())
    return math.prod([1 if dims.is_dim(s) else s for s in shape])


def size_in_bytes(aval: Any) -> float:
    """How much memory a value takes."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        return 0
    return _size(aval) * dtypes.itemsize(dtype)


def cost_of(eqn: Eqn) -> Cost:
    """What one run of an operation that holds no program costs."""
    ins, outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
    moved = sum(map(size_in_bytes, ins)) + sum(map(size_in_bytes, outs))
    return Cost(_flops(eqn, ins, outs), moved)


def _flops(eqn: Eqn, ins: list, outs: list) -> float:
    cost = eqn.primitive.cost
    if isinstance(cost, int):
        return cost * max(map(_size, outs), default=0)
    return cost([_static(a) for a in ins], [_static(a) for a in outs], eqn.params)


def _static(aval: Any) -> Any:
    """A type with symbolic sizes counted as 1."""
    return aval.update(shape=tuple(map(_extent, aval.shape))) if hasattr(aval, "shape") else aval


def _extent(size: Any) -> int:
    return 1 if dims.is_dim(size) else size


def steps(jaxpr: Jaxpr, times: float = 1, beside: float = 0) -> Iterator[Step]:
    """The operations of a program in order, those of programs that it holds in their places.

    Bodies of scans count as often as they run, those of while loops once, since nobody knows.
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
        inside = _programs(eqn)
        alive += sum(size_in_bytes(v.aval) for v in eqn.outvars)
        if inside:
            given = sum(size_in_bytes(a.aval) for a in eqn.invars if type(a) is not Literal)
            for program, n in inside:
                yield from steps(program, times * n, beside + alive - given)
        else:
            yield Step(eqn, times, beside + alive)
        alive -= sum(size_in_bytes(v.aval) for v in ending.get(i, ()))
        alive -= sum(size_in_bytes(v.aval) for v in eqn.outvars if v not in last)


def _programs(eqn: Eqn) -> list[tuple[Jaxpr, float]]:
    """The programs that an operation runs, with how often."""
    params = eqn.params
    if eqn.primitive is scan_p:
        return [(params["jaxpr"].jaxpr, _extent(params["length"]))]
    if eqn.primitive is cond_p:  # one of them runs: the costliest
        branches = [b.jaxpr for b in params["branches"]]
        return [(max(branches, key=_total), 1)]
    if not eqn.primitive.holds_program:
        return []
    found: list[tuple[Jaxpr, float]] = []
    for value in params.values():
        if isinstance(value, ClosedJaxpr):
            found.append((value.jaxpr, 1))
        elif isinstance(value, Jaxpr):
            found.append((value, 1))
    return found


def _total(jaxpr: Jaxpr) -> float:
    return sum(cost_of(s.eqn).flops * s.times for s in steps(jaxpr))
