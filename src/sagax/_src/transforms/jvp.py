"""Implement forward-mode differentiation: propagate tangents with values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core import memo_keys
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, eval_jaxpr
from sagax._src.core.tangents import Zero
from sagax._src.core.trace import Trace, Tracer, current_trace, entered, no_leaks, state
from sagax._src.core.value import aval_of
from sagax._src.primitives.mesh_axes import vary_like
from sagax._src.primitives.structural import convert, instantiate
from sagax._src.source_stacks import transformation
from sagax._src.transforms.derived import derived_jaxpr, run_composite


class JVPTracer(Tracer):
    """A primal value with its tangent."""

    __slots__ = ("primal", "sources", "tangent")

    def __init__(self, trace: JVPTrace, primal: Any, tangent: Any, sources: int = 0) -> None:
        self._trace = trace
        self.sources = sources  # bit i: depends on argument i of the differentiated function
        self.primal = primal
        self.tangent = tangent
        self.aval = aval_of(primal)

    @property
    def inner(self) -> Any:
        return self.primal

    def __repr__(self) -> str:
        return f"JVPTracer(primal={self.primal}, tangent={self.tangent})"


class JVPTrace(Trace):
    """Apply jvp rules; forward operations without tangents to the outer trace."""

    __slots__ = ()

    described_as = "differentiated", "differentiated"

    def wrap(self, primal: Any, tangent: Any, sources: int = 0) -> Any:
        return primal if type(tangent) is Zero else JVPTracer(self, primal, tangent, sources)

    def unwrap(self, x: Any) -> tuple[Any, Any]:
        """Return primal and tangent of any value."""
        if type(x) is JVPTracer and x._trace is self:
            return x.primal, x.tangent
        return x, Zero(aval_of(x).to_tangent_aval())

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        primals, tangents, active, sources = [], [], False, 0
        for a in args:
            if type(a) is JVPTracer and a._trace is self:
                primals.append(a.primal)
                tangents.append(a.tangent)
                sources |= a.sources
                active = True
            else:
                primals.append(a)
                tangents.append(Zero(aval_of(a).to_tangent_aval()))
        if active and primitive.jvp_rule is None and primitive.composite_rule is not None:
            return run_composite(self, primitive, args, params)
        entry: Any = current_trace()
        entry.trace = self.parent
        try:
            if not active:
                return primitive.bind(*args, **params)
            tangents = list(map(as_weak_as, primals, tangents))
            out, out_tangent = primitive.rule("jvp")(primals, tangents, **params)
        finally:
            entry.trace = self
        if primitive.multiple_results:
            return [self.wrap(p, t, sources) for p, t in zip(out, out_tangent, strict=True)]
        return self.wrap(out, out_tangent, sources)


def as_weak_as(primal: Any, tangent: Any) -> Any:
    """Return a tangent with the weak type of its primal: the caller may have given another."""
    if type(tangent) is Zero:
        return tangent
    aval = aval_of(tangent)
    weak = aval_of(primal).weak_type
    return tangent if aval.weak_type is weak else convert(tangent, aval.dtype, weak)


def jvp_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    info: DebugInfo | None = None,
) -> tuple[list, list]:
    """Return the outputs of the flat function `fun` and their tangents (`Zero` without dependence)."""
    primals = [
        p if type(t) is Zero else vary_like(p, aval_of(t).vma)
        for p, t in zip(primals, tangents, strict=True)
    ]
    trace = JVPTrace(state.trace)
    trace.debug_info = info
    with transformation(None if info is None else "jvp"):
        pairs = _run(trace, fun, primals, tangents)
    no_leaks(trace)
    return [p for p, _ in pairs], [t for _, t in pairs]


def _run(
    trace: JVPTrace, fun: Callable, primals: Sequence[Any], tangents: Sequence[Any]
) -> list[tuple[Any, Any]]:
    with entered(trace):
        ins = zip(primals, tangents, strict=True)
        outs = fun(*[trace.wrap(p, t, 1 << i) for i, (p, t) in enumerate(ins)])
        pairs = [trace.unwrap(out) for out in outs]
    return pairs


def jvp_jaxpr(
    jaxpr: ClosedJaxpr, nonzero: tuple[bool, ...], instantiate_outs: bool | tuple = False
) -> tuple:
    """Differentiate a jaxpr without constants in forward mode, to a jaxpr.

    Its inputs are those of `jaxpr` and the tangents of those marked `nonzero`; its outputs those of
    `jaxpr` and their tangents where there are any (everywhere, or where marked, with
    `instantiate_outs`). Returns it with the marks of the outputs that have a tangent.
    """
    inner = jaxpr.jaxpr
    key = (memo_keys.JVP, nonzero, instantiate_outs)
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
            instantiated = (
                (instantiate_outs,) * len(outs)
                if isinstance(instantiate_outs, bool)
                else instantiate_outs
            )
            out_tangents = [
                instantiate(t) if w else t for t, w in zip(out_tangents, instantiated, strict=True)
            ]
            marks[:] = [type(t) is not Zero for t in out_tangents]
            return [*outs, *(t for t in out_tangents if type(t) is not Zero)]

        avals = inner.in_avals
        avals = avals + [a.to_tangent_aval() for a, nz in zip(avals, nonzero, strict=True) if nz]
        found = derived_jaxpr(inner, key, fun, avals, marks)
    return found
