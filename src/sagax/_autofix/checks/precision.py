"""Find operations on finite numbers that lose their digits: counters, sums of exponentials, variances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sagax._autofix.checks.rounding import accumulators
from sagax._src.core.families import passes_elements
from sagax._src.core.jaxpr import Jaxpr, Literal, subjaxprs
from sagax._src.diagnostics import cautions

__all__ = ["check_precision", "has_precision_hazard", "is_difference", "nonfinite_text"]

_LARGEST_COUNT = {"float32": 2.0**24, "float16": 2.0**11, "bfloat16": 2.0**8}
Finding = tuple[type[Warning], str]


def has_precision_hazard(jaxpr: Jaxpr) -> bool:
    """Return whether a jaxpr counts in floats, or has the forms that lose digits."""
    made = {v: eqn for eqn in jaxpr.eqns for v in eqn.outvars}
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name == "log" and _sum_of_exponentials(eqn, made) is not None:
            return True
        if name == "sub" and _variance(eqn, made) is not None:
            return True
        if name == "add" and _increment(eqn) is not None:
            return True
        if _small_difference(eqn, made) is not None or accumulators(eqn):
            return True
        if name == "div" and _is_quotient(eqn, made):
            return True
        if any(map(has_precision_hazard, subjaxprs(eqn.params))):
            return True
    return False


def check_precision(
    eqn: Any, made: Mapping[Any, Any], env: Mapping[Any, Any], ins: Sequence[Any], out: Any
) -> Finding | None:
    """Return the finding for one operation whose operands are known."""
    name = eqn.primitive.name
    if name == "add":
        return _check_counter(eqn, ins, out)
    if name == "log" and not np.all(np.isfinite(out)):
        source = _sum_of_exponentials(eqn, made)
        if source is not None and np.all(np.isfinite(np.asarray(env[source], np.float64))):
            what = "overflows" if np.any(np.isposinf(out)) else "is 0"
            return (
                cautions.PrecisionLossWarning,
                f"log(sum(exp(x))): exp(x) {what} for x from {np.min(env[source]):.6g} to {np.max(env[source]):.6g}; "
                "logsumexp(x) is exact",
            )
    if name == "sub":
        source = _variance(eqn, made)
        if source is not None:
            return _check_variance(np.asarray(env[source[0]], np.float64), source[1], out)
    if name in ("sub", "log") and (small := _small_difference(eqn, made)) is not None:
        return _check_small(*small, env, out)
    return None


# --- exp(x) - 1 and log(1 + x) ------------------------------------------------------------------------


def _is_one(atom: Any) -> bool:
    return type(atom) is Literal and np.size(atom.val) == 1 and float(np.ravel(atom.val)[0]) == 1.0


def _small_difference(eqn: Any, made: Mapping[Any, Any]) -> tuple[str, Any] | None:
    """Return the exact form of exp(x) - 1, 1 - exp(x) or log(1 + x), and x."""

    def source(atom: Any, *names: str) -> Any:
        while type(atom) is not Literal and (step := made.get(atom)) is not None:
            if step.primitive.name in names:
                return step
            if not passes_elements(step):
                break
            atom = step.invars[0]
        return None

    name = eqn.primitive.name
    if name not in ("sub", "log") or str(eqn.outvars[0].aval.dtype) not in _LARGEST_COUNT:
        return None
    if name == "sub":
        for one, other, form in (
            (eqn.invars[0], eqn.invars[1], "-expm1(x)"),
            (eqn.invars[1], eqn.invars[0], "expm1(x)"),
        ):
            step = source(other, "exp") if _is_one(one) else None
            if step is not None and type(step.invars[0]) is not Literal:
                return form, step.invars[0]
    if name == "log":
        total = source(eqn.invars[0], "add")
        operands = total.invars if total is not None else ()
        for one, x in (operands, operands[::-1]) if operands else ():
            # log(1 + exp(x)) is added to other terms, beside which it may vanish
            if _is_one(one) and type(x) is not Literal and source(x, "exp") is None:
                return "log1p(x)", x
    return None


def _check_small(form: str, x: Any, env: Mapping[Any, Any], out: Any) -> Finding | None:
    """Return the finding if all elements are so small that 1 hides their digits."""
    if x not in env or not isinstance(out, np.ndarray) or not isinstance(env[x], np.ndarray):
        return None
    given = np.asarray(env[x], np.float64)
    with np.errstate(all="ignore"):
        exact = np.log1p(given) if form == "log1p(x)" else np.expm1(given)
    exact = -exact if form.startswith("-") else exact
    found = np.asarray(out, np.float64)
    if exact.size != found.size or not np.all(np.isfinite(exact)):
        return None
    exact, found = exact.ravel(), found.ravel()
    largest = float(np.max(np.abs(exact), initial=0.0))
    error = np.abs(found - exact)
    if not largest or float(np.max(error)) <= 0.02 * largest:
        return None
    i = int(np.argmax(error))
    plain = {"log1p(x)": "log(1 + x)", "expm1(x)": "exp(x) - 1", "-expm1(x)": "1 - exp(x)"}[form]
    return (
        cautions.PrecisionLossWarning,
        f"{plain} cancels: it gives {found[i]:.3g} for {exact[i]:.3g}; {form} keeps the digits",
    )


def _is_quotient(eqn: Any, made: Mapping[Any, Any]) -> bool:
    """Return whether a difference is divided by a small number."""
    divisor = eqn.invars[1]
    if type(divisor) is Literal and not 0 < abs(float(np.ravel(divisor.val)[0])) < 1e-2:
        return False
    return not divisor.aval.shape and is_difference(eqn.invars[0], made)


def is_difference(atom: Any, made: Mapping[Any, Any]) -> bool:
    """Return whether a value is a difference, perhaps negated."""
    while type(atom) is not Literal and (step := made.get(atom)) is not None:
        if step.primitive.name == "sub":
            return True
        if step.primitive.name != "neg":
            break
        atom = step.invars[0]
    return False


# --- counters ---------------------------------------------------------------------------------------


def _increment(eqn: Any) -> int | None:
    """Return the position of the operand that a whole number is added to."""
    if str(eqn.outvars[0].aval.dtype) not in _LARGEST_COUNT:
        return None
    for i in (0, 1):
        number, other = eqn.invars[i], eqn.invars[1 - i]
        if type(number) is Literal and type(other) is not Literal and np.size(number.val) == 1:
            value = float(np.asarray(number.val, np.float64).reshape(()))
            if value and value == round(value) and abs(value) <= 1024:
                return 1 - i
    return None


def _check_counter(eqn: Any, ins: Sequence[Any], out: Any) -> Finding | None:
    at = _increment(eqn)
    if at is None or not isinstance(out, np.ndarray) or not out.size:
        return None
    count = np.asarray(ins[at], np.float64)
    largest = _LARGEST_COUNT[str(eqn.outvars[0].aval.dtype)]
    if np.all(np.asarray(out, np.float64) == count) and np.all(
        (count >= largest) & (count < 2.0**31)
    ):
        step = float(np.asarray(ins[1 - at], np.float64))
        return (
            cautions.PrecisionLossWarning,
            f"{float(count.flat[0]):.0f} + {step:.0f} is {float(count.flat[0]):.0f} in {out.dtype}: count in integers",
        )
    return None


def _origin(atom: Any, made: Mapping[Any, Any]) -> Any:
    """Return the equation that made a value, before changes of its form and divisions by numbers."""
    while type(atom) is not Literal and (eqn := made.get(atom)) is not None:
        name = eqn.primitive.name
        scaled = name in ("div", "mul") and any(
            type(v) is Literal or v.aval.shape == () and _is_number(v, made) for v in eqn.invars[1:]
        )
        if passes_elements(eqn) or scaled:
            atom = eqn.invars[0]
            continue
        return eqn
    return None


def _is_number(atom: Any, made: Mapping[Any, Any]) -> bool:
    eqn = made.get(atom)
    return eqn is not None and passes_elements(eqn) and type(eqn.invars[0]) is Literal


def _sum_of_exponentials(eqn: Any, made: Mapping[Any, Any]) -> Any:
    """Return x of log(sum(exp(x)))."""
    total = _origin(eqn.invars[0], made)
    if total is None or total.primitive.name != "reduce_sum":
        return None
    term = _origin(total.invars[0], made)
    for _ in range(2):
        if term is None or term.primitive.name == "exp":
            break
        if term.primitive.name != "mul":  # weights * exp(x)
            return None
        parts = [_origin(v, made) for v in term.invars]
        term = next((p for p in parts if p is not None and p.primitive.name == "exp"), None)
    if term is None or term.primitive.name != "exp" or type(term.invars[0]) is Literal:
        return None
    shift = made.get(term.invars[0])
    if shift is not None and shift.primitive.name == "sub":  # exp(x - max(x)) cannot overflow
        subtracted = _origin(shift.invars[1], made)
        if subtracted is not None and subtracted.primitive.name == "reduce_max":
            return None
    return term.invars[0]


def _squared(eqn: Any) -> Any:
    """Return x of x**2."""
    if eqn is None:
        return None
    name = eqn.primitive.name
    if name == "square" or (name == "integer_pow" and eqn.params["y"] == 2):
        return eqn.invars[0]
    if name == "mul" and eqn.invars[0] is eqn.invars[1]:
        return eqn.invars[0]
    return None


def _variance(eqn: Any, made: Mapping[Any, Any]) -> tuple[Any, tuple[int, ...]] | None:
    """Return x and axes of mean(x**2) - mean(x)**2."""
    total = _origin(eqn.invars[0], made)
    if total is None or total.primitive.name != "reduce_sum":
        return None
    x = _squared(_origin(total.invars[0], made))
    mean = _squared(_origin(eqn.invars[1], made))
    if x is None or mean is None or type(mean) is Literal:
        return None
    other = _origin(mean, made)
    if other is None or other.primitive.name != "reduce_sum" or other.invars[0] is not x:
        return None
    return (
        (x, tuple(total.params["axes"])) if total.params["axes"] == other.params["axes"] else None
    )


def _check_variance(x: np.ndarray, axes: tuple[int, ...], out: Any) -> Finding | None:
    exact = np.var(x, axis=axes)
    found = np.asarray(out, np.float64)
    if exact.size != found.size or not np.all(np.isfinite(found)):
        return None
    exact, found = exact.ravel(), found.ravel()
    bad = (exact > 0) & (np.abs(found - exact) > 0.05 * exact)
    if not bad.any():
        return None
    i = int(np.argmax(bad))
    return (
        cautions.PrecisionLossWarning,
        f"mean(x**2) - mean(x)**2 cancels: it gives {found[i]:.3g} for a variance of {exact[i]:.3g}; "
        "mean((x - mean(x))**2) keeps the digits",
    )


def nonfinite_text(primitive: Any, ins: Sequence[Any], outs: Sequence[Any]) -> str:
    """Describe the element that became nan or infinite, and the operands that it came from."""
    for out in outs:
        values = np.asarray(out, np.float64) if out.dtype.kind != "c" else out
        bad = ~np.isfinite(values)
        if not bad.any():
            continue
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        operands: list[str] = []
        for x in ins:
            if getattr(x, "shape", None) == out.shape:
                operands.append(f"{float(x[index]):.6g}")
            elif np.size(x) == 1:
                operands.append(f"{float(np.asarray(x).reshape(())[()]):.6g}")
        where = f" at [{', '.join(map(str, index))}]" if index else ""
        of = f" of {' and '.join(operands)}" if operands else ""
        return f"`{primitive.name}`{of} is {values[index]}{where}"
    return f"`{primitive.name}` is not finite"
