"""Infer over which mesh axes the results of loops and branches vary inside `shard_map`.

A carry varies along an axis if it does so after any iteration, and then from the start. The result of a branch
varies if that of any branch does, or if devices may take different branches.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from sagax._src.core import dtypes, memo_keys
from sagax._src.core.avals import no_axes
from sagax._src.core.jaxpr import ClosedJaxpr, Jaxpr, Var, eval_jaxpr, subjaxprs
from sagax._src.core.operands import LoopOperands, LoopResults, carry_fixpoint
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.mesh_axes import in_order, vary_like
from sagax._src.transforms.derived import derived_jaxpr


def _any(avals: Sequence[Any]) -> bool:
    for a in avals:
        if a.vma:
            return True
    return False


def vary_jaxpr(
    closed: ClosedJaxpr, in_vmas: Sequence[frozenset], out_vmas: Sequence[frozenset] | None = None
) -> ClosedJaxpr:
    """Return the jaxpr for inputs that vary along these axes, with results that vary at least along those."""
    inner = closed.jaxpr
    if out_vmas is None and list(in_vmas) == [a.vma for a in inner.in_avals]:
        return closed
    avals = [a.with_vma(vma) for a, vma in zip(inner.in_avals, in_vmas, strict=True)]

    def fun(*xs: Any) -> list:
        outs = eval_jaxpr(inner, closed.consts, *xs)
        return outs if out_vmas is None else list(map(vary_like, outs, out_vmas))

    key = (memo_keys.VARYING, *in_vmas, None if out_vmas is None else tuple(out_vmas))
    return derived_jaxpr(inner, key, fun, avals)[0]


def fixpoint_carry(
    closed: ClosedJaxpr, operands: LoopOperands, more: frozenset = no_axes
) -> ClosedJaxpr:
    """Return the body of a loop for operands of these types, with the carry's varying axes at a fixpoint.

    The carry varies along the axes `more` in any case.
    """
    if not (more or any(map(_any, operands)) or _any(closed.out_avals)):
        return closed
    given = operands.map(lambda a: a.vma)
    given = dataclasses.replace(given, carry=[vma | more for vma in given.carry])
    vmas = carry_fixpoint(
        given, lambda vmas: [a.vma for a in vary_jaxpr(closed, vmas.flat()).out_avals]
    )
    body = vary_jaxpr(closed, vmas.flat())
    outputs = LoopResults.split([a.vma for a in body.out_avals], len(vmas.carry))
    if outputs.carry == vmas.carry:
        return body
    return vary_jaxpr(closed, vmas.flat(), [*vmas.carry, *outputs.sequences])


def vary_branches(
    branches: tuple[ClosedJaxpr, ...], operands: Sequence[Any], more: frozenset
) -> tuple[ClosedJaxpr, ...]:
    """Return the branches for operands of these types, whose results vary as any does, or along `more`."""
    if not (more or _any(operands) or any(_any(b.out_avals) for b in branches)):
        return branches
    vmas = [a.vma for a in operands]
    typed = [vary_jaxpr(b, vmas) for b in branches]
    joined = [
        more.union(*[a.vma for a in outs])
        for outs in zip(*[b.out_avals for b in typed], strict=True)
    ]
    return tuple(
        [
            b if joined == [a.vma for a in b.out_avals] else vary_jaxpr(b, vmas, joined)
            for b in typed
        ]
    )


def check_no_collectives(
    function: str, what: str, jaxprs: Sequence[ClosedJaxpr], axes: frozenset
) -> None:
    """Raise a ValueError if only some devices along these axes run a jaxpr with collectives over them."""
    for closed in jaxprs:
        for name, along in _collectives(closed.jaxpr):
            shared = in_order(axes.intersection(along))
            if shared:
                names = ", ".join(map(repr, shared))
                raise ArgumentValueError(
                    f"devices may differ along the mesh axis {names} in {what}, and {name} inside waits there for all of "
                    "them: the program could hang",
                    function=function,
                    argument="the predicate",
                    expected=f"a predicate that does not vary along {names}",
                    fix=f"take {name} out, or let all devices decide alike, as with lax.psum(predicate, {shared[0]!r}) > 0",
                )


def _collectives(jaxpr: Jaxpr) -> tuple[tuple[str, tuple], ...]:
    """Return the collectives of a jaxpr: name and axes of each."""
    found = jaxpr.memo.get(memo_keys.COLLECTIVES)
    if found is None:
        here = []
        for eqn in jaxpr.eqns:
            if eqn.primitive.batch_collective is not None and eqn.invars:
                axes = eqn.params.get("axes", eqn.params.get("axis_name"))
                here.append((eqn.primitive.name, axes if isinstance(axes, tuple) else (axes,)))
            for inner in subjaxprs(eqn.params):
                here.extend(_collectives(inner))
        found = jaxpr.memo[memo_keys.COLLECTIVES] = tuple(here)
    return found


def avals_of(operands: Sequence[Any]) -> list:
    """Return the types of operands."""
    return [aval_of(x) for x in operands]


def cast_constants(
    closed: ClosedJaxpr, operands: Sequence[Any], n_consts: int
) -> tuple[ClosedJaxpr, list[Any]]:
    """Cast the constants of a loop's body that meet only varying values; return body and operands.

    The cotangent of a replicated constant is a sum over devices. After a cast outside of the loop it is summed
    after the last iteration only, and not in each.
    """
    inner = closed.jaxpr
    if not any(v.aval.vma for v in inner.invars[n_consts:]) or not n_consts:
        return closed, list(operands)
    casts = _constant_axes(inner, n_consts)
    if not any(casts):
        return closed, list(operands)
    casts = [*casts, *[no_axes] * (len(operands) - n_consts)]
    vmas = [a.vma | more for a, more in zip(closed.in_avals, casts, strict=True)]
    return vary_jaxpr(closed, vmas), list(map(vary_like, operands, casts))


def _constant_axes(jaxpr: Jaxpr, n_consts: int) -> list[frozenset]:
    """Return for each constant the axes along which all its consumers vary, but not itself."""
    found = jaxpr.memo.get((memo_keys.CONSTANT_CASTS, n_consts))
    if found is None:
        consumers: dict[Any, frozenset] = {v: no_axes for v in jaxpr.outvars if type(v) is Var}
        for eqn in reversed(jaxpr.eqns):
            for v in eqn.invars:
                if type(v) is Var:
                    outs = [
                        (o.aval.vma | consumers.get(o, no_axes)) - v.aval.vma for o in eqn.outvars
                    ]
                    along = frozenset.intersection(*outs) if outs else no_axes
                    known = consumers.get(v)
                    consumers[v] = along if known is None else known & along
        found = jaxpr.memo[memo_keys.CONSTANT_CASTS, n_consts] = [
            consumers.get(v, no_axes) if dtypes.is_inexact(v.aval.dtype) else no_axes
            for v in jaxpr.invars[:n_consts]
        ]
    return found
