"""Check numeric hazards: indices out of bounds, integer overflow, NaN gradients.

A call whose program could go wrong in one of these ways is computed a second time, operation by
operation, with the NumPy references.
"""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

import sagax._src.api.derivatives as derivatives
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
from sagax._src.diagnostics.spans import user_span
from sagax._src.higher_order.call import jit_p
from sagax._src.higher_order.cond import cond_p
from sagax._src.higher_order.remat import remat_p
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.while_loop import while_p
from sagax._src.primitives.bitwise import shift_left_p

__all__ = ["check_call", "held", "install"]

Add = Callable[..., None]
_SECONDS = 2.0  # of looking at calls once more, in all
_spent = [0.0]
_graded: set[int] = set()


def held(jitted: JitFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The operands of a call as NumPy arrays, taken before they may be given away."""
    found: list[Any] = []
    try:
        _, *traced = jitted._split(args, kwargs)
    except SagaxError:  # which the call itself raises
        return found
    for leaf in trees.leaves(traced):
        try:
            found.append(np.asarray(leaf) if hasattr(leaf, "dtype") or np.isscalar(leaf) else leaf)
        except Exception:  # keys, deleted arrays: which the call itself explains
            found.append(leaf)
    return found


def install(package: ModuleType, add: Add, busy: Callable[[], bool]) -> None:
    """Watch gradients and operations that run at once."""
    evaluate = evaluation.evaluate

    def evaluated(primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        result = evaluate(primitive, args, params)
        look(primitive, args, params, result)
        return result

    def look(primitive: Any, args: tuple[Any, ...], params: dict[str, Any], result: Any) -> None:
        if not busy() and _watched(primitive) and state.trace is evaluation:
            operands = [_numpy(a) for a in args]
            if all(isinstance(x, np.ndarray) for x in operands):
                stack = source_stacks.stack()
                problem = _problem(primitive, operands, params, _numpy(result), stack)
                if problem is not None:
                    add(*problem, stack)

    evaluation.evaluate = evaluated  # type: ignore[method-assign]  # a socket
    events.operations_seen.function = look
    _watch_known_indices(add, busy)
    for name in ("value_and_grad", "grad"):
        _watch_gradient(package, name, add, busy)


def _watch_known_indices(add: Add, busy: Callable[[], bool]) -> None:
    """Look at indices that are known where they are read: they are put right before any operation."""

    def told(index: int, size: int) -> None:
        stack = source_stacks.stack()
        if not busy() and not _says_mode(stack):
            add(*_told(index, f"an axis of size {size}"), stack)

    def clamped(at: int, size: int) -> None:
        told(at if at >= 0 else at - size, size)

    def read(x: Any, items: Sequence[Any]) -> None:
        for item in items:
            at, axis = getattr(item, "at", None), getattr(item, "axis", None)
            if isinstance(at, np.ndarray) and axis is not None:
                size = x.shape[axis]
                bad = (at < 0) | (at >= size)
                if bad.any():
                    told(int(at[bad][0]), size)

    events.index_clamped.function, events.known_indices_read.function = clamped, read


def _watch_gradient(package: ModuleType, name: str, add: Add, busy: Callable[[], bool]) -> None:
    """Note which traces hold a gradient; look at gradients that are computed at once."""
    real = getattr(derivatives, name)

    def transform(fun: Any, *options: Any, **named: Any) -> Any:
        inner = real(fun, *options, **named)

        def gradient(*args: Any, **kwargs: Any) -> Any:
            result = inner(*args, **kwargs)
            trace = state.trace
            while trace is not None and trace is not evaluation:
                _graded.add(id(trace))
                trace = trace.parent
            if state.trace is evaluation and not busy() and _has_nan(result):
                operands = trees.leaves((args, kwargs))
                if all(np.all(np.isfinite(_floats(x))) for x in operands):
                    closed = make_jaxpr(inner)(*args, **kwargs)
                    names = list(arguments.leaf_paths(fun, args, kwargs))
                    _blame(closed, [np.asarray(x) for x in operands], names, add)
            return result

        gradient.__wrapped__ = fun  # type: ignore[attr-defined]
        gradient.__name__ = getattr(inner, "__name__", name)
        gradient.__qualname__ = getattr(inner, "__qualname__", name)
        return gradient

    package.__dict__[name] = transform


def _numpy(x: Any) -> Any:
    if isinstance(x, Tracer) or isinstance(x, (list, tuple)):
        return None
    aval = getattr(x, "aval", None)
    if aval is not None and dtypes.is_extended(aval.dtype):
        return None
    try:
        return np.asarray(x)
    except Exception:  # a deleted array
        return None


def _floats(x: Any) -> np.ndarray:
    try:
        array = np.asarray(x)
        return array.astype(np.float64) if array.dtype.kind in "biufV" else np.zeros(())
    except Exception:  # keys
        return np.zeros(())


def _has_nan(result: Any) -> bool:
    return any(
        not isinstance(x, Tracer) and bool(np.isnan(_floats(x)).any()) for x in trees.leaves(result)
    )


# --- a call, once more ---------------------------------------------------------------------------


def check_call(
    jitted: JitFunction,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    operands: list[Any],
    result: Any,
    add: Add,
) -> None:
    """Look for what went wrong silently in a call that has returned."""
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
    finite = all(np.all(np.isfinite(_floats(x))) for x in inputs)
    if finite and _has_nan(result):
        _blame(closed, inputs, names, add)
        return
    if _may_go_wrong(closed.jaxpr) and _spent[0] < _SECONDS:
        start = time.monotonic()
        stepper = _Stepper(names, add, _SECONDS - _spent[0])
        # keys are used a second time here, and by nobody else
        with contextlib.suppress(_Stop), config.debug_key_reuse(False):
            stepper.run(closed.jaxpr, closed.consts, inputs, [{n} for n in names])
        _spent[0] += time.monotonic() - start


def _may_go_wrong(jaxpr: Any) -> bool:
    for eqn in jaxpr.eqns:
        p = eqn.primitive
        if not isinstance(p.index_rule, Default) or (
            not isinstance(p.wide_rule, Default) and _counts(p, eqn.outvars[0].aval.dtype)
        ):
            return True
        if any(map(_may_go_wrong, subjaxprs(eqn.params))):
            return True
    return False


_NARROW = ("int8", "uint8", "int16", "uint16")


def _watched(primitive: Any) -> bool:
    return not (
        isinstance(primitive.index_rule, Default) and isinstance(primitive.wide_rule, Default)
    )


def _counts(primitive: Any, dtype: Any) -> bool:
    """Whether results of a dtype stand for numbers, so that wrapping around is a mistake.

    Unsigned numbers of 32 bits and more, and shifts of wide ones, are what hashes and random numbers
    are made of.
    """
    wide = ("int32", "int64") if primitive is not shift_left_p else ()
    return str(dtype) in (*_NARROW, *wide)


class _Stop(Exception):
    pass


class _Stepper:
    """Evaluates programs equation by equation and looks at each."""

    def __init__(self, names: Sequence[str], add: Add, seconds: float, nan: bool = False) -> None:
        self.names = names
        self.add = add
        self.until = time.monotonic() + seconds
        self.nan = nan

    def run(
        self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], origins: Sequence[set[str]]
    ) -> tuple[list[Any], list[set[str]]]:
        """The outputs of a program, and the arguments that each comes from."""
        env: dict[Any, Any] = {}
        origin: dict[Any, set[str]] = {}
        for v, x in zip(jaxpr.constvars, consts, strict=True):
            env[v], origin[v] = np.asarray(x) if not isinstance(x, Tracer) else None, set()
        for v, x, o in zip(jaxpr.invars, args, origins, strict=True):
            env[v], origin[v] = x, o
        for eqn in jaxpr.eqns:
            if time.monotonic() > self.until:
                raise _Stop
            if not eqn.outvars:  # a callback, for its side effect: it has run
                continue
            ins = [
                np.asarray(v.val, v.aval.dtype) if type(v) is Literal else env[v]
                for v in eqn.invars
            ]
            came = [set[str]() if type(v) is Literal else origin[v] for v in eqn.invars]
            everything = set[str]().union(*came)
            inner = eqn.params.get("jaxpr")
            held = self.held(eqn, ins, everything)
            if eqn.primitive in (jit_p, remat_p):
                hoisted = [*inner.consts]
                outs, outs_from = self.run(inner.jaxpr, hoisted, ins, came)
            elif held is not None:
                outs, outs_from = held, [everything] * len(eqn.outvars)
            else:
                outs = self.step(eqn, ins)
                outs_from = [everything] * len(eqn.outvars)
                asked = everything
                if not isinstance(eqn.primitive.index_rule, Default):
                    shapes = [v.aval.shape for v in eqn.invars]
                    which = eqn.primitive.index_rule(shapes, eqn.params).operands
                    asked = set[str]().union(*came[which])
                self.look(eqn, ins, outs, asked)
            for v, x, o in zip(eqn.outvars, outs, outs_from, strict=True):
                env[v], origin[v] = x, o
        found = [np.asarray(v.val) if type(v) is Literal else env[v] for v in jaxpr.outvars]
        return found, [set() if type(v) is Literal else origin[v] for v in jaxpr.outvars]

    def held(self, eqn: Any, ins: list[Any], origins: set[str]) -> list[Any] | None:
        """The results of control flow, whose programs are looked at round by round; None for the rest."""
        params = eqn.params
        if not all(isinstance(x, np.ndarray) for x in ins):
            return None
        if any(dtypes.is_extended(v.aval.dtype) for v in eqn.outvars):
            return None

        def run(closed: Any, operands: Sequence[Any]) -> list[Any]:
            return self.run(closed.jaxpr, closed.consts, operands, [origins] * len(operands))[0]

        if eqn.primitive is cond_p:
            which = int(np.clip(int(ins[0]), 0, len(params["branches"]) - 1))
            return run(params["branches"][which], ins[1:])
        if eqn.primitive is while_p:
            operands = WhileOperands.of_while(ins, params)
            while bool(run(params["cond_jaxpr"], operands.condition.flat())[0]):
                carry = run(params["body_jaxpr"], operands.body.flat())
                operands = dataclasses.replace(operands, carry=carry)
            return operands.carry
        if eqn.primitive is scan_p and isinstance(params["length"], int):
            consts, carry, sequences = LoopOperands.of_scan(ins, params)
            rounds = []
            order = range(params["length"])
            for i in reversed(order) if params["reverse"] else order:
                slices = [np.asarray(x[i]) for x in sequences]
                outs = run(params["jaxpr"], [*consts, *carry, *slices])
                carry, ys = LoopResults.split(outs, len(carry))
                rounds.append(ys)
            if not rounds:
                return None
            stacked = [np.stack(ys) for ys in zip(*rounds, strict=True)]
            return [*carry, *[y[::-1] if params["reverse"] else y for y in stacked]]
        return None

    def step(self, eqn: Any, ins: list[Any]) -> list[Any]:
        out_avals = [v.aval for v in eqn.outvars]
        keys = any(dtypes.is_extended(v.aval.dtype) for v in (*eqn.invars, *eqn.outvars))
        reference = None if keys or eqn.primitive.holds_program else eqn.primitive.reference_rule
        if reference is not None:
            with np.errstate(all="ignore"):
                out = reference(*ins, **eqn.params)
        else:
            out = eqn.primitive.bind(*ins, **eqn.params)
        outs = list(out) if eqn.primitive.multiple_results else [out]
        return [
            np.asarray(x, a.dtype) if not dtypes.is_extended(a.dtype) else x
            for x, a in zip(outs, out_avals, strict=True)
        ]

    def look(self, eqn: Any, ins: list[Any], outs: list[Any], origins: set[str]) -> None:
        if eqn.traceback is None or not all(isinstance(x, np.ndarray) for x in (*ins, *outs)):
            return
        depends = tuple(dict.fromkeys(base_name(n) for n in self.names if n in origins))
        if self.nan:
            before = all(np.all(np.isfinite(_floats(x))) for x in ins)
            bad = any(not np.all(np.isfinite(_floats(x))) for x in outs)
            if before and bad and user_span(eqn.traceback) is not None:
                self.add(
                    cautions.NaNGradientWarning,
                    f"the gradient is nan: the derivative of this expression ({eqn.primitive.name}) is not finite there",
                    eqn.traceback,
                    depends=depends,
                )
                raise _Stop
            return
        problem = _problem(eqn.primitive, ins, eqn.params, outs[0], eqn.traceback)
        if problem is not None:
            category, message = problem
            self.add(category, message, eqn.traceback, depends=depends)


def _blame(closed: Any, inputs: list[Any], names: list[str], add: Add) -> None:
    """Find the first operation of a program whose result is not finite."""
    stepper = _Stepper(names, add, 2.0, nan=True)
    with contextlib.suppress(_Stop), config.debug_key_reuse(False):
        stepper.run(closed.jaxpr, closed.consts, inputs, [{n} for n in names])


# --- single operations ---------------------------------------------------------------------------


def _problem(
    primitive: Any, ins: list[Any], params: dict[str, Any], out: Any, stack: Any
) -> tuple[type[Warning], str] | None:
    """What an operation did that nobody asked for."""
    if not isinstance(primitive.index_rule, Default):
        return _outside(primitive.index_rule([x.shape for x in ins], params), ins, stack)
    wide = primitive.wide_rule
    if (
        isinstance(out, np.ndarray)
        and not isinstance(wide, Default)
        and _counts(primitive, out.dtype)
    ):
        return _overflow(wide(*[np.asarray(x, np.float64) for x in ins], **params), out.dtype)
    return None


def _overflow(exact: Any, dtype: Any) -> tuple[type[Warning], str] | None:
    """Of an exact result, if it is known, that does not fit."""
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


def _outside(indices: Indices, ins: list[Any], stack: Any) -> tuple[type[Warning], str] | None:
    if _says_mode(stack):
        return None
    shape, (operands, axes, window) = ins[0].shape, indices
    starts = ins[operands]
    for i, axis in enumerate(axes):
        at = starts[0][..., i] if len(starts) == 1 and starts[0].ndim else starts[i]
        bad = (at < 0) | (at > shape[axis] - window[axis])
        if bad.any():
            return _told(int(at[bad][0]), f"axis {axis} with size {shape[axis]}")
    return None


def _says_mode(stack: Any) -> bool:
    """Whether the user's expression names a mode: who does so has said what is to happen."""
    span = user_span(stack)
    return span is None or any("mode=" in line for line in span.source)


def _told(index: int, where: str) -> tuple[type[Warning], str]:
    return (
        cautions.OutOfBoundsIndexWarning,
        f"index {index} is out of bounds for {where}: nothing is raised, "
        "the nearest element is read and updates are left out",
    )
