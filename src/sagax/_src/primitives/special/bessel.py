"""Define modified Bessel functions of order 0 and 1, scaled by exp(-|x|).

Up to a bound they use the power series, whose terms are all positive; beyond, Hankel's expansion, which has full
accuracy there. DLMF 10.25.2 and 10.40.1.
"""

from __future__ import annotations

import math
from typing import Any

from sagax._src.core import dtypes
from sagax._src.core.value import aval_of
from sagax._src.primitives.arithmetic import abs, add, div, full_like, mul, sign, sub
from sagax._src.primitives.comparison import le
from sagax._src.primitives.formulas import (
    Number,
    absolute,
    exp,
    formula,
    inverse_sqrt,
    is_widened,
    maximum,
    minimum,
    polynomial,
    sqrt,
    where,
)
from sagax._src.primitives.formulas import sign as sign_of
from sagax._src.primitives.makers import elementwise, floating
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.special.common import scipy_reference, unary_samples

# Polynomials in v = 1/2 - 8 / (x + 8), for x >= 0: of sqrt(x + 8) exp(-x) I0(x) and of (x + 8)**1.5 exp(-x) I1(x) / x, within 1.2e-9
# of their size. The square roots and quotients in them are finite and vary little, up to infinity.
_WIDENED = (
    (
        0.573727128045,
        -0.615301805923,
        1.00195092093,
        -1.8460537107,
        3.67482391381,
        -7.83486204825,
        17.6274202339,
        -39.5676613973,
        78.7776907444,
        -110.461323851,
        30.0144132358,
        257.590404569,
        -405.65887597,
        -321.675349614,
        1176.00290295,
        236.882920478,
        -2248.80189998,
        -27.1021773321,
        2720.37949695,
        -83.9460680274,
        -1546.16185965,
    ),
    (
        1.07313994505,
        -2.98764185258,
        6.83871722516,
        -14.3247258458,
        28.0305841385,
        -50.7003914759,
        81.0460697754,
        -101.600824431,
        61.5069688225,
        100.579509232,
        -296.716609372,
        118.213531803,
        616.221909596,
        -703.397790952,
        -989.900964014,
        1734.79531037,
        1111.97405159,
        -2532.8378239,
        -551.546958803,
        1705.34109192,
        -145.68411017,
    ),
)


def _widened(x: Number, order: int) -> Number:
    """Return exp(-|x|) I(x) of the given order in float64, with the digits of float32."""
    x = maximum(
        minimum(x, 3.5e38), -3.5e38
    )  # infinity becomes a number that float32 has not: r is 0 there
    r = inverse_sqrt(absolute(x) + 8)
    square = r * r
    out = r * polynomial(0.5 - 8 * square, _WIDENED[order])
    return out * square * x if order else out


def _scaled(x: Number, order: int) -> Number:
    """Return exp(-x) I(x) of the given order for x >= 0."""
    bound, iterations, terms = (24.0, 48, 24) if x.double else (10.0, 22, 9)
    near = minimum(x, bound)
    quarter = 0.25 * near * near
    series = x.like(1.0)
    for k in range(iterations, 0, -1):
        series = 1 + quarter * (1 / (k * (k + order))) * series
    series = series * exp(-near) * ((0.5 * near) if order else 1.0)
    far = maximum(x, bound)
    inverse = 1 / far
    expansion = x.like(1.0)
    for k in range(terms, 0, -1):
        expansion = 1 + inverse * (((2 * k - 1) ** 2 - 4 * order**2) / (8 * k)) * expansion
    return where(x < bound, series, expansion / sqrt(2 * math.pi * far))


bessel_i0e_p = elementwise(
    "bessel_i0e",
    numpy=scipy_reference("i0e"),
    accepts=floating,
    jvp=lambda t, out, x: mul(t, sub(bessel_i1e(x), mul(sign(x), out))),
    samples=unary_samples(-12, 12),
)


@formula(bessel_i0e_p)
def _i0e(x: Number) -> Number:
    if is_widened(x):
        return _widened(x, 0)
    return where(x.is_nan(), x, _scaled(absolute(x), 0))


def bessel_i0e(x: Any) -> Any:
    """Return exp(-|x|) I0(x): the modified Bessel function of order 0, scaled to stay finite.

    >>> lax.bessel_i0e(np.array([0.0, 1.0])).round(4)
    Array([1.    , 0.4658], dtype=float32)
    """
    return bessel_i0e_p.bind(x)


def _i1e_slope(t: Any, out: Any, x: Any) -> Any:
    """Return I1' = I0 - I1 / x, with the derivative of the scale; 1/2 at zero."""
    tiny = dtypes.finfo(aval_of(x).dtype).eps
    at_zero = le(abs(x), tiny)
    y = select_n(at_zero, x, full_like(x, tiny))
    slope = sub(bessel_i0e(y), mul(out, add(sign(y), div(1.0, y))))
    return mul(t, select_n(at_zero, slope, full_like(x, 0.5)))


bessel_i1e_p = elementwise(
    "bessel_i1e",
    numpy=scipy_reference("i1e"),
    accepts=floating,
    jvp=_i1e_slope,
    samples=unary_samples(-12, 12),
)


@formula(bessel_i1e_p)
def _i1e(x: Number) -> Number:
    if is_widened(x):
        return _widened(x, 1)
    return where(x.is_nan(), x, sign_of(x) * _scaled(absolute(x), 1))


def bessel_i1e(x: Any) -> Any:
    """Return exp(-|x|) I1(x): the modified Bessel function of order 1, scaled to stay finite.

    >>> lax.bessel_i1e(np.array([0.0, 1.0])).round(3)
    Array([0.   , 0.208], dtype=float32)
    """
    return bessel_i1e_p.bind(x)
