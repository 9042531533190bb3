"""Forward mode: each value travels with its tangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core.jaxpr import ClosedJaxpr, eval_jaxpr
from sagax._src.core.stage import stage
from sagax._src.core.tangents import Zero
from sagax._src.core.trace import Trace, Tracer, entered, state
from sagax._src.core.value import aval_of
from sagax._src.primitives.structural import instantiate


class JVPTracer(Tracer):
    """A primal value with its tangent."""

    __slots__ = ("primal", "tangent")

    def __init__(self, trace: JVPTrace, primal: Any, tangent: Any) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.aval = aval_of(primal)

    @property
    def inner(self) -> Any:
        return self.primal

    def __repr__(self) -> str:
        return f"JVPTracer(primal={self.primal}, tangent={self.tangent})"


class JVPTrace(Trace):
    """Applies jvp rules; what no tangent reaches goes straight to the trace beneath."""

    __slots__ = ()

    def wrap(self, primal: Any, tangent: Any) -> Any:
        return primal if type(tangent) is Zero else JVPTracer(self, primal, tangent)

    def unwrap(self, x: Any) -> tuple[Any, Any]:
        """Primal and tangent of any value."""
        if type(x) is JVPTracer and x._trace is self:
            return x.primal, x.tangent
        return x, Zero(aval_of(x).to_tangent_aval())

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        primals, tangents, active = [], [], False
        for a in args:
            if type(a) is JVPTracer and a._trace is self:
                primals.append(a.primal)
                tangents.append(a.tangent)
                active = True
            else:
                primals.append(a)
                tangents.append(Zero(aval_of(a).to_tangent_aval()))
        before = state.trace
        state.trace = self.parent
        try:
            if not active:
                return primitive.bind(*args, **params)
            out, out_tangent = apply_rule(primitive, primals, tangents, params)
        finally:
            state.trace = before
        if primitive.multiple_results:
            return [self.wrap(p, t) for p, t in zip(out, out_tangent, strict=True)]
        return self.wrap(out, out_tangent)


def apply_rule(primitive: Any, primals: list, tangents: list, params: dict) -> tuple:
    """The jvp of one operation under the current trace: its rule, or that of its composite."""
    rule = primitive.jvp_rule
    if rule is not None:
        return rule(primals, tangents, **params)
    composite = primitive.composite_rule
    if composite is None:
        return primitive.rule("jvp")(primals, tangents, **params)
    if primitive.multiple_results:
        return jvp_flat(lambda *xs: composite(*xs, **params), primals, tangents)
    (out,), (tangent,) = jvp_flat(lambda *xs: [composite(*xs, **params)], primals, tangents)
    return out, tangent


def jvp_flat(
    fun: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list, list]:
    """Outputs of the flat function `fun` and their tangents (`Zero` where none arrives)."""
    trace = JVPTrace(state.trace)
    with entered(trace):
        outs = fun(*[trace.wrap(p, t) for p, t in zip(primals, tangents, strict=True)])
        pairs = [trace.unwrap(out) for out in outs]
    return [p for p, _ in pairs], [t for _, t in pairs]


def jvp_jaxpr(
    jaxpr: ClosedJaxpr, nonzero: tuple[bool, ...], instantiate_outs: bool | tuple = False
) -> tuple:
    """The derivative of a jaxpr without constants, as a jaxpr.

    Its inputs are those of `jaxpr` and the tangents of those marked `nonzero`; its outputs those of
    `jaxpr` and their tangents where there are any (everywhere, or where marked, with
    `instantiate_outs`). Returns it with the marks of the outputs that have a tangent.
    """
    inner = jaxpr.jaxpr
    key = ("jvp", nonzero, instantiate_outs)
    found = inner.memo.get(key)
    if found is None:
        n = len(inner.invars)
        marks: list[bool] = []

        def fun(*args: Any) -> list:
            given = iter(args[n:])
            tangents = [
                next(given) if nz else Zero.like(v.aval)
                for nz, v in zip(nonzero, inner.invars, strict=True)
            ]
            outs, out_tangents = jvp_flat(
                lambda *xs: eval_jaxpr(inner, jaxpr.consts, *xs), args[:n], tangents
            )
            wanted = (
                (instantiate_outs,) * len(outs)
                if isinstance(instantiate_outs, bool)
                else instantiate_outs
            )
            out_tangents = [
                instantiate(t) if w else t for t, w in zip(out_tangents, wanted, strict=True)
            ]
            marks[:] = [type(t) is not Zero for t in out_tangents]
            return [*outs, *(t for t in out_tangents if type(t) is not Zero)]

        avals = inner.in_avals
        avals = avals + [a.to_tangent_aval() for a, nz in zip(avals, nonzero, strict=True) if nz]
        derived, consts = stage(fun, avals, inner.debug_info)
        found = inner.memo[key] = ClosedJaxpr(derived, consts), tuple(marks)
    return found
