"""Define the error function, its complement and its inverse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src.core.families import EXPENSIVE
from sagax._src.primitives.accuracy import bind_accurately
from sagax._src.primitives.arithmetic import full_like, mul, square, strong, strong_array
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.formulas import Number, absolute, formula, lower_to, minimum, polynomial
from sagax._src.primitives.formulas import exp as exp_of
from sagax._src.primitives.makers import elementwise, floating
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.special.common import scipy_reference, unary_samples
from sagax._src.primitives.transcendental import exp, widened

_TWO_OVER_ROOT_PI = 1.1283791670955126
_HALF_ROOT_PI = 0.8862269254527580

# exp(-x**2), the slope of erf: far out, the rounding of x**2 alone would cost half of the digits --------


exp_neg_square_p = elementwise(
    "exp_neg_square",
    numpy=widened(lambda x: np.exp(-np.square(x.astype(np.float64)))),
    accepts=floating,
    # where the function vanishes so does its slope, even at infinity
    jvp=lambda t, out, x: mul(t, mul(-2.0, mul(select_n(eq(out, 0), x, full_like(x, 0)), out))),
    samples=unary_samples(-2, 2),
)


@formula(exp_neg_square_p, widen=False)
def _exp_neg_square(x: Number) -> Number:
    """Split x = h + l so that h**2 is exact; then e**(-x**2) = e**(-h**2) e**(-(x - h)(x + h)).

    The second exponent is below 1/11: six terms of the series. Its factor is kept as a difference from 1, since XLA may
    merge a product of two exponentials, and a small sum keeps its digits.

    As in W. J. Cody, Rational Chebyshev approximations for the error function, Math. Comp. 23 (1969).
    """
    # beyond these bounds the result is 0; infinity would make l NaN
    x = minimum(absolute(x), 40.0 if x.double else 12.0)
    high = x.with_low_bits_cleared()
    out = exp_of(-(high * high))
    rest = (high - x) * (x + high)
    return out + out * (rest * polynomial(rest, [1 / math.factorial(k) for k in range(1, 7)]))


def exp_neg_square(x: Any) -> Any:
    """Return exp(-x**2), elementwise, accurate also for large `x`."""
    return exp_neg_square_p.bind(x)


# erf, erfc, erf_inv ------------------------------------------------------------------------------------

erf_p = elementwise(
    "erf",
    family=EXPENSIVE,
    numpy=scipy_reference("erf"),
    accepts=floating,
    jvp=lambda t, out, x: mul(_TWO_OVER_ROOT_PI, mul(t, strong(exp_neg_square(x)))),
    samples=unary_samples(-2, 2),
)
lower_to(erf_p, "chlo.erf")


def erf(x: Any) -> Any:
    """Return the error function of `x`: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to `x`.

    >>> lax.erf(np.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8427], dtype=float32)
    """
    return erf_p.bind(x)


erfc_p = elementwise(
    "erfc",
    numpy=scipy_reference("erfc"),
    accepts=floating,
    jvp=lambda t, out, x, accuracy=None: mul(-_TWO_OVER_ROOT_PI, mul(t, strong(exp_neg_square(x)))),
    samples=unary_samples(-2, 2),
)
lower_to(erfc_p, "chlo.erfc")


def erfc(x: Any, *, accuracy: Any = None) -> Any:
    """Return 1 - erf(x), without cancellation for large `x`.

    `accuracy` is accepted for uniformity; it has no effect.

    >>> lax.erfc(np.array([0.0, 1.0])).round(4)
    Array([1.    , 0.1573], dtype=float32)
    """
    return bind_accurately(erfc_p, x, accuracy)


erf_inv_p = elementwise(
    "erf_inv",
    numpy=scipy_reference("erfinv"),
    accepts=floating,
    jvp=lambda t, out, x: mul(_HALF_ROOT_PI, mul(t, strong_array(exp(square(out))))),
    samples=unary_samples(-0.9, 0.9),
)
lower_to(erf_inv_p, "chlo.erf_inv")


def erf_inv(x: Any) -> Any:
    """Return the number whose error function is `x`: infinite at -1 and 1, NaN beyond.

    >>> lax.erf_inv(np.array([0.0, 0.5])).round(2)
    Array([0.  , 0.48], dtype=float32)
    """
    return erf_inv_p.bind(x)
