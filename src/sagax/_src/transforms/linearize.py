"""Linearize: run a function and record the linear map of its tangents.

Jvp rules run under a trace that splits their work. The outer trace computes what depends on no tangent. The
rest becomes equations of a linear jaxpr, with the computed values as its constants (residuals). Its
transpose gives reverse mode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.core import dtypes, memo_keys
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, Literal, Var, eval_jaxpr
from sagax._src.core.staging import StagedTracer, StageTrace, stage
from sagax._src.core.tangents import Zero
from sagax._src.core.trace import (
    Trace,
    Tracer,
    belongs_to_trace,
    current,
    current_trace,
    entered,
    no_leaks,
    state,
)
from sagax._src.core.value import aval_of
from sagax._src.primitives.structural import convert, instantiate
from sagax._src.source_stacks import scope_inside, transformation
from sagax._src.transforms.derived import run_composite
from sagax._src.transforms.jvp import as_weak_as
from sagax._src.transforms.prune import prune_jaxpr


class TangentTrace(StageTrace):
    """Record operations on tangents; forward all others to the outer trace.

    `promotes`: tangents of numbers beside strongly typed values are converted, as in users' own rules.
    """

    __slots__ = ("promotes",)

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent)
        self.promotes = False

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        for a in args:
            if type(a) is StagedTracer and a._trace is self:
                if self.promotes and not primitive.multiple_results:
                    args = tuple(_promoted(args, args))
                return StageTrace.process(self, primitive, args, params)
        entry: Any = current_trace()
        entry.trace = self.parent
        try:
            return primitive.bind(*args, **params)
        finally:
            entry.trace = self


class LinearizeTracer(Tracer):
    """A primal value with the variable of its tangent."""

    __slots__ = ("primal", "tangent")

    def __init__(self, trace: LinearizeTrace, primal: Any, tangent: Any) -> None:
        self._trace = trace
        self.primal = primal
        self.tangent = tangent
        self.aval = aval_of(primal)

    @property
    def inner(self) -> Any:
        return self.primal

    def __repr__(self) -> str:
        return f"GradTracer(primal={self.primal}, typeof(tangent)={self.tangent.aval.str_short(short_dtypes=True)})"


class LinearizeTrace(Trace):
    """Apply rules under its `TangentTrace`."""

    __slots__ = ("tangents",)

    described_as = "differentiated", "differentiated"

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent)
        self.tangents = TangentTrace(parent)

    def wrap(self, primal: Any, tangent: Any) -> Any:
        if type(tangent) is Zero:
            return primal
        if not (type(tangent) is StagedTracer and tangent._trace is self.tangents):
            # a tangent that is independent of the inputs' tangents cannot come from a linear rule,
            # except as zeros that a rule materialized
            tangent = self.tangents.lift(tangent)
        return LinearizeTracer(self, primal, tangent)

    def unwrap(self, x: Any) -> tuple[Any, Any]:
        if type(x) is LinearizeTracer and x._trace is self:
            return x.primal, x.tangent
        return x, Zero(aval_of(x).to_tangent_aval())

    def process(self, primitive: Any, args: tuple, params: dict) -> Any:
        primals, tangents, active = [], [], False
        for a in args:
            if type(a) is LinearizeTracer and a._trace is self:
                primals.append(a.primal)
                tangents.append(a.tangent)
                active = True
            else:
                primals.append(a)
                tangents.append(Zero(aval_of(a).to_tangent_aval()))
        entry: Any = current_trace()
        if not active:
            entry.trace = self.parent
            try:
                return primitive.bind(*args, **params)
            finally:
                entry.trace = self
        rule = primitive.linearize_rule or primitive.jvp_rule
        if rule is None and primitive.composite_rule is not None:
            return run_composite(self, primitive, args, params)
        entry.trace = self.tangents
        try:
            if not primitive.multiple_results:
                tangents = _promoted(primals, tangents)
            out, out_tangent = (rule or primitive.rule("jvp"))(primals, tangents, **params)
        finally:
            entry.trace = self
        if primitive.multiple_results:
            return [self.wrap(p, t) for p, t in zip(out, out_tangent, strict=True)]
        return self.wrap(out, out_tangent)


def _promoted(primals: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
    """Convert tangents of numbers that a strongly typed operand promotes.

    The transpose of this conversion makes their cotangents weakly typed again.
    """
    moving = [k for k, t in enumerate(tangents) if type(t) is StagedTracer and t.aval.weak_type]
    if moving and any(_is_strong(aval_of(p)) for p in primals):
        tangents = list(tangents)
        for k in moving:
            tangents[k] = convert(tangents[k], tangents[k].aval.dtype)
    return tangents


def _is_strong(aval: Any) -> bool:
    return not aval.is_high and not aval.weak_type and dtypes.is_inexact(aval.dtype)


class LinearMap:
    """The recorded linear map: a jaxpr whose constvars are the residuals, in `residuals`.

    `invars` are the tangents of the inputs that were marked; `outs` holds for each output of the
    function a variable (or literal), or a `Zero`.
    """

    __slots__ = ("jaxpr", "out_tangents", "residuals")

    def __init__(self, jaxpr: Jaxpr, residuals: list, out_tangents: list) -> None:
        self.jaxpr = jaxpr  # its outvars are the nonzero output tangents, in order
        self.residuals = residuals
        self.out_tangents = out_tangents  # per output: index into the jaxpr's outputs, or a Zero

    def apply(self, tangents: Sequence[Any]) -> list:
        """Push tangents forward; return `Zero` for outputs without one."""
        outs = eval_jaxpr(prune_jaxpr(self.jaxpr), self.residuals, *tangents)
        return [t if type(t) is Zero else outs[t] for t in self.out_tangents]


def linearize_flat(
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    nonzero: Sequence[bool] | None = None,
    instantiate_outs: Sequence[bool] | None = None,
    info: DebugInfo | None = None,
) -> tuple[list, LinearMap]:
    """Return the outputs of the flat function `fun`, and the linear jaxpr of its marked inputs' tangents.

    Outputs marked in `instantiate_outs` get a tangent even if it is zero. `info` names the marked inputs.
    """
    trace = LinearizeTrace(state.trace)
    trace.debug_info = info
    with transformation(None if info is None else "jvp") as outer:
        outs, linear = _run(trace, fun, primals, nonzero, instantiate_outs)
    no_leaks(trace)
    if outer:  # the jaxpr may be evaluated elsewhere
        for eqn in linear.jaxpr.eqns:
            eqn.scope = scope_inside(eqn.scope, outer)
    return outs, linear


def _run(
    trace: LinearizeTrace,
    fun: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    nonzero: Sequence[bool] | None,
    instantiate_outs: Sequence[bool] | None,
) -> tuple[list, LinearMap]:
    marks = nonzero if nonzero is not None else (True,) * len(primals)
    ins = []
    for p, nz in zip(primals, marks, strict=True):
        if nz:
            ins.append(
                LinearizeTracer(trace, p, trace.tangents.new_input(aval_of(p).to_tangent_aval()))
            )
        else:
            ins.append(p)
    try:
        with entered(trace):
            pairs = [trace.unwrap(out) for out in fun(*ins)]
        # a cotangent of the type of an output becomes one of the type of an input, then
        with current(trace.tangents):
            pairs = [(p, as_weak_as(p, t)) for p, t in pairs]
    finally:
        trace.alive = trace.tangents.alive = False
    outs = [p for p, _ in pairs]
    indices: list[Any] = []
    some = []
    for i, (_, t) in enumerate(pairs):
        if type(t) is Zero and instantiate_outs is not None and instantiate_outs[i]:
            with current(trace.parent):
                t = trace.tangents.lift(instantiate(t))
        if type(t) is Zero:
            indices.append(t)
        else:
            indices.append(len(some))
            some.append(t)
    jaxpr, residuals = trace.tangents.finish(some)
    return outs, LinearMap(jaxpr, residuals, indices)


def linearize_jaxpr(
    jaxpr: ClosedJaxpr, nonzero: tuple[bool, ...], instantiate_outs: tuple[bool, ...] | None = None
) -> LinearizedJaxpr:
    """Split the derivative of a jaxpr without constants into a known and a linear jaxpr. Cached.

    Outputs marked in `instantiate_outs` get a tangent even if it is zero.
    """
    key = (memo_keys.LINEARIZE, nonzero, instantiate_outs)
    found = jaxpr.jaxpr.memo.get(key)
    if found is None:
        found = _linearize_jaxpr(jaxpr, nonzero, instantiate_outs)
        if not any(map(belongs_to_trace, found.known.consts)):
            jaxpr.jaxpr.memo[key] = found
    return found


class LinearizedJaxpr:
    """`known`: inputs -> outputs and new residuals; `linear`: residuals and tangents -> tangents.

    A residual that is an input of the jaxpr is not an output of `known`: `residuals[i]` is ("in", k) for
    input k or ("out", k) for output k of `known`.
    """

    __slots__ = ("known", "linear", "nonzero_out", "residuals")

    def __init__(
        self, known: ClosedJaxpr, linear: ClosedJaxpr, residuals: list, nonzero_out: tuple
    ) -> None:
        self.known = known
        self.linear = linear
        self.residuals = residuals
        self.nonzero_out = nonzero_out

    def pick(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> list:
        """Return the values of the residuals, given the inputs and outputs of `known`."""
        return [(inputs if where == "in" else outputs)[k] for where, k in self.residuals]


def _linearize_jaxpr(
    jaxpr: ClosedJaxpr, nonzero: tuple[bool, ...], instantiate_outs: tuple[bool, ...] | None
) -> LinearizedJaxpr:
    inner = jaxpr.jaxpr
    recorded: list[tuple[Jaxpr, list]] = []

    def run(*args: Any) -> list:
        outs, linear = linearize_flat(
            lambda *xs: eval_jaxpr(inner, jaxpr.consts, *xs), args, nonzero, instantiate_outs
        )
        recorded.append((linear.jaxpr, linear.out_tangents))
        return [*outs, *linear.residuals]

    known, consts = stage(run, inner.in_avals, inner.debug_info)
    ((linear, out_tangents),) = recorded
    linear_eqns = prune_jaxpr(linear)
    needed = {v for e in linear_eqns.eqns for v in e.invars if type(v) is Var}
    needed.update(v for v in linear_eqns.outvars if type(v) is Var)
    n_out = len(inner.outvars)
    sources: dict[Any, tuple[str, int]] = {v: ("in", i) for i, v in enumerate(known.invars)}
    for i, v in enumerate(known.outvars[:n_out]):
        if type(v) is Var:
            sources.setdefault(v, ("out", i))
    outvars = known.outvars[:n_out]
    residuals, literals = [], {}
    residual_vars = []
    for var, atom in zip(linear.constvars, known.outvars[n_out:], strict=True):
        if var not in needed:
            continue
        if type(atom) is Literal:
            literals[var] = atom
            continue
        if atom not in sources:
            sources[atom] = ("out", len(outvars))
            outvars.append(atom)
        residuals.append(sources[atom])
        residual_vars.append(var)
    known_jaxpr = prune_jaxpr(known.replace(outvars=outvars))
    known_jaxpr.memo[memo_keys.RESULTS] = n_out
    linear_jaxpr = _substitute(linear_eqns, literals, residual_vars)
    marks = tuple(type(t) is not Zero for t in out_tangents)
    return LinearizedJaxpr(
        ClosedJaxpr(known_jaxpr, consts), ClosedJaxpr(linear_jaxpr, ()), residuals, marks
    )


def _substitute(jaxpr: Jaxpr, literals: dict, constvars: list) -> Jaxpr:
    """Replace some constvars of `jaxpr` by literals, and convert the others to leading inputs."""

    def sub(atom: Any) -> Any:
        return literals.get(atom, atom) if type(atom) is Var else atom

    eqns = (
        [e.replace(invars=[sub(v) for v in e.invars]) for e in jaxpr.eqns]
        if literals
        else jaxpr.eqns
    )
    outvars = [sub(v) for v in jaxpr.outvars]
    return Jaxpr((), [*constvars, *jaxpr.invars], outvars, eqns, jaxpr.effects, jaxpr.debug_info)
