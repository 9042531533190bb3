"""Make special functions from a formula and its derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from sagax._src.api.derivatives import jvp
from sagax._src.api.jit import jit
from sagax._src.core import dtypes
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, DtypeError
from sagax._src.higher_order.custom_derivatives import custom_jvp
from sagax._src.primitives.structural import convert
from sagax.numpy._base import as_operand, dtype_of, promote_inexact
from sagax.numpy._conversion import asarray

Slope = Callable[..., Any] | Literal["formula"] | None
_F32 = np.dtype(np.float32)


def special(
    *slopes: Slope,
    narrow: bool = False,
    kinds: str = "f",
    strong: bool = False,
    lists: bool = False,
    weak_if_all_are: bool = False,
    weak_scalars: bool = False,
) -> Callable[[Callable], Any]:
    """Decorate a formula f(*xs) of inexact arrays of one dtype, which broadcast.

    `slopes` are the derivatives in each argument, functions of the result and the arguments;
    "formula" where that of the formula itself serves, None where differentiating raises. Without slopes the formula itself is
    differentiated. `narrow`: 16-bit numbers are computed with as they are, not as float32. `strong`:
    the result is strongly typed, that of Python numbers too. `lists`: arguments may be lists.
    `weak_if_all_are`: an integer array beside a Python number makes the result strongly typed.
    `weak_scalars`: so does a first argument that is no scalar.
    """

    def decorate(body: Callable) -> Any:
        name = body.__name__

        def wide(*xs: Any) -> Any:
            dtype = dtype_of(xs[0])
            weak = all(aval_of(x).weak_type for x in xs)
            weak = weak and not (weak_scalars and aval_of(xs[0]).ndim)
            if narrow or dtypes.itemsize(dtype) >= 4:
                out = body(*xs)
                return convert(out, dtype_of(out), weak)
            out = body(*[convert(x, _F32) for x in xs])
            return convert(out, dtype_of(out) if dtypes.is_complex(dtype_of(out)) else dtype, weak)

        wide.__name__ = wide.__qualname__ = name
        core = with_slopes(wide, slopes, name, narrow) if slopes else wide
        compiled = jit(core)

        def strongly(*xs: Any) -> Any:
            # within the compiled function, where the conversion of a number is free
            return core(*[convert(x, dtype_of(x)) for x in xs])

        strongly.__name__ = strongly.__qualname__ = name
        compiled_strongly = jit(strongly)

        @functools.wraps(body)
        def call(*args: Any) -> Any:
            if lists:
                args = tuple([asarray(x) if isinstance(x, (list, tuple)) else x for x in args])
            operands = [as_operand(name, x, i) for i, x in enumerate(args)]
            xs = promote_inexact(name, *operands)
            if dtypes.kind(dtype_of(xs[0])) not in kinds:
                raise DtypeError(function=name, got=xs[0], expected="real numbers")
            if strong or (weak_if_all_are and not all(aval_of(x).weak_type for x in operands)):
                return compiled_strongly(*xs)
            return compiled(*xs)

        call.formula = core  # type: ignore[attr-defined]
        return call

    return decorate


def with_slopes(body: Callable, slopes: tuple[Slope, ...], name: str, narrow: bool = True) -> Any:
    """Define the derivatives of a function; without `narrow` those of 16-bit numbers are computed as float32."""
    core = custom_jvp(body)

    def rule(primals: tuple, tangents: tuple) -> tuple:
        out = core(*primals)
        total = None
        for i, (slope, t) in enumerate(zip(slopes, tangents, strict=True)):
            if not hasattr(t, "weak_type") or _is_symbolic(t):
                continue
            if slope is None:
                raise ArgumentError(
                    f"there is no derivative of {name} in its argument {i}",
                    function=name,
                    fix="take it as a constant: sagax.lax.stop_gradient(...)",
                )
            if slope == "formula":
                term = _forward_slope(body, primals, i) * t
            else:
                given = (out, *primals)
                if not narrow and dtypes.itemsize(dtype_of(out)) < 4:
                    given = [convert(x, _F32) for x in given]
                term = slope(*given) * t
            total = term if total is None else total + term
        total = out * 0 if total is None else total
        return out, convert(total, dtype_of(out), aval_of(total).weak_type)

    core.defjvp(rule, symbolic_zeros=True)
    return core


def _forward_slope(body: Callable, primals: tuple, i: int) -> Any:
    """Differentiate a formula in argument `i`, in forward mode: branches not taken do not count."""

    def along(x: Any) -> Any:
        return body(*primals[:i], x, *primals[i + 1 :])

    x = primals[i]
    return jvp(along, (x,), (convert(1, dtype_of(x), aval_of(x).weak_type) + 0 * x,))[1]


def _is_symbolic(t: Any) -> bool:
    return type(t).__name__ == "SymbolicZero"


def finfo(x: Any) -> Any:
    return np.finfo(dtype_of(x))


def double(x: Any) -> bool:
    """Return whether the formula needs the digits of float64."""
    return dtypes.itemsize(dtype_of(x)) // (2 if dtypes.kind(dtype_of(x)) == "c" else 1) == 8


def horner(x: Any, coefficients: Any) -> Any:
    """Evaluate the polynomial c0 + c1 x + c2 x**2 + ..."""
    coefficients = list(coefficients)
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total
