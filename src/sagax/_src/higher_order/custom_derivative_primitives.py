"""Define the primitives of `custom_jvp` and `custom_vjp`."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sagax._src import trees
from sagax._src.argument_checks.checks import distinct_references
from sagax._src.core import dims, dtypes
from sagax._src.core.families import HIGHER_ORDER, UNTRACKED, Default
from sagax._src.core.jaxpr import ClosedJaxpr, DebugInfo, FunctionParam, Jaxpr, Var, eval_jaxpr
from sagax._src.core.operands import CallOperands
from sagax._src.core.primitive import HigherOrderPrimitive, Primitive
from sagax._src.core.staging import StageTrace, hoist_constants, stage
from sagax._src.core.tangents import Zero, nonzero_marks, nonzero_tangents, spread_tangents
from sagax._src.core.trace import belongs_to_trace, current, state
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.boundary import function_code
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.diagnostics.spans import is_user_file
from sagax._src.higher_order import trace_cache
from sagax._src.higher_order.call import call as call_jaxpr
from sagax._src.higher_order.call import jit_p
from sagax._src.primitives.structural import instantiate, reduce_sum
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.source_stacks import apart
from sagax._src.transforms.batch import batch_flat, move_batch_dim
from sagax._src.transforms.discharge import is_final

if TYPE_CHECKING:
    from sagax._src.transforms.linearize import TangentTrace

# The function -------------------------------------------------------------------------------------


class FunctionKey(NamedTuple):
    """Identify a flat function by the functions and plain values that it was created from.

    `cell` receives facts about the result when the function has run.
    """

    functions: tuple
    details: tuple
    cell: list


class _Staged(NamedTuple):
    jaxpr: ClosedJaxpr
    consts: list
    cell: list


class StageableFunction(FunctionParam):
    """The flat function itself: Python code until it is staged, then a jaxpr with captured values as leading
    operands. Functions with equal keys are staged only the first time."""

    __slots__ = ("fun", "jaxpr", "function_key", "name", "n_consts")

    def __init__(
        self,
        fun: Callable | None,
        name: str,
        jaxpr: ClosedJaxpr | None = None,
        n_consts: int = 0,
        function_key: FunctionKey | None = None,
    ) -> None:
        self.function_key = function_key
        self.fun = fun
        self.name = name
        self.jaxpr = jaxpr
        self.n_consts = n_consts

    def run(self, *args: Any) -> list:
        if self.jaxpr is not None:
            return eval_jaxpr(self.jaxpr.jaxpr, (), *args)
        return list(self.fun(*args))  # type: ignore[misc]

    def staged(self, args: Sequence[Any]) -> tuple[StageableFunction, list]:
        """Return the function as a jaxpr, and the values that it captured."""
        avals, function_key = [aval_of(a) for a in args], self.function_key

        def trace_function() -> _Staged:
            info = DebugInfo(self.name, code=function_code(getattr(self.fun, "user", None)))
            jaxpr, consts = stage(self.run, avals, info)
            closed = ClosedJaxpr(hoist_constants(jaxpr), ())
            return _Staged(closed, consts, [] if function_key is None else list(function_key.cell))

        if function_key is None:
            found = trace_function()
        else:
            found = trace_cache.traced(
                function_key.functions, (*function_key.details, *avals), trace_function
            )
            function_key.cell[:] = found.cell
        return StageableFunction(None, self.name, found.jaxpr, len(found.consts)), list(
            found.consts
        )

    def with_consts(self, consts: Sequence[Any]) -> StageableFunction:
        """Return the same function with more leading operands, which only its rules use."""
        extra = [Var(aval_of(c)) for c in consts[self.n_consts :]]
        if not extra:
            return self
        inner, n = self.jaxpr.jaxpr, self.n_consts  # type: ignore[union-attr]
        wider = inner.replace(invars=[*inner.invars[:n], *extra, *inner.invars[n:]])
        return StageableFunction(None, self.name, ClosedJaxpr(wider, ()), len(consts))

    def rewritten(self, rewrite: Callable[[Any], Any]) -> StageableFunction:
        """Return the same function, with its jaxpr mapped by `rewrite`; itself if that is unchanged."""
        found = rewrite(self.jaxpr)
        return (
            self
            if found is self.jaxpr
            else StageableFunction(None, self.name, found, self.n_consts)
        )


class FlatFunction:
    """A flat function that exposes the user's function behind it.

    Its operations are attributed to the user's own lines, whichever jaxpr calls it.
    """

    __slots__ = ("__closure__", "by_user", "fun", "user")

    def __init__(self, fun: Callable, *behind: Any) -> None:
        self.fun = fun
        self.user = behind[0]
        self.__closure__ = tuple(types.CellType(b) for b in behind)
        code = function_code(self.user)
        self.by_user = code is not None and is_user_file(code.co_filename)

    def __call__(self, *args: Any) -> Any:
        return apart(self.fun, *args) if self.by_user else self.fun(*args)


def _closes_over_tracers(fun: Any, depth: int = 4) -> bool:
    """Return whether a function captures tracers that will be dead when its rule runs."""
    if depth == 0:
        return False
    if isinstance(fun, functools.partial):
        parts = (fun.func, *fun.args, *fun.keywords.values())
        return any(_closes_over_tracers(p, depth - 1) for p in parts)
    if belongs_to_trace(fun):
        return True
    for cell in getattr(fun, "__closure__", None) or ():
        try:
            value = cell.cell_contents
        except ValueError:  # an empty cell
            continue
        if callable(value) and _closes_over_tracers(value, depth - 1):
            return True
        for x in _leaves(value):
            if belongs_to_trace(x) or (callable(x) and _closes_over_tracers(x, depth - 1)):
                return True
    return False


def _leaves(value: Any) -> list:
    try:
        return trees.leaves(value)
    except (ValueError, TypeError):
        return []


def _stage_inner(trace: StageTrace, primitive: Primitive, args: tuple, params: dict) -> Any:
    inner: StageableFunction = params["inner"]
    if inner.jaxpr is not None:
        return trace.record(primitive, args, params)
    with current(trace):
        values = [trace.lift(a) if not hasattr(a, "aval") else a for a in args]
        staged, consts = inner.staged(values)
        distinct_references(
            f"{primitive.name.removesuffix('_call')} of {inner.name}", consts, values, "it"
        )
        rules = _bound(params["rules"], consts, values)
        staged = staged.with_consts(consts)
    return trace.record(primitive, (*consts, *args), {**params, "inner": staged, "rules": rules})


def bind_closed(
    primitive: Primitive, args: Sequence[Any], inner: StageableFunction, rules: Any
) -> list:
    """Bind a function with custom rules; traced values that it or its rules capture become operands."""
    trace = state.trace
    if trace is None or trace.parent is None or isinstance(trace, StageTrace):
        return primitive.bind(*args, inner=inner, rules=rules)  # no tracers, or staged there
    if not (_closes_over_tracers(inner.fun) or rules.closes_over_tracers()):
        return primitive.bind(*args, inner=inner, rules=rules)
    staged, consts = inner.staged(args)
    distinct_references(
        f"{primitive.name.removesuffix('_call')} of {inner.name}", consts, args, "it"
    )
    rules = _bound(rules, consts, args)
    return primitive.bind(*consts, *args, inner=staged.with_consts(consts), rules=rules)


class _Binding(threading.local):
    rules: frozenset = frozenset()


_binding = _Binding()


def _bound(rules: Any, consts: list, values: Sequence[Any]) -> Any:
    """Stage rules so that they outlive the current trace. A rule may call the function that it belongs to:
    inside, that call keeps the rule unstaged."""
    user = rules.user()
    if user in _binding.rules:
        return rules
    before = _binding.rules
    _binding.rules = before | {user}
    try:
        return rules.bound(consts, values)
    finally:
        _binding.rules = before


def _user(rule: Callable) -> Any:
    """Return the user's rule behind one that was made of it."""
    return getattr(rule, "user", rule)


# custom_jvp -----------------------------------------------------------------------------------------

custom_jvp_p = HigherOrderPrimitive(
    "custom_jvp_call", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
custom_jvp_p.is_call = True


class JvpRules:
    """The jvp rule on flat values: (primals, tangents) -> (outs, tangents out)."""

    __slots__ = ("jvp", "symbolic_zeros")

    def __init__(self, jvp: Callable, symbolic_zeros: bool) -> None:
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros

    def user(self) -> int:
        """Return the user's rule, as part of a key."""
        return id(_user(self.jvp))

    def closes_over_tracers(self) -> bool:
        return _closes_over_tracers(self.jvp)

    def bound(self, consts: list, args: Sequence[Any]) -> JvpRules:
        """Stage rules that capture tracers, so that they outlive the current trace."""
        if not self.closes_over_tracers():
            return self
        jvp, n = self.jvp, len(args)
        tangents = [aval_of(a).to_tangent_aval() for a in args]
        differentiable = [i for i, t in enumerate(tangents) if t.dtype != dtypes.float0]

        def fun(*xs: Any) -> list:
            given = iter(xs[n:])
            full = [next(given) if i in differentiable else Zero(t) for i, t in enumerate(tangents)]
            outs, out_tangents = jvp(xs[:n], full)
            return [*outs, *(instantiate(t) for t in out_tangents)]

        jaxpr, captured = stage(
            fun, [*(aval_of(a) for a in args), *(tangents[i] for i in differentiable)]
        )
        order = [_position(c, consts) for c in captured]
        return StagedJvpRules(
            ClosedJaxpr(hoist_constants(jaxpr), ()), order, differentiable, self.symbolic_zeros
        )


def _position(value: Any, consts: list) -> int:
    for i, c in enumerate(consts):
        if c is value:
            return i
    consts.append(value)
    return len(consts) - 1


class StagedJvpRules(JvpRules):
    """A rule as a jaxpr, with its captured values among the leading operands."""

    __slots__ = ("captured", "closed", "differentiable")

    def __init__(
        self,
        closed: ClosedJaxpr,
        captured: list[int],
        differentiable: list[int],
        symbolic_zeros: bool,
    ) -> None:
        super().__init__(self._none, symbolic_zeros)
        self.closed, self.captured, self.differentiable = closed, captured, differentiable

    @staticmethod
    def _none(*_: Any) -> Any:
        raise AssertionError("a staged rule is run with its captured values")

    def run(
        self, consts: Sequence[Any], primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[list, list]:
        given = [instantiate(tangents[i]) for i in self.differentiable]
        outs = eval_jaxpr(
            self.closed.jaxpr, (), *(consts[i] for i in self.captured), *primals, *given
        )
        return outs[: len(outs) // 2], outs[len(outs) // 2 :]


@custom_jvp_p.stage
def _(trace: StageTrace, args: tuple, params: dict) -> Any:
    return _stage_inner(trace, custom_jvp_p, args, params)


custom_jvp_p.sets_vma = True


@custom_jvp_p.abstract
def _(*avals: Any, inner: StageableFunction, rules: JvpRules) -> list:
    return inner.jaxpr.out_avals  # type: ignore[union-attr]


@custom_jvp_p.effect
def _(*, inner: StageableFunction, rules: JvpRules) -> frozenset:
    return inner.jaxpr.effects  # type: ignore[union-attr]


@custom_jvp_p.show
def _(*, inner: StageableFunction, rules: JvpRules) -> dict:
    return {
        "name": inner.name,
        "call_jaxpr": inner.jaxpr,
        "num_consts": inner.n_consts,
        "symbolic_zeros": rules.symbolic_zeros,
    }


def _evaluate(*args: Any, inner: StageableFunction, rules: Any) -> list:
    """Run the function eagerly, with Python control flow if it is not staged."""
    if inner.jaxpr is not None:
        return call_jaxpr(inner.jaxpr, args, name=inner.name)
    return inner.run(*args)


custom_jvp_p.impl = _evaluate


@custom_jvp_p.reference
def _(*args: Any, inner: StageableFunction, rules: Any) -> list:
    return inner.run(*args)


def _discharge(
    args: Sequence, owned: Sequence[bool], *, inner: StageableFunction, rules: Any
) -> list:
    """Run the function itself, which reads and writes the references."""
    if not is_final():
        raise UnsupportedError(
            f"{inner.name}, which has a derivative rule of its own, is applied to a reference that was created "
            "inside of the differentiated function",
            function=inner.name,
            fix="create the reference outside of that function, or pass its contents",
        )
    return inner.run(*args)


custom_jvp_p.discharge_rule = _discharge


@custom_jvp_p.lower
def _(b: Any, *args: Any, inner: StageableFunction, rules: Any) -> list:
    return b.call_in_steps(inner.jaxpr.jaxpr, args, inner.name)  # type: ignore[union-attr]


def _rule_arguments(
    function: str, inner: StageableFunction, primals: Sequence, tangents: Sequence
) -> tuple[list, list, list]:
    """Split operands into captured values, which the rule does not cover, arguments, and their tangents."""
    values = CallOperands.split(primals, inner.n_consts)
    moving = values.like(tangents)
    if any(nonzero_marks(moving.captured)):
        raise ArgumentError(
            f"{inner.name} is differentiated with respect to a value that it closes over, but its custom rule only covers its arguments",
            function=function,
            fix="pass the value as an argument, or wrap it in lax.stop_gradient",
        )
    return values.captured, values.arguments, moving.arguments


def _apply_jvp(
    primals: Sequence, tangents: Sequence, *, inner: StageableFunction, rules: JvpRules
) -> tuple:
    """Apply the rule."""
    captured, arguments, moving = _rule_arguments("custom_jvp", inner, primals, tangents)
    if isinstance(rules, StagedJvpRules):
        return rules.run(captured, arguments, moving)
    outs, out_tangents = rules.jvp(arguments, moving)
    return list(outs), list(out_tangents)


custom_jvp_p.jvp_rule = _apply_jvp


@custom_jvp_p.linearize
def _(primals: Sequence, tangents: Sequence, *, inner: StageableFunction, rules: JvpRules) -> tuple:
    """Apply the rule. Its operations on tangents are recorded one by one, with the types that a user sees."""
    trace = cast("TangentTrace", state.trace)
    before, trace.promotes = trace.promotes, True
    try:
        return _apply_jvp(primals, tangents, inner=inner, rules=rules)
    finally:
        trace.promotes = before


@custom_jvp_p.transpose
def _(cts: Sequence, *args: Any, inner: StageableFunction, rules: Any) -> list:
    """Transpose the function itself, which must be linear in its linear operands; ignore its rule."""
    return jit_p.rule("transpose")(cts, *args, jaxpr=inner.jaxpr, name=inner.name)


@custom_jvp_p.batch
def _(
    axis: Any, args: Sequence, in_dims: Sequence, *, inner: StageableFunction, rules: JvpRules
) -> tuple:
    def fun(*xs: Any) -> list:
        outs, out_dims = batch_flat(inner.run, axis, xs, in_dims)
        return [move_batch_dim(x, d, 0, axis) for x, d in zip(outs, out_dims, strict=True)]

    def jvp(primals: Sequence, tangents: Sequence) -> tuple[list, list]:
        live = nonzero_marks(tangents)
        ins = [*primals, *nonzero_tangents(tangents)]
        dims_all = [*in_dims, *compress(in_dims, live)]

        def both(*xs: Any) -> list:
            ps = xs[: len(primals)]
            full = spread_tangents(xs[len(ps) :], live, list(map(aval_of, ps)))
            outs, out_ts = _apply_jvp(ps, full, inner=inner, rules=rules)
            return [*outs, *(instantiate(t) for t in out_ts)]

        outs, out_dims = batch_flat(both, axis, ins, dims_all)
        moved = [move_batch_dim(x, d, 0, axis) for x, d in zip(outs, out_dims, strict=True)]
        half = len(moved) // 2
        return moved[:half], moved[half:]

    jvp.user = _user(rules.jvp)  # type: ignore[attr-defined]  # or a rule that calls its function has no end
    outs = custom_jvp_p.bind(
        *args, inner=StageableFunction(fun, inner.name), rules=JvpRules(jvp, rules.symbolic_zeros)
    )
    return outs, [0] * len(outs)


# custom_vjp -----------------------------------------------------------------------------------------

custom_vjp_p = HigherOrderPrimitive(
    "custom_vjp_call", family=HIGHER_ORDER, multiple_results=True, is_higher_order=True
)
custom_vjp_p.is_call = True
# The linear part of such a function: residuals and tangents -> tangents, defined by its transpose only.
custom_lin_p = HigherOrderPrimitive(
    "custom_lin",
    family=HIGHER_ORDER,
    check_rule=Default("it stands for a derivative: what was computed is checked"),
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)


@custom_lin_p.discharge
def _(args: Sequence, owned: Sequence[bool], *, name: str, **_: Any) -> list:
    raise UnsupportedError(
        f"the linear part of {name} holds a reference, and has no value before it is transposed",
        function=name,
        fix="use reverse mode: grad, vjp or jacrev",
    )


class VjpRules:
    """fwd(values, differentiated) -> (outs, residuals); bwd(residuals, cotangents) -> cotangents."""

    __slots__ = ("bwd", "fwd", "optimize_remat", "symbolic_zeros")

    def __init__(
        self, fwd: Callable, bwd: Callable, symbolic_zeros: bool, optimize_remat: bool = False
    ) -> None:
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = symbolic_zeros
        self.optimize_remat = optimize_remat

    def user(self) -> int:
        """Return the user's rule, as part of a key."""
        return id(_user(self.bwd))

    def closes_over_tracers(self) -> bool:
        return _closes_over_tracers(self.fwd) or _closes_over_tracers(self.bwd)

    def bound(self, consts: Sequence[Any], args: Sequence[Any]) -> VjpRules:
        """Stage rules so that they outlive the current trace."""
        if not self.closes_over_tracers():
            return self
        return _bound_vjp(self, consts, args)


def _bound_vjp(rules: VjpRules, consts: Any, args: Sequence[Any]) -> VjpRules:
    """Stage both rules; values captured by the backward rule become residuals of the forward rule."""
    marks = [dtypes.is_inexact(aval_of(a).dtype) for a in args]
    n_out: list[int] = []

    def forward(*xs: Any) -> list:
        outs, residuals = rules.fwd(xs, marks)
        n_out.append(len(outs))
        return [*outs, *residuals]

    fwd_jaxpr, fwd_captured = stage(forward, [aval_of(a) for a in args])
    count = n_out[0]
    out_avals, res_avals = fwd_jaxpr.out_avals[:count], fwd_jaxpr.out_avals[count:]
    has_cotangent: list[Any] = []

    def backward(*xs: Any) -> list:
        found = rules.bwd(xs[: len(res_avals)], xs[len(res_avals) :])
        has_cotangent[:] = [c is not None and type(c) is not Zero for c in found]
        return [c for c, w in zip(found, has_cotangent, strict=True) if w]

    ct_avals = [a.to_tangent_aval() for a in out_avals]
    bwd_jaxpr, bwd_captured = stage(backward, [*res_avals, *ct_avals])
    fwd_at = [_position(c, consts) for c in fwd_captured]
    bwd_at = [_position(c, consts) for c in bwd_captured]

    def fwd(xs: Sequence[Any], _: Any, captured: Sequence[Any] = ()) -> tuple[list, list]:
        outs = eval_jaxpr(fwd_jaxpr, [captured[i] for i in fwd_at], *xs)
        return outs[:count], [*outs[count:], *(captured[i] for i in bwd_at)]

    def bwd(residuals: Sequence[Any], cts: Sequence[Any]) -> list:
        own = residuals[: len(res_avals)]
        found = iter(
            eval_jaxpr(bwd_jaxpr, residuals[len(res_avals) :], *own, *(instantiate(c) for c in cts))
        )
        return [next(found) if w else None for w in has_cotangent]

    return StagedVjpRules(fwd, bwd, rules.symbolic_zeros, rules.optimize_remat)


class StagedVjpRules(VjpRules):
    """Rules whose forward part needs the captured values, which are leading operands of the call."""

    __slots__ = ()

    def bound(self, consts: Sequence[Any], args: Sequence[Any]) -> VjpRules:
        return self


@custom_vjp_p.stage
def _(trace: StageTrace, args: tuple, params: dict) -> Any:
    return _stage_inner(trace, custom_vjp_p, args, params)


custom_vjp_p.sets_vma = True
custom_vjp_p.abstract_rule = custom_jvp_p.abstract_rule
custom_vjp_p.effects_rule = custom_jvp_p.effects_rule
custom_vjp_p.show_rule = custom_jvp_p.show_rule
custom_vjp_p.reference_rule = custom_jvp_p.reference_rule
custom_vjp_p.lower_rule = custom_jvp_p.lower_rule
custom_vjp_p.impl = _evaluate
custom_vjp_p.discharge_rule = _discharge


# Forward mode records the linear part, too: only its evaluation is an error. A forward rule may call the function
# itself, and its derivative often ends unused there.
@custom_vjp_p.jvp
@custom_vjp_p.linearize
def _(primals: Sequence, tangents: Sequence, *, inner: StageableFunction, rules: VjpRules) -> tuple:
    captured, arguments, moving = _rule_arguments("custom_vjp", inner, primals, tangents)
    marks = nonzero_marks(moving)
    outs, residuals = _forward(inner, rules, captured, arguments, marks)
    if inner.jaxpr is not None:
        _check_forward(inner, outs)
    out_avals = tuple(aval_of(o).to_tangent_aval() for o in outs)
    in_avals = tuple(aval_of(p).to_tangent_aval() for p in arguments)
    live = [a.dtype != dtypes.float0 for a in out_avals]
    pushed = custom_lin_p.bind(
        *residuals,
        *nonzero_tangents(moving),
        n_residuals=len(residuals),
        marks=marks,
        in_avals=in_avals,
        out_avals=out_avals,
        live=tuple(compress(range(len(live)), live)),
        rules=rules,
        name=inner.name,
    )
    return list(outs), spread_tangents(pushed, live, out_avals)


def _forward(
    inner: StageableFunction,
    rules: VjpRules,
    consts: Sequence,
    primals: Sequence,
    marks: Sequence[bool],
) -> tuple[Sequence, Sequence]:
    """Return outputs and residuals by the forward rule."""
    n_consts, n_out = len(consts), [0]

    def run(*xs: Any) -> list:
        if isinstance(rules, StagedVjpRules):
            outs, residuals = rules.fwd(xs[n_consts:], marks, xs[:n_consts])
        else:
            outs, residuals = rules.fwd(xs[n_consts:], marks)
        n_out[0] = len(outs)
        return [*outs, *residuals]

    if inner.jaxpr is None or not rules.optimize_remat:
        found = run(*consts, *primals)
    else:  # one operation, for which checkpoint may save only the value
        operands = [*consts, *primals]
        jaxpr, captured = stage(run, [aval_of(x) for x in operands], DebugInfo(inner.name))
        value = inner.jaxpr.jaxpr
        extra = [Var(aval_of(c)) for c in captured]
        found = remat_opt_p.bind(
            *captured,
            *operands,
            fwd=ClosedJaxpr(hoist_constants(jaxpr), ()),
            value=ClosedJaxpr(value.replace(invars=[*extra, *value.invars]), ()),
        )
    return found[: n_out[0]], found[n_out[0] :]


# A forward rule as one operation. If all residuals are unused, `value` computes the outputs.
remat_opt_p = Primitive(
    "remat_opt",
    family=HIGHER_ORDER,
    key_rule=UNTRACKED,
    multiple_results=True,
    is_higher_order=True,
)


remat_opt_p.sets_vma = True


@remat_opt_p.abstract
def _(*avals: Any, fwd: ClosedJaxpr, value: ClosedJaxpr) -> list:
    return fwd.out_avals


@remat_opt_p.effect
def _(*, fwd: ClosedJaxpr, value: ClosedJaxpr) -> frozenset:
    return fwd.effects


@remat_opt_p.composite
def _(*xs: Any, fwd: ClosedJaxpr, value: ClosedJaxpr) -> list:
    return eval_jaxpr(fwd.jaxpr, (), *xs)


remat_opt_p.impl = lambda *xs, fwd, value: call_jaxpr(fwd, xs, name="fwd")


@remat_opt_p.lower
def _(b: Any, *xs: Any, fwd: ClosedJaxpr, value: ClosedJaxpr) -> list:
    return b.call(fwd.jaxpr, xs, "fwd")


def values_only(jaxpr: Jaxpr) -> Jaxpr:
    """Replace forward rules with unused residuals in `jaxpr` by the functions themselves."""
    if not any(e.primitive is remat_opt_p for e in jaxpr.eqns):
        return jaxpr
    read = {v for e in jaxpr.eqns for v in e.invars} | set(jaxpr.outvars)
    eqns = []
    for eqn in jaxpr.eqns:
        if eqn.primitive is remat_opt_p:
            value = eqn.params["value"]
            n = len(value.out_avals)
            if not any(v in read for v in eqn.outvars[n:]):
                params = {"jaxpr": value, "name": "value"}
                eqn = eqn.replace(primitive=jit_p, outvars=eqn.outvars[:n], params=params)
        eqns.append(eqn)
    return jaxpr.replace(eqns=eqns)


def _check_forward(inner: StageableFunction, outs: Sequence[Any]) -> None:
    """Check that the forward rule returns arrays of the same types as the function."""
    for i, (out, expected) in enumerate(zip(outs, inner.jaxpr.out_avals, strict=True)):  # type: ignore[union-attr]
        have = aval_of(out)
        if not dims.same_shape(have.shape, expected.shape) or have.dtype != expected.dtype:
            raise ArgumentError(
                f"Custom VJP fwd rule for function {inner.name} must produce a primal output of the shape and dtype "
                "that the function itself produces",
                function="custom_vjp",
                argument=f"output {i} of fwd",
                expected=expected,
                got=have,
                fix="compute in fwd what the function computes",
            )


custom_lin_p.sets_vma = True


@custom_lin_p.abstract
def _(*avals: Any, out_avals: tuple, live: tuple, **_: Any) -> list:
    return [out_avals[i] for i in live]


def _no_forward(*_: Any, name: str, **__: Any) -> Any:
    raise ArgumentError(
        f"can't apply forward-mode autodiff (jvp) to a custom_vjp function: {name} has a reverse rule only",
        function="custom_vjp",
        fix="use reverse mode (grad, vjp, jacrev), or give the function a custom_jvp rule, which serves both",
    )


custom_lin_p.impl = _no_forward
custom_lin_p.reference_rule = _no_forward
custom_lin_p.lower_rule = _no_forward
custom_lin_p.batch_rule = _no_forward
custom_lin_p.jvp_rule = _no_forward


@custom_lin_p.transpose
def _(
    cts: Sequence,
    *args: Any,
    n_residuals: int,
    marks: tuple,
    in_avals: tuple,
    out_avals: tuple,
    live: tuple,
    rules: VjpRules,
    name: str,
) -> list:
    full: list[Any] = [Zero(a) for a in out_avals]
    for i, ct in zip(live, cts, strict=True):
        full[i] = ct
    found = rules.bwd(args[:n_residuals], full)
    return [*[None] * n_residuals, *compress(found, marks)]


@custom_vjp_p.batch
def _(
    axis: Any, args: Sequence, in_dims: Sequence, *, inner: StageableFunction, rules: VjpRules
) -> tuple:
    n = inner.n_consts
    consts, arg_dims = args[:n], in_dims[n:]

    def fun(*xs: Any) -> list:
        outs, out_dims = batch_flat(inner.run, axis, [*consts, *xs], in_dims)
        return [move_batch_dim(x, d, 0, axis) for x, d in zip(outs, out_dims, strict=True)]

    n_out: list[int] = []

    def fwd(xs: Sequence, marks: Sequence[bool]) -> tuple[list, list]:
        def both(*ys: Any) -> list:
            if isinstance(rules, StagedVjpRules):
                outs, residuals = rules.fwd(ys[n:], marks, ys[:n])
            else:
                outs, residuals = rules.fwd(ys[n:], marks)
            n_out[:] = [len(outs)]
            return [*outs, *residuals]

        found, found_dims = batch_flat(both, axis, [*consts, *xs], in_dims)
        moved = [move_batch_dim(x, d, 0, axis) for x, d in zip(found, found_dims, strict=True)]
        return moved[: n_out[0]], moved[n_out[0] :]

    def bwd(residuals: Sequence, cts: Sequence) -> list:
        live = nonzero_marks(cts)
        nonzero: list[Any] = []

        def run(*ys: Any) -> list:
            rs, given = ys[: len(residuals)], iter(ys[len(residuals) :])
            full = [next(given) if m else _example_zero(c) for m, c in zip(live, cts, strict=True)]
            found = rules.bwd(rs, full)
            nonzero[:] = [c is not None and type(c) is not Zero for c in found]
            return [c for c, k in zip(found, nonzero, strict=True) if k]

        ins = [*residuals, *nonzero_tangents(cts)]
        found, found_dims = batch_flat(run, axis, ins, [0] * len(ins))
        pairs = iter(zip(found, found_dims, strict=True))
        out = []
        for k, d in zip(nonzero, arg_dims, strict=True):
            if not k:
                out.append(None)
                continue
            ct, ct_dim = next(pairs)
            if d is None:  # all examples share the argument: sum their cotangents
                ct = reduce_sum(move_batch_dim(ct, ct_dim, 0, axis), (0,))
            else:
                ct = move_batch_dim(ct, ct_dim, d, axis)
            out.append(ct)
        return out

    bwd.user = _user(rules.bwd)  # type: ignore[attr-defined]  # or a rule that calls its function has no end
    wide = VjpRules(fwd, bwd, rules.symbolic_zeros, rules.optimize_remat)
    outs = bind_closed(custom_vjp_p, args[n:], StageableFunction(fun, inner.name), wide)
    return outs, [0] * len(outs)


def _example_zero(ct: Zero) -> Zero:
    aval = ct.aval
    return Zero(aval.update(shape=aval.shape[1:]))
