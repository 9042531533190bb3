"""Estimate FLOPs and bytes of the equations of a jaxpr, before compilation.

The estimates are orders of magnitude. Every elementwise operation counts as one FLOP per element. The
compiler may fuse operations, which saves memory traffic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from sagax._src.core import dims, dtypes
from sagax._src.core.jaxpr import ClosedJaxpr, Eqn, Jaxpr, Literal, Var

__all__ = ["Cost", "Step", "equation_cost", "size_in_bytes", "execution_steps"]

# Primitives that only move elements.
_DATA_MOVEMENT = frozenset(
    """reshape transpose broadcast_in_dim squeeze expand_dims slice dynamic_slice dynamic_update_slice gather
    concatenate pad rev iota copy convert_element_type bitcast_convert_type stack unstack split tile
    stop_gradient optimization_barrier device_put sharding_constraint""".split()
)
_REDUCTIONS = ("reduce", "arg", "cum")


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
    return Cost(_flops(eqn.primitive.name, eqn.params, ins, outs), moved)


def _flops(name: str, params: dict, ins: list, outs: list) -> float:
    out = max(map(_element_count, outs), default=0)
    if name in _DATA_MOVEMENT:
        return 0
    if name == "dot_general":
        contracted = params["dimension_numbers"][0][0]
        return 2 * out * math.prod([_static_extent(ins[0].shape[i]) for i in contracted])
    if name == "conv_general_dilated":
        spec = params["dimension_numbers"].rhs_spec
        kernel = [
            _static_extent(ins[1].shape[i]) for i in spec[1:]
        ]  # input channels, then spatial axes
        return 2 * out * math.prod(kernel)
    if name.startswith(_REDUCTIONS):
        return max(map(_element_count, ins), default=0)
    if name == "sort":
        return out * max(math.log2(max(out, 2)), 1)
    if name in ("cholesky", "lu", "eigh", "svd", "qr", "triangular_solve", "eig", "schur"):
        n = _static_extent(ins[0].shape[-1])
        return out * n
    return out


def _static_extent(size: Any) -> float:
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
        subjaxprs = _subjaxprs(eqn)
        alive += sum(size_in_bytes(v.aval) for v in eqn.outvars)
        if subjaxprs:
            operands = sum(size_in_bytes(a.aval) for a in eqn.invars if type(a) is not Literal)
            for body, n in subjaxprs:
                yield from execution_steps(body, times * n, beside + alive - operands)
        else:
            yield Step(eqn, times, beside + alive)
        alive -= sum(size_in_bytes(v.aval) for v in ending.get(i, ()))
        alive -= sum(size_in_bytes(v.aval) for v in eqn.outvars if v not in last)


def _subjaxprs(eqn: Eqn) -> list[tuple[Jaxpr, float]]:
    """Return the sub-jaxprs of an equation, with the number of their runs."""
    params = eqn.params
    if eqn.primitive.name == "scan":
        return [(params["jaxpr"].jaxpr, _static_extent(params["length"]))]
    if eqn.primitive.name == "cond":  # assume the costliest branch
        branches = [b.jaxpr for b in params["branches"]]
        return [(max(branches, key=_total_flops), 1)]
    if not eqn.primitive.holds_program:
        return []
    return [
        (value.jaxpr if isinstance(value, ClosedJaxpr) else value, 1)
        for value in params.values()
        if isinstance(value, (ClosedJaxpr, Jaxpr))
    ]


def _total_flops(jaxpr: Jaxpr) -> float:
    return sum(equation_cost(s.eqn).flops * s.times for s in execution_steps(jaxpr))
