"""Find sums that round their increments away, and differences of values that rounding made equal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sagax._autofix.checks.report import Add, is_own_file, own_position
from sagax._src import source_stacks
from sagax._src.core.families import MOVEMENT
from sagax._src.core.jaxpr import Jaxpr, Literal
from sagax._src.core.operands import LoopOperands
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.spans import is_backward
from sagax._src.higher_order.scan import scan_p
from sagax._src.higher_order.while_loop import while_p

__all__ = ["EagerQuotients", "Quotients", "RoundedArguments", "accumulators", "check_accumulator"]

Finding = tuple[type[Warning], str]
_LOST = 0.25  # of a step or of a difference


# --- sums of equal steps ---------------------------------------------------------------------------


def accumulators(eqn: Any) -> set[Any]:
    """Return the equations of a loop's body that add to the carry what no iteration changes."""
    if eqn.primitive is scan_p:
        operands = LoopOperands.of_scan
        body = eqn.params["jaxpr"].jaxpr
        constants, carry, _ = operands(body.invars, eqn.params)
    elif eqn.primitive is while_p:
        body = eqn.params["body_jaxpr"].jaxpr
        constants = list(body.invars[: eqn.params["body_nconsts"]])
        carry = list(body.invars[len(constants) :])
    else:
        return set()
    made = {v: e for e in body.eqns for v in e.outvars}
    found: set[Any] = set()
    for before, after in zip(carry, body.outvars, strict=False):
        step = None if type(after) is Literal else made.get(after)
        if step is None or step.primitive.name not in ("add", "sub"):
            continue
        if not _is_float(after.aval.dtype):
            continue
        for value, increment in (step.invars, step.invars[::-1]):
            fixed = type(increment) is Literal or increment in constants
            if type(value) is not Literal and value is before and fixed:
                found.add(step)
    return found


def check_accumulator(ins: Sequence[Any], out: Any, eqn: Any) -> Finding | None:
    """Return the finding for one step of a sum that differs from its increment by a quarter."""
    if not isinstance(out, np.ndarray) or not out.size:
        return None
    wide = [np.asarray(x, np.float64) for x in ins]
    at = int(np.max(np.abs(wide[0]), initial=0.0) < np.max(np.abs(wide[1]), initial=0.0))
    total, step = wide[at], wide[1 - at]
    sign = -1.0 if eqn.primitive.name == "sub" and at == 0 else 1.0
    moved = np.asarray(out, np.float64) - total
    with np.errstate(all="ignore"):
        lost = np.abs(moved - sign * step) > _LOST * np.abs(step)
    if not np.all(np.isfinite(moved)) or not np.any(step) or not np.all(lost):
        return None
    i = np.unravel_index(0, out.shape)
    total, step, moved = (np.broadcast_to(x, out.shape)[i] for x in (total, step, moved))
    return (
        cautions.PrecisionLossWarning,
        f"{total:.9g} + {sign * step:.6g} moves by {moved:.3g} in {out.dtype}, in each iteration: "
        "count the iterations, and multiply",
    )


def _is_float(dtype: Any) -> bool:
    return str(dtype) in ("float32", "float16", "bfloat16", "float64")


# --- quotients of differences ----------------------------------------------------------------------


class Quotients:
    """Remember steps `h` that `x + h` rounds away, and find the differences divided by them."""

    def __init__(self) -> None:
        self.steps: dict[float, tuple[float, str]] = {}

    def note(self, name: str, ins: Sequence[Any], out: Any) -> None:
        """Note a sum of a number and a step."""
        if name not in ("add", "sub") or len(ins) != 2 or not _is_float(getattr(out, "dtype", "")):
            return
        for i in (1, 0):
            if np.ndim(ins[i]) or (i == 0 and name == "sub"):
                continue
            step = float(ins[i])
            if not 0 < abs(step) < 1e-2:
                continue
            x = np.asarray(ins[1 - i], np.float64)
            moved = np.abs(np.asarray(out, np.float64) - x)
            with np.errstate(all="ignore"):
                lost = (np.abs(moved - abs(step)) > _LOST * abs(step)) & np.isfinite(moved)
            if lost.any():
                self.steps[abs(step)] = float(x[lost].flat[0]), str(out.dtype)

    def quotient(self, divisor: Any) -> Finding | None:
        """Return the finding for a difference that is divided by a step or by twice a step."""
        if np.ndim(divisor):
            return None
        size = abs(float(divisor))
        for step, (x, dtype) in self.steps.items():
            if any(abs(size - k * step) <= 1e-6 * size for k in (1, 2)):
                return (
                    cautions.PrecisionLossWarning,
                    f"{x:.6g} + {step:.3g} is {x:.6g} or its neighbor in {dtype}, so that the difference quotient is "
                    "0 or far off: differentiate with grad",
                )
        return None


class EagerQuotients:
    """Follow quotients of differences outside of compiled functions."""

    def __init__(self, add: Add) -> None:
        self.add = add
        self.quotients = Quotients()
        self.differences: dict[int, Any] = {}

    def evaluated(self, primitive: Any, args: Sequence[Any], result: Any) -> None:
        """Note an operation."""
        name = primitive.name
        if name not in ("add", "sub", "neg", "div") or not hasattr(result, "aval"):
            return
        if is_backward(source_stacks.origin()) or not _is_float(result.aval.dtype):
            return
        if name in ("add", "sub"):
            if any(np.ndim(x) == 0 for x in args):
                self.quotients.note(name, [np.asarray(x) for x in args], np.asarray(result))
            if name == "sub" and self.quotients.steps:
                self.differences = {id(result): result}  # it lives until the next one
        elif name == "neg" and id(args[0]) in self.differences:
            self.differences[id(result)] = result
        elif name == "div" and id(args[0]) in self.differences:
            finding = self.quotients.quotient(np.asarray(args[1]))
            stack = source_stacks.stack()
            position = own_position(stack)
            if finding is not None and position is not None:
                if is_own_file(position.code.co_filename):
                    self.add(*finding, stack)


# --- arguments that lose digits --------------------------------------------------------------------


class RoundedArguments:
    """Hold the arguments of a call in 64 bits that the program takes in fewer."""

    def __init__(self, jaxpr: Jaxpr, given: Iterable[Any]) -> None:
        self.exact: dict[Any, np.ndarray] = {}
        self.origin: dict[Any, Any] = {}
        for variable, x in zip(jaxpr.invars, given, strict=False):
            if isinstance(x, np.ndarray) and x.dtype == np.float64:
                if variable.aval.dtype != np.float64 and _is_float(variable.aval.dtype):
                    if np.all(np.isfinite(x)) and np.any(x.astype(variable.aval.dtype) != x):
                        self.exact[variable] = x
                        self.origin[variable] = variable

    def enter(self, inner: Sequence[Any], outer: Sequence[Any]) -> None:
        """Follow arguments into a function that is called."""
        for variable, passed in zip(inner, outer, strict=False):
            if type(passed) is not Literal and passed in self.exact:
                self.exact[variable], self.origin[variable] = (
                    self.exact[passed],
                    self.origin[passed],
                )

    def follow(self, eqn: Any, ins: Sequence[Any], out: Any) -> Finding | None:
        """Follow an operation; return the finding for a difference that lost its digits."""
        known = [type(v) is not Literal and v in self.exact for v in eqn.invars]
        if not any(known):
            return None
        name = eqn.primitive.name
        if (
            eqn.primitive.family is MOVEMENT
            and len(eqn.invars) == 1
            and eqn.primitive.reference_rule is not None
        ):
            variable = eqn.outvars[0]
            moved = eqn.primitive.reference_rule(self.exact[eqn.invars[0]], **eqn.params)
            self.exact[variable] = np.asarray(moved)
            self.origin[variable] = self.origin[eqn.invars[0]]
            return None
        if name != "sub" or not (all(known) or np.ndim(ins[known.index(False)]) == 0):
            return None
        sources = {self.origin[v] for v, k in zip(eqn.invars, known, strict=True) if k}
        if len(sources) > 1 and all(np.ndim(x) for x in ins):
            return None  # two arrays that may be as close as rounding lets them
        a, b = (
            self.exact[v] if k else np.asarray(x, np.float64)
            for v, x, k in zip(eqn.invars, ins, known, strict=True)
        )
        exact, found = a - b, np.asarray(out, np.float64)
        largest = float(np.max(np.abs(exact), initial=0.0))
        error = np.abs(found - exact)
        if not largest or float(np.max(error, initial=0.0)) <= 0.02 * largest:
            return None
        i = int(np.argmax(error))
        return (
            cautions.PrecisionLossWarning,
            f"the difference is {np.broadcast_to(exact, found.shape).flat[i]:.6g} in the 64 bits of the arguments, and "
            f"{found.flat[i]:.6g} in {np.asarray(out).dtype}: subtract before the call",
        )
