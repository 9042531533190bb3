"""Stage functions: run them on tracers, and record jaxprs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, garbage_collector, xla
from sagax._src.core import avals, dims, dtypes, memo_keys
from sagax._src.core.effects import no_effects
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, Eqn, Jaxpr, Literal, Var, no_debug_info
from sagax._src.core.references import AbstractRef, Ref
from sagax._src.core.trace import Trace, Tracer, entered, leaked, no_leaks, state
from sagax._src.core.value import aval_of, numpy_aval, sockets
from sagax._src.diagnostics.errors import InconclusiveDimensionOperation, SagaxError
from sagax._src.source_stacks import apart, capture, joined, written

_SCALARS = (bool, int, float, complex)


class StagedTracer(Tracer):
    """Represent a variable of the jaxpr under construction."""

    __slots__ = ("_var",)

    def __init__(self, trace: StageTrace, aval: Any, var: Var) -> None:
        self._trace = trace
        self.aval = aval
        self._var = var

    def __repr__(self) -> str:
        return f"JitTracer({self._parts()})"


_thread = config.thread


class StageTrace(Trace):
    """Record equations. Values of outer traces become additional inputs (`captured`)."""

    __slots__ = (
        "argument_links",
        "captured",
        "equations",
        "here",
        "invar_paths",
        "invars",
    )

    records = True

    def __init__(self, parent: Trace | None, debug_info: DebugInfo = no_debug_info) -> None:
        self.parent = parent
        self.alive = True
        self.axis = None
        self.debug_info = debug_info
        self.equations: list[Eqn] = []
        self.invars: list[Var] = []
        # id of a captured value -> (its variable, the value); the reference keeps the id valid
        self.captured: dict[int, tuple[Var, Any]] = {}
        # for messages: the user's name of an input; the outer value that it represents
        self.invar_paths: dict[Var, str] = {}
        self.argument_links: dict[Var, Any] = {}
        self.here = written.here

    def new_input(self, aval: Any, path: str | None = None) -> Any:
        """Return a tracer for one more input of the jaxpr."""
        var = Var(aval)
        self.invars.append(var)
        if path is not None:
            self.invar_paths[var] = path
        if type(aval) is AbstractRef:
            return Ref(aval, self, var=var)
        return StagedTracer(self, aval, var)

    def atom(self, x: Any) -> Any:
        """Return the variable or literal of `x` in this jaxpr."""
        if type(x) is StagedTracer and x._trace is self:
            return x._var
        kind = type(x)
        if kind in _SCALARS:
            aval = avals.scalar_aval(kind, _thread.settings.x64)
            if type(x) is int and not -0x8000_0000 <= x <= 0x7FFF_FFFF:  # rare: ask once more
                dtypes.check_python_int(x, aval.dtype)
            return Literal(x, aval)
        if isinstance(x, Tracer):
            if not (x._trace.alive and x._trace.encloses(self)):
                raise leaked(x)
            return self._capture(x, x.aval)
        if type(x) is Ref:
            return self._reference(x)
        if isinstance(x, np.generic):
            aval = numpy_aval(x, _thread.settings.x64)
            return Literal(np.asarray(x, aval.dtype)[()], aval)
        if isinstance(x, np.ndarray):
            aval = numpy_aval(x, _thread.settings.x64)
            if aval.shape == ():
                return Literal(np.asarray(x, aval.dtype)[()], aval)
            known = self.captured.get(id(x))
            return known[0] if known is not None else self._capture(x, aval)
        if hasattr(x, "__jax_array__"):
            return self.atom(apart(x.__jax_array__))
        aval = aval_of(x)
        if not (hasattr(x, "aval") or aval.is_high):  # a subclass of a Python scalar
            return Literal(x, aval)
        return self._capture(x, aval)

    def _reference(self, ref: Ref) -> Var:
        """Return the variable of a reference; one from outside becomes an additional input."""
        owner = ref._trace
        if owner is self:
            return ref._var
        if owner is not None and not (owner.alive and owner.encloses(self)):
            raise leaked(ref)
        return self._capture(ref, ref.aval)

    def _capture(self, x: Any, aval: Any) -> Var:
        known = self.captured.get(id(x))
        if known is not None:
            return known[0]
        var = Var(aval)
        self.captured[id(x)] = (var, x)
        return var

    def lift(self, x: Any) -> StagedTracer:
        """Convert `x` to a tracer of this trace (a literal stays an atom without input)."""
        if type(x) is StagedTracer and x._trace is self:
            return x
        atom = self.atom(x)
        if type(atom) is Literal:
            return self._capture_literal(x, atom)
        return StagedTracer(self, atom.aval, atom)

    def _capture_literal(self, x: Any, literal: Literal) -> StagedTracer:
        value = sockets.concrete(x)
        return StagedTracer(self, literal.aval, self._capture(value, literal.aval))

    def record(self, primitive: Any, args: tuple, params: dict) -> Any:
        """Append an equation and return its results. Called by the primitive's staging rule."""
        return StageTrace.process(self, primitive, args, params, False)

    # Inlines `record`, to save a call and a stack frame for each equation.
    def process(self, primitive: Any, args: tuple, params: dict, by_its_rule: bool = True) -> Any:
        if primitive.stage_rule is not None and by_its_rule:
            return primitive.stage_rule(self, args, params)
        ins = []
        in_avals = []
        for a in args:
            if type(a) is StagedTracer and a._trace is self:
                ins.append(a._var)
                in_avals.append(a.aval)
            else:
                atom = self.atom(a)
                ins.append(atom)
                in_avals.append(atom.aval)
        try:
            out = primitive.abstract_eval(tuple(in_avals), params)
        except SagaxError as error:  # rules know types only
            raise error.about_operands(args) from None
        effects = (
            primitive.effects_rule(**params) if primitive.effects_rule is not None else no_effects
        )
        here = self.here
        traceback, outer = here.origin, here.around
        if traceback is None:
            traceback, outer = capture(), here.outer
        if primitive.multiple_results:
            outvars = [Var(a) for a in out]
            self.equations.append(
                Eqn(primitive, ins, outvars, params, effects, traceback, here.scope, outer)
            )
            return [StagedTracer(self, v.aval, v) for v in outvars]
        var = Var(out)
        self.equations.append(
            Eqn(primitive, ins, [var], params, effects, traceback, here.scope, outer)
        )
        return StagedTracer(self, out, var)

    def finish(self, outs: Sequence[Any]) -> tuple[Jaxpr, list]:
        """Return the jaxpr recorded so far with these outputs, and the values of its constvars."""
        atoms = [self.atom(x) for x in outs]
        pairs = list(self.captured.values())
        jaxpr = Jaxpr(
            [v for v, _ in pairs], self.invars, atoms, self.equations, None, self.debug_info
        )
        return jaxpr, [x for _, x in pairs]


def stage(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[Any],
    debug_info: DebugInfo = no_debug_info,
) -> tuple[Jaxpr, list]:
    """Record `fun`, which takes and returns flat values, on inputs of the given avals.

    Returns the jaxpr and the values that it captured (arrays, or tracers of outer transformations), one
    for each of its constvars.
    """
    trace = StageTrace(state.trace, debug_info)
    run = _run if garbage_collector.are_rare() else _run_outermost
    result = run(trace, fun, in_avals)
    no_leaks(trace)
    return result


def _run(
    trace: StageTrace, fun: Callable[..., Sequence[Any]], in_avals: Sequence[Any]
) -> tuple[Jaxpr, list]:
    names = trace.debug_info.arg_names
    ins = [trace.new_input(a, names[i] if i < len(names) else None) for i, a in enumerate(in_avals)]
    here = trace.here
    before = here.state()
    here.restore((_thread.settings.xla_metadata, None, None, joined(capture(), here.outer)))
    try:
        with xla.TracebackScope(), entered(trace):
            if config.current().masks == "lazy":
                with sockets.enter_mask_trace(trace) as check:
                    outs = fun(*ins)
                    check(outs)
                return trace.finish(outs)
            return trace.finish(fun(*ins))
    except InconclusiveDimensionOperation as error:
        sized = tuple(p for v, p in trace.invar_paths.items() if not dims.is_static(v.aval.shape))
        if sized:
            error.attach(about=(sized, trace.debug_info.func_name))
        raise
    finally:
        here.restore(before)


_run_outermost = garbage_collector.with_rare_collections(_run)


def stage_closed(
    fun: Callable[..., Sequence[Any]],
    in_avals: Sequence[Any],
    debug_info: DebugInfo = no_debug_info,
) -> ClosedJaxpr:
    """Record `fun` as one closed jaxpr, as `stage` does."""
    jaxpr, consts = stage(fun, in_avals, debug_info)
    return ClosedJaxpr(jaxpr, consts)


def hoist_constants(jaxpr: Jaxpr) -> Jaxpr:
    """Convert the constvars of a jaxpr to leading inputs."""
    if not jaxpr.constvars:
        return jaxpr
    found = jaxpr.memo.get(memo_keys.HOISTED_CONSTANTS)
    if found is None:
        found = Jaxpr(
            (),
            [*jaxpr.constvars, *jaxpr.invars],
            jaxpr.outvars,
            jaxpr.eqns,
            jaxpr.effects,
            jaxpr.debug_info,
        )
        if memo_keys.RESULTS in jaxpr.memo:
            found.memo[memo_keys.RESULTS] = jaxpr.memo[memo_keys.RESULTS]
        jaxpr.memo[memo_keys.HOISTED_CONSTANTS] = found
    return found
