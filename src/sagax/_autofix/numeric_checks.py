"""Check numeric hazards: indices out of bounds, integer overflow, NaN gradients.

A call whose jaxpr has such a hazard is computed a second time, operation by operation, with the NumPy
references.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import sagax._src.api.derivatives as derivatives
import sagax.numpy as snp
from sagax._autofix.checks.conversions import cut_integers
from sagax._autofix.checks.dataflow import EagerBroadcasts
from sagax._autofix.checks.lost_updates import check_lost_updates
from sagax._autofix.checks.normalization import (
    EagerNormalization,
    check_normalization,
    has_normalization,
)
from sagax._autofix.checks.precision import (
    check_precision,
    has_precision_hazard,
    is_difference,
    nonfinite_text,
)
from sagax._autofix.checks.rounding import (
    EagerQuotients,
    Quotients,
    RoundedArguments,
    accumulators,
    check_accumulator,
)
from sagax._autofix.repairs.case import base_name
from sagax._src import config, source_stacks, trees
from sagax._src.api import arguments
from sagax._src.api.jit import JitFunction
from sagax._src.api.tracing_utils import make_jaxpr
from sagax._src.core import dtypes
from sagax._src.core.families import Default, Indices
from sagax._src.core.jaxpr import Literal, subjaxprs
from sagax._src.core.operands import LoopOperands, LoopResults, WhileOperands
from sagax._src.core.trace import Tracer, evaluation, state
from sagax._src.diagnostics import cautions, events
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.spans import is_backward, is_sagax, user_span
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.progress import progress_p
from sagax._src.higher_order.remat import remat_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.bitwise import shift_left_p
from sagax._src.primitives.comparison import eq_p
from sagax._src.primitives.scattering import scatter_p

Add = Callable[..., None]
_TIME_LIMIT = 2.0  # seconds for all recomputed calls together
_spent = [0.0]
_now = time.monotonic  # of the system: in trials the clocks of a script stand still


def snapshot_operands(
    jitted: JitFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Any]:
    """Copy the operands of a call to NumPy arrays, before it may donate them."""
    found: list[Any] = []
    try:
        _, *traced = jitted._split(args, kwargs)
    except SagaxError:  # which the call itself raises
        return found
    for leaf in trees.leaves(traced):
        try:
            found.append(np.asarray(leaf) if hasattr(leaf, "dtype") or np.isscalar(leaf) else leaf)
        except Exception:  # keys and deleted arrays, which the call itself explains
            found.append(leaf)
    return found


def install(package: ModuleType, add: Add, busy: Callable[[], bool]) -> None:
    """Check gradients and eager operations."""
    evaluate = evaluation.evaluate
    broadcasts, quotients = EagerBroadcasts(add), EagerQuotients(add)
    normalization = EagerNormalization(add)

    def evaluated(primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        result = evaluate(primitive, args, params)
        check_operation(primitive, args, params, result)
        check_program(primitive, args, params, result)
        return result

    def check_program(
        primitive: Any, args: tuple[Any, ...], params: dict[str, Any], result: Any
    ) -> None:
        """Check a loop, a branch, or a compiled function that a transformation calls, as `vmap(jit(f))(x)` does."""
        called = primitive in (jit_p, progress_p, remat_p)
        if not called and primitive not in (scan_p, while_p, cond_p):
            return
        if busy() or state.trace is not evaluation or _stepping or _spent[0] > _TIME_LIMIT:
            return
        operands = [a if _holds_keys(a) else _as_numpy(a) for a in args]
        if not all(isinstance(x, np.ndarray) or _holds_keys(x) for x in operands):
            return
        with _measured():
            if called:
                inner = params["jaxpr"]
            else:
                inner = make_jaxpr(lambda *xs: primitive.bind(*xs, **params))(*args)
            names = list(inner.jaxpr.debug_info.arg_names) if called else []
            names = names if len(names) == len(operands) else [""] * len(operands)
            _check_hazards(inner, operands, names, add)
            finite = all(np.all(np.isfinite(_as_floats(x))) for x in operands)
            if not called and finite and _has_nan(result):
                _report_nonfinite(inner, operands, names, add, forward=True)

    def check_operation(
        primitive: Any, args: tuple[Any, ...], params: dict[str, Any], result: Any
    ) -> None:
        if busy() or _stepping or state.trace is not evaluation:
            return
        broadcasts.evaluated(primitive, args, params, result)
        quotients.evaluated(primitive, args, result)
        normalization.evaluated(primitive, args, params, result)
        if _has_check(primitive):
            operands = [_as_numpy(a) for a in args]
            if all(isinstance(x, np.ndarray) for x in operands):
                stack = source_stacks.stack()
                problem = _check_operation(primitive, operands, params, _as_numpy(result), stack)
                if problem is not None:
                    add(*problem, stack)

    evaluation.evaluate = evaluated  # type: ignore[method-assign]  # a socket
    events.operation_evaluated.function = check_operation
    _watch_static_indices(add, busy)
    for name in ("value_and_grad", "grad"):
        _watch_gradient(package, name, getattr(derivatives, name), add, busy)
    # gradients within are those of examples, whose values are known behind it
    for name in ("vmap", "jacfwd", "jacrev", "hessian"):
        _watch_gradient(package, name, getattr(package, name), add, busy)
    package.__dict__["jacobian"] = package.__dict__["jacrev"]


def _watch_static_indices(add: Add, busy: Callable[[], bool]) -> None:
    """Check static indices, which are clamped before any operation."""

    def check(index: int, size: int) -> None:
        stack = source_stacks.stack()
        if not busy() and not _sets_mode(stack):
            add(*_out_of_bounds_warning(index, f"an axis of size {size}"), stack)

    def clamped(at: int, size: int) -> None:
        check(at if at >= 0 else at - size, size)

    def read(x: Any, items: Sequence[Any]) -> None:
        for item in items:
            at, axis = getattr(item, "at", None), getattr(item, "axis", None)
            if isinstance(at, np.ndarray) and axis is not None:
                size = x.shape[axis]
                bad = (at < 0) | (at >= size)
                if bad.any():
                    check(int(at[bad][0]), size)

    events.index_clamped.function, events.static_indices_read.function = clamped, read


def _watch_gradient(
    package: ModuleType, name: str, real: Callable[..., Any], add: Add, busy: Callable[[], bool]
) -> None:
    """Check gradients that are computed eagerly."""

    def transform(fun: Any, *options: Any, **named: Any) -> Any:
        inner = real(fun, *options, **named)

        def gradient(*args: Any, **kwargs: Any) -> Any:
            result = inner(*args, **kwargs)
            if state.trace is evaluation and not busy() and _has_nan(result):
                operands = trees.leaves((args, kwargs))
                if all(np.all(np.isfinite(_as_floats(x))) for x in operands):
                    closed = make_jaxpr(inner)(*args, **kwargs)
                    forward = name == "vmap" and not _has_gradient(closed.jaxpr)
                    names = list(arguments.leaf_paths(fun, args, kwargs))
                    inputs = [np.asarray(x) for x in operands]
                    _report_nonfinite(closed, inputs, names, add, forward)
            return result

        gradient.__wrapped__ = fun  # type: ignore[attr-defined]
        gradient.__name__ = getattr(inner, "__name__", name)
        gradient.__qualname__ = getattr(inner, "__qualname__", name)
        return gradient

    package.__dict__[name] = transform


def _as_numpy(x: Any) -> Any:
    if isinstance(x, Tracer) or isinstance(x, (list, tuple)):
        return None
    aval = getattr(x, "aval", None)
    if aval is not None and dtypes.is_extended(aval.dtype):
        return None
    try:
        return np.asarray(x)
    except Exception:  # a deleted array
        return None


def _holds_keys(x: Any) -> bool:
    """Return whether it is an array of random keys."""
    return dtypes.is_extended(getattr(x, "dtype", None))


def _as_floats(x: Any) -> np.ndarray:
    try:
        array = np.asarray(x)
        return array.astype(np.float64) if array.dtype.kind in "biufV" else np.zeros(())
    except Exception:  # keys
        return np.zeros(())


def _has_nan(result: Any) -> bool:
    return any(
        not isinstance(x, Tracer) and bool(np.isnan(_as_floats(x)).any())
        for x in trees.leaves(result)
    )


# --- recomputed calls ----------------------------------------------------------------------------


def has_time() -> bool:
    """Return whether calls after the first ones may be checked too."""
    return _spent[0] < 0.5 * _TIME_LIMIT


@contextlib.contextmanager
def _measured() -> Iterator[None]:
    start = _now()
    try:
        yield
    finally:
        _spent[0] += _now() - start


def check_call(jitted: JitFunction, operands: list[Any], result: Any, add: Add) -> None:
    """Check a call that has returned for silent numeric errors."""
    with _measured():
        _check_call(jitted, operands, result, add)


def _check_call(jitted: JitFunction, operands: list[Any], result: Any, add: Add) -> None:
    if not jitted._traced and not jitted._caches.traced:
        return
    shapes = [getattr(x, "shape", None) for x in operands]
    known = [*jitted._traced.values(), *jitted._caches.traced.values()]
    traced = next(
        (t for t in reversed(known) if [tuple(a.shape) for a in t.closed.in_avals] == shapes),
        None,
    )
    if traced is None:
        return
    closed = traced.closed
    inputs = [
        x if dtypes.is_extended(a.dtype) else np.asarray(x, a.dtype)
        for x, a in zip(operands, closed.in_avals, strict=True)
    ]
    names = list(closed.jaxpr.debug_info.arg_names)
    finite = all(np.all(np.isfinite(_as_floats(x))) for x in inputs)
    if finite and _has_nan(result) and _has_gradient(closed.jaxpr):
        _report_nonfinite(closed, inputs, names, add)
        return
    for x in operands:
        if isinstance(x, np.ndarray) and (message := cut_integers(x)):
            add(dtypes.DtypeTruncationWarning, message, source_stacks.stack())
    rounded = RoundedArguments(closed.jaxpr, operands)
    _check_hazards(closed, inputs, names, add, rounded if rounded.exact else None)
    if finite and _has_nan(result):
        _report_nonfinite(closed, inputs, names, add, forward=True)


_stepping: list[bool] = []  # not empty while a jaxpr is computed a second time


def _check_hazards(
    closed: Any,
    inputs: list[Any],
    names: list[str],
    add: Add,
    rounded: RoundedArguments | None = None,
) -> None:
    """Compute a jaxpr operation by operation if it has one that may go wrong silently."""
    jaxpr = closed.jaxpr
    hazard = _has_hazard(jaxpr) or has_precision_hazard(jaxpr) or has_normalization(jaxpr)
    if (hazard or rounded is not None) and _spent[0] < _TIME_LIMIT:
        stepper = _Interpreter(names, add, _TIME_LIMIT - _spent[0])
        stepper.rounded = rounded
        _step(stepper, closed, inputs)


def _step(stepper: _Interpreter, closed: Any, inputs: list[Any]) -> None:
    _stepping.append(True)
    try:
        # only this recomputation uses the keys a second time
        with contextlib.suppress(_StopError), config.debug_key_reuse(False):
            stepper.run(closed.jaxpr, closed.consts, inputs, [{n} for n in stepper.names])
    finally:
        _stepping.pop()


def _has_hazard(jaxpr: Any) -> bool:
    for eqn in jaxpr.eqns:
        p = eqn.primitive
        if (
            p is cond_p
            or (p is eq_p and eqn.traceback is not None and _compares_classes(eqn.traceback))
            or not isinstance(p.index_rule, Default)
            or (
                not isinstance(p.wide_rule, Default)
                and _must_not_wrap(p, eqn.outvars[0].aval.dtype)
            )
        ):
            return True
        if any(map(_has_hazard, subjaxprs(eqn.params))):
            return True
    return False


_NARROW_INTEGERS = ("int8", "uint8", "int16", "uint16")


def _has_check(primitive: Any) -> bool:
    return (
        primitive is eq_p
        or not isinstance(primitive.index_rule, Default)
        or not isinstance(primitive.wide_rule, Default)
    )


def _must_not_wrap(primitive: Any, dtype: Any) -> bool:
    """Return whether an overflow of this operation is a mistake.

    Hashes and random numbers use wide unsigned integers and shifts, where it is not.
    """
    wide = ("int32", "int64") if primitive is not shift_left_p else ()
    return str(dtype) in (*_NARROW_INTEGERS, *wide)


class _StopError(Exception):
    pass


class _Interpreter:
    """Evaluate jaxprs equation by equation, and check each."""

    def __init__(
        self,
        names: Sequence[str],
        add: Add,
        seconds: float,
        sound: Callable[[np.ndarray], Any] | None = None,
        forward: bool = False,
    ) -> None:
        self.names = names
        self.add = add
        self.until = _now() + seconds
        self.sound = sound  # report the first operation that makes unsound elements of sound ones
        self.reported = False
        self.forward = forward  # nothing is differentiated
        self.accumulators: set[Any] = set()  # equations that add equal steps to the carry of a loop
        self.quotients = Quotients()
        self.rounded: RoundedArguments | None = None
        self.branch_indices: set[Any] = set()  # equations that clamp the index of a switch

    def run(
        self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], origins: Sequence[set[str]]
    ) -> tuple[list[Any], list[set[str]]]:
        """Return the outputs of a jaxpr, and the arguments that each depends on."""
        env: dict[Any, Any] = {}
        origin: dict[Any, set[str]] = {}
        for v, x in zip(jaxpr.constvars, consts, strict=True):
            env[v] = x if _holds_keys(x) else None if isinstance(x, Tracer) else np.asarray(x)
            origin[v] = set()
        for v, x, o in zip(jaxpr.invars, args, origins, strict=True):
            env[v], origin[v] = x, o
        made = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
        self.branch_indices |= {
            made[e.invars[0]]
            for e in jaxpr.eqns
            if e.primitive is cond_p
            and type(e.invars[0]) is not Literal
            and e.invars[0] in made
            and made[e.invars[0]].primitive.name == "clamp"
        }
        for eqn in jaxpr.eqns:
            if _now() > self.until:
                raise _StopError
            self.accumulators |= accumulators(eqn)
            if not eqn.outvars:  # a callback, for its side effect: it has run
                continue
            ins = [
                np.asarray(v.val, v.aval.dtype) if type(v) is Literal else env[v]
                for v in eqn.invars
            ]
            in_origins = [set[str]() if type(v) is Literal else origin[v] for v in eqn.invars]
            all_origins = set[str]().union(*in_origins)
            out_origins = [all_origins] * len(eqn.outvars)
            inner = eqn.params.get("jaxpr")
            outs = self.control_flow(eqn, ins, all_origins)
            if eqn.primitive in (jit_p, progress_p, remat_p):
                if self.rounded is not None:
                    self.rounded.enter(inner.jaxpr.invars, eqn.invars)
                outs, out_origins = self.run(inner.jaxpr, [*inner.consts], ins, in_origins)
            elif outs is None:
                outs = self.step(eqn, ins)
                used = in_origins
                if not isinstance(eqn.primitive.index_rule, Default):
                    shapes = [v.aval.shape for v in eqn.invars]
                    used = in_origins[eqn.primitive.index_rule(shapes, eqn.params).operands]
                depends = set[str]().union(*used)
                self.check(eqn, ins, outs, depends)
                if (
                    self.sound is None
                    and eqn.traceback is not None
                    and not is_backward(eqn.traceback)
                ):
                    found = check_precision(eqn, made, env, ins, outs[0])
                    found = found or self.check_rounding(eqn, made, ins, outs[0])
                    found = found or check_normalization(eqn, made, env)
                    if found is not None:
                        self.report(*found, eqn, depends)
            for v, x, o in zip(eqn.outvars, outs, out_origins, strict=True):
                env[v], origin[v] = x, o
        found = [np.asarray(v.val) if type(v) is Literal else env[v] for v in jaxpr.outvars]
        return found, [set() if type(v) is Literal else origin[v] for v in jaxpr.outvars]

    def check_rounding(
        self, eqn: Any, made: dict[Any, Any], ins: list[Any], out: Any
    ) -> tuple[type[Warning], str] | None:
        """Return the finding for an operation that loses what an earlier one rounded."""
        if not all(isinstance(x, np.ndarray) for x in (*ins, out)):
            return None
        if eqn in self.accumulators and (found := check_accumulator(ins, out, eqn)) is not None:
            return found
        self.quotients.note(eqn.primitive.name, ins, out)
        if eqn.primitive.name == "div" and self.quotients.steps:
            if is_difference(eqn.invars[0], made):
                return self.quotients.quotient(ins[1])
        return self.rounded.follow(eqn, ins, out) if self.rounded is not None else None

    def control_flow(self, eqn: Any, ins: list[Any], origins: set[str]) -> list[Any] | None:
        """Return the results of cond, while and scan, checked in each iteration; None for others."""
        params = eqn.params
        if not all(isinstance(x, np.ndarray) or _holds_keys(x) for x in ins):
            return None

        def run(closed: Any, operands: Sequence[Any]) -> list[Any]:
            return self.run(closed.jaxpr, closed.consts, operands, [origins] * len(operands))[0]

        if eqn.primitive is cond_p:
            index = int(np.clip(int(ins[0]), 0, len(params["branches"]) - 1))
            return run(params["branches"][index], ins[1:])
        if eqn.primitive is while_p:
            operands = WhileOperands.of_while(ins, params)
            while bool(run(params["cond_jaxpr"], operands.condition.flat())[0]):
                carry = run(params["body_jaxpr"], operands.body.flat())
                operands = dataclasses.replace(operands, carry=carry)
            return operands.carry
        if eqn.primitive is scan_p and isinstance(params["length"], int):
            consts, carry, sequences = LoopOperands.of_scan(ins, params)
            outputs = []
            order = range(params["length"])
            for i in reversed(order) if params["reverse"] else order:
                slices = [x[i] if _holds_keys(x) else np.asarray(x[i]) for x in sequences]
                outs = run(params["jaxpr"], [*consts, *carry, *slices])
                carry, ys = LoopResults.split(outs, len(carry))
                outputs.append(ys)
            if not outputs:
                return None
            stacked: list[Any] = [
                snp.stack(ys) if _holds_keys(ys[0]) else np.stack(ys)
                for ys in zip(*outputs, strict=True)
            ]
            return [*carry, *[y[::-1] if params["reverse"] else y for y in stacked]]
        return None

    def step(self, eqn: Any, ins: list[Any]) -> list[Any]:
        if eqn.effects:  # which must not happen twice
            raise _StopError
        out_avals = [v.aval for v in eqn.outvars]
        keys = any(dtypes.is_extended(v.aval.dtype) for v in (*eqn.invars, *eqn.outvars))
        reference = None if keys or eqn.primitive.is_higher_order else eqn.primitive.reference_rule
        out = None
        if reference is not None:
            # a reference raises where the operation gives nan, as for a matrix without a factor
            with np.errstate(all="ignore"), contextlib.suppress(ValueError, ArithmeticError):
                out = reference(*ins, **eqn.params)
        if out is None:
            out = eqn.primitive.bind(*ins, **eqn.params)
        outs = list(out) if eqn.primitive.multiple_results else [out]
        return [
            np.asarray(x, a.dtype) if not dtypes.is_extended(a.dtype) else x
            for x, a in zip(outs, out_avals, strict=True)
        ]

    def check(self, eqn: Any, ins: list[Any], outs: list[Any], origins: set[str]) -> None:
        if eqn.traceback is None or not all(isinstance(x, np.ndarray) for x in (*ins, *outs)):
            return
        if self.sound is not None:
            before = all(np.all(self.sound(_as_floats(x))) for x in ins)
            bad = any(not np.all(self.sound(_as_floats(x))) for x in outs)
            if before and bad and user_span(eqn.traceback) is not None:
                category: type[Warning] = cautions.NaNGradientWarning
                message = f"the gradient is nan: the derivative of this expression ({eqn.primitive.name}) is not finite there"
                if self.forward:
                    category = cautions.NaNWarning
                    message = (
                        f"{nonfinite_text(eqn.primitive, ins, outs)}, and all inputs are finite"
                    )
                self.report(category, message, eqn, origins)
                raise _StopError
            return
        problem = _check_operation(eqn.primitive, ins, eqn.params, outs[0], eqn.traceback)
        if problem is None and eqn in self.branch_indices:
            problem = _check_branch(ins, outs)
        if problem is not None:
            self.report(*problem, eqn, origins)

    def report(self, category: type[Warning], message: str, eqn: Any, origins: set[str]) -> None:
        depends = tuple(dict.fromkeys(base_name(n) for n in self.names if n in origins))
        self.reported = True
        self.add(category, message, eqn.traceback, depends=depends)


def _has_gradient(jaxpr: Any) -> bool:
    """Return whether a jaxpr has operations of a derivative."""
    return any(
        (eqn.traceback is not None and is_backward(eqn.traceback))
        or any(map(_has_gradient, subjaxprs(eqn.params)))
        for eqn in jaxpr.eqns
    )


def _report_nonfinite(
    closed: Any, inputs: list[Any], names: list[str], add: Add, forward: bool = False
) -> None:
    """Report the first operation of a jaxpr whose result is not finite.

    If all infinities are constants of the program, as in masks, report the first that makes nan of them.
    """
    for wanted in (np.isfinite, _is_number):
        stepper = _Interpreter(names, add, 2.0, wanted, forward)
        _step(stepper, closed, inputs)
        if stepper.reported:
            return


def _is_number(x: np.ndarray) -> Any:
    return ~np.isnan(x)


# --- single operations ---------------------------------------------------------------------------


def _check_operation(
    primitive: Any, ins: list[Any], params: dict[str, Any], out: Any, stack: Any
) -> tuple[type[Warning], str] | None:
    """Return the warning for an operation that overflowed, indexed out of bounds or lost an update."""
    if not isinstance(primitive.index_rule, Default):
        indices = primitive.index_rule([x.shape for x in ins], params)
        found = _check_bounds(indices, ins, stack)
        if found is None and primitive is scatter_p:
            found = check_lost_updates(ins, params, stack)
        if found is not None:
            return found
    if primitive is eq_p:
        return _check_one_hot(ins) if _compares_classes(stack) else None
    wide = primitive.wide_rule
    if isinstance(out, np.ndarray) and callable(wide) and _must_not_wrap(primitive, out.dtype):
        exact = wide(*[np.asarray(x, np.float64) for x in ins], **params)
        return _check_overflow(exact, out.dtype)
    return None


def _check_overflow(exact: Any, dtype: Any) -> tuple[type[Warning], str] | None:
    """Return the warning for an exact result that does not fit the dtype. None is unknown."""
    if exact is None:
        return None
    limits = np.iinfo(dtype)
    low, high = (exact.min(), exact.max()) if exact.size else (0.0, 0.0)
    if low >= limits.min and high <= limits.max:
        return None
    worst = high if high - limits.max > limits.min - low else low
    return (
        cautions.IntegerOverflowWarning,
        f"{worst:.6g} does not fit {dtype}: the result wrapped around",
    )


def _check_bounds(indices: Indices, ins: list[Any], stack: Any) -> tuple[type[Warning], str] | None:
    if _sets_mode(stack):
        return None
    shape, (operands, axes, window) = ins[0].shape, indices
    starts = ins[operands]
    for i, axis in enumerate(axes):
        at = starts[0][..., i] if len(starts) == 1 and starts[0].ndim else starts[i]
        bad = (at < 0) | (at > shape[axis] - window[axis])
        if bad.any():
            return _out_of_bounds_warning(int(at[bad][0]), f"axis {axis} with size {shape[axis]}")
    return None


def _compares_classes(stack: Any) -> bool:
    """Return whether an operation is that of `one_hot`, which compares labels with classes."""
    return stack is not None and any(
        code.co_name == "one_hot" and is_sagax(code.co_filename) for code in stack.raw_frames()[0]
    )


def _check_one_hot(ins: list[Any]) -> tuple[type[Warning], str] | None:
    """Return the warning for labels that are counted from 1: the last is no class.

    Other labels outside of the classes may be meant to become zeros, as those of padding are.
    """
    labels, classes = ins
    if not labels.size or int(labels.min()) != 1 or int(labels.max()) != classes.size:
        return None
    return (
        cautions.OutOfBoundsIndexWarning,
        f"index {classes.size} is out of bounds for {classes.size} classes: nothing is raised, its row is zeros. "
        "The labels are counted from 1",
    )


def _check_branch(ins: list[Any], outs: list[Any]) -> tuple[type[Warning], str] | None:
    """Return the warning for an index of `switch` that is clamped."""
    index, used, last = int(ins[1].flat[0]), int(outs[0].flat[0]), int(ins[2].flat[0])
    if ins[1].size != 1 or index == used:
        return None
    return (
        cautions.OutOfBoundsIndexWarning,
        f"index {index} is out of bounds for {last + 1} branches: nothing is raised, branch {used} runs",
    )


def _sets_mode(stack: Any) -> bool:
    """Return whether the user's expression sets an index mode, and so accepts its effect."""
    span = user_span(stack)
    return span is None or any("mode=" in line for line in span.source)


def _out_of_bounds_warning(index: int, where: str) -> tuple[type[Warning], str]:
    return (
        cautions.OutOfBoundsIndexWarning,
        f"index {index} is out of bounds for {where}: nothing is raised, "
        "the nearest element is read and updates are left out",
    )
