"""Define the elementwise power of two arrays. Its derivative takes a logarithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.families import EXPENSIVE
from sagax._src.core.samples import Sample, bf16, c64, f32, i32, u8
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import DtypeError
from sagax._src.primitives.arithmetic import mul, replaced, strong, sub
from sagax._src.primitives.makers import Accepts, elementwise, inexact, operands
from sagax._src.primitives.structural import convert
from sagax._src.primitives.transcendental import log

_exponent = Accepts(
    "floating point or complex numbers, or integers",
    lambda d: inexact.test(d) or dtype_predicates.is_integer(d),
)


def _base_tangent(t: Any, out: Any, x: Any, y: Any) -> Any:
    """Return the tangent from the base: y x**(y - 1) t."""
    if not dtype_predicates.is_integer(aval_of(y).dtype):
        # strongly typed, also for numbers, as in jax
        return mul(t, mul(y, pow(strong(x), sub(y, 1))))
    # An integer exponent of 0 makes a constant function, also at x = 0 where 1 / x is infinite.
    y = convert(y, aval_of(x).dtype)
    return mul(t, mul(y, pow(x, sub(replaced(y, 0, 1), 1))))


def _exponent_tangent(t: Any, out: Any, x: Any, y: Any) -> Any:
    """Return the tangent from the exponent: log(x) x**y t, and 0 at x = 0."""
    return mul(t, mul(log(replaced(x, 0, 1)), out))


pow_p = elementwise(
    "pow",
    2,
    family=EXPENSIVE,
    wide_rule=np.power,
    numpy=lambda x, y: np.power(x, y.astype(x.dtype)),
    accepts=(inexact, _exponent),
    same_dtype=False,
    jvp=(_base_tangent, _exponent_tangent),
    samples=[
        Sample(f32(2, 3, low=0.5, high=2), f32(2, 3)),
        Sample(f32(3, low=0.5, high=2), f32()),
        Sample(f32(low=0.5, high=2), f32(2, 3)),
        Sample(f32(2, 3, low=0.5, high=2), i32(2, 3, low=-2, high=4)),
        Sample(f32(4, low=-2, high=-0.5), u8(4, low=0, high=4)),
        Sample(c64(3, low=0.5), c64(3, low=0.5)),
        Sample(bf16(3, low=0.5), bf16(3)),
    ],
)
_unchecked = pow_p.rule("abstract")


@pow_p.abstract
def _(x: Any, y: Any) -> Any:
    out = _unchecked(x, y)
    if y.dtype != x.dtype and not dtype_predicates.is_integer(y.dtype):
        raise DtypeError(
            "lax.pow requires arguments to have the same dtypes, got "
            f"{dtypes.name(x.dtype)}, {dtypes.name(y.dtype)}",
            function="pow",
            expected="the dtype of the base, or integers, for the exponent",
            fix="convert one of them with astype; sagax.numpy.power promotes dtypes by itself",
        )
    return out


@pow_p.lower
def _(b: Any, x: Any, y: Any) -> Any:
    return b.elementwise("power", [x, b.convert(y, x.dtype)])


def pow(x: Any, y: Any) -> Any:
    """Raise `x` to the power `y`, elementwise, for floating point or complex `x`.

    `y` has the dtype of `x`, or holds integers, whose power is differentiable in `x` everywhere. A
    negative real number to a fractional power is NaN.

    >>> lax.pow(np.array([4.0, 9.0]), 0.5)
    Array([2., 3.], dtype=float32)
    """
    if type(y) is int:
        return pow_p.bind(x, y)
    return pow_p.bind(*operands(x, y))
