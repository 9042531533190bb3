"""Evaluate the error function, its relatives, and the normal distribution function."""

from __future__ import annotations

import math
from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax._src.primitives.special.erf import erf as _erf
from sagax._src.primitives.special.erf import erf_inv as _erf_inv
from sagax._src.primitives.special.erf import erfc as _erfc
from sagax._src.primitives.special.rests import gauss
from sagax.numpy._base import promotes_freely
from sagax.scipy.special._elementwise import double, horner, special

_ROOT_PI = math.sqrt(math.pi)
_ROOT_2 = math.sqrt(2.0)


@special(lambda out, x: (2 / _ROOT_PI) * snp.exp(-x * x), narrow=True)
def erf(x: Any) -> Array:
    """Compute the error function, 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    >>> special.erf(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _erf(x)


@special(lambda out, x: (-2 / _ROOT_PI) * snp.exp(-x * x), narrow=True)
def erfc(x: Any) -> Array:
    """Compute 1 - erf(x), exact also where that is near 0.

    >>> special.erfc(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _erfc(x)


@special(lambda out, x: (_ROOT_PI / 2) * snp.exp(out * out), narrow=True)
def erfinv(x: Any) -> Array:
    """Compute the inverse of `erf` for x from -1 to 1, where it is infinite; NaN outside.

    >>> special.erfinv(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _erf_inv(x)


@special(lambda out, y: (-_ROOT_PI / 2) * snp.exp(out * out), narrow=True, strong=True)
def erfcinv(y: Any) -> Array:
    """Compute the inverse of `erfc` for y from 0 to 2, where it is infinite; NaN outside.

    Exact digits also for small y, where erfinv(1 - y) has none left.

    >>> special.erfcinv(1.0)
    Array(0., dtype=float32)
    """
    return 0 - ndtri(y / 2) / _ROOT_2


# scaled ---------------------------------------------------------------------------------------------


def split_square(x: Any) -> tuple[Any, Any]:
    """Split x**2 into a rounded square and its rounding error (T. Dekker)."""
    shift = 134217729.0 if double(x) else 4097.0
    big = shift * x
    high = big - (big - x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2 * high * low) + low * low


def exp_of_square(x: Any, sign: float, scale: float = 1.0) -> Any:
    """Compute exp(sign * scale * x**2), without the digits that rounding the square would cost."""
    square, rest = split_square(x)
    return snp.exp(sign * scale * square) * (1 + sign * scale * rest)


def _scaled_far(x: Any, terms: int) -> Any:
    """erfcx for large x: DLMF 7.12.1."""
    r = 1 / (2 * x * x)
    coefficients = [1.0]
    for k in range(1, terms):
        coefficients.append(-coefficients[-1] * (2 * k - 1))
    return horner(r, coefficients) / (_ROOT_PI * x)


def _scaled(x: Any) -> Any:
    limit, terms = (11.0, 17) if double(x) else (5.0, 9)
    near = snp.clip(x, -27.0 if double(x) else -10.0, limit)
    return snp.where(
        x > limit,
        _scaled_far(snp.maximum(x, limit), terms),
        snp.where(x < near, snp.inf, exp_of_square(near, 1.0) * _erfc(near)),
    )


@special(lambda out, x: _scaled_slope(out, x), strong=True)
def erfcx(x: Any) -> Array:
    """Compute exp(x**2) erfc(x), which neither over- nor underflows for positive x.

    >>> special.erfcx(0.0)
    Array(1., dtype=float32)
    """
    return snp.where(snp.isnan(x), x, _scaled(x))


def _scaled_slope(out: Any, x: Any) -> Any:
    # 2 x erfcx(x) - 2/sqrt(pi) cancels for large x, where it is -1/(sqrt(pi) x**2) (1 - 3/(2 x**2) ...)
    far = snp.maximum(x, 20.0)
    r = 1 / (far * far)
    tail = -r / _ROOT_PI * (1 - 1.5 * r * (1 - 2.5 * r * (1 - 3.5 * r)))
    return snp.where(x > 20.0, tail, 2 * x * out - 2 / _ROOT_PI)


@special(lambda out, x: _dawson_slope(out, x), strong=True)
def dawsn(x: Any) -> Array:
    """Compute Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x.

    By the sum of G. Rybicki (Computers in Physics 3, 1989), and series for small and large x.

    >>> special.dawsn(0.0)
    Array(0., dtype=float32)
    """
    size = snp.abs(x)
    step, reach = (0.2, 31) if double(x) else (0.4, 13)
    square = x * x
    small = x * horner(
        snp.minimum(square, 0.25),
        [(-2.0) ** k / math.prod(range(1, 2 * k + 2, 2)) for k in range(15)],
    )
    far_from = 12.0
    far = snp.maximum(size, far_from)
    r = 1 / (2 * far * far)
    large = horner(r, [math.prod(range(1, 2 * k, 2)) for k in range(9)]) / (2 * far)
    middle = snp.minimum(size, far_from)
    nearest = 2 * snp.round(middle / (2 * step))
    rest = middle - nearest * step
    total = 0 * middle
    for k in range(-reach, reach + 1, 2):
        weight = snp.exp(-((rest - k * step) ** 2))
        total = total + weight / (nearest + k)
    found = snp.where(size > far_from, large, total / _ROOT_PI)
    return snp.where(size < 0.5, small, snp.copysign(found, x))


def _dawson_slope(out: Any, x: Any) -> Any:
    # 1 - 2 x F(x) cancels for large x, where it is -1/(2 x**2) (1 + 3/(2 x**2) + ...)
    far = snp.maximum(snp.abs(x), 12.0)
    r = 1 / (2 * far * far)
    tail = -r * (1 + r * (3 + r * (15 + r * (105 + r * 945))))
    return snp.where(snp.abs(x) > 12.0, tail, 1 - 2 * x * out)


def _trapezoid(z: Any, count: int) -> Any:
    """exp(-z**2) erfc(-i z) for Im z >= 0: trapezoidal rules with the residues of their poles.

    After M. Al Azah, S. Chandler-Wilde, SIAM Journal on Numerical Analysis 59 (2021).
    """
    h = math.sqrt(math.pi / (count + 1))
    x, y = z.real, z.imag
    phase = x / h - snp.floor(x / h)
    middle = (phase > 0.25) & (phase < 0.75)  # of two rules, the one whose nodes are farther from x
    square = z * z

    def rule(offset: float) -> Any:
        total = 0 * z
        for k in range(count + 1):
            t = (k + offset) * h
            weight = math.exp(-t * t) * (0.5 if t == 0.0 else 1.0)
            total = total + weight / (square - t * t)
        return (2j * h / math.pi) * z * total

    sums = snp.where(middle, rule(0.0), rule(0.5))
    near = y < math.pi / h
    turn = snp.exp(-2j * math.pi / h * z)
    residue = 2 * snp.exp(-square) / snp.where(middle, 1 - turn, 1 + turn)
    return snp.where(near, sums + residue, sums)


@promotes_freely
@special(lambda out, z: -2 * z * out + 2j / _ROOT_PI, kinds="fc", strong=True)
def wofz(z: Any) -> Array:
    """Compute the Faddeeva function w(z) = exp(-z**2) erfc(-i z) of complex z.

    >>> special.wofz(0j)
    Array(1.+0.j, dtype=complex64)
    """
    z = z + 0j
    zero = z == 0
    z = snp.where(zero, 1.0, z)
    upper = z.imag >= 0
    up = snp.where(upper, z, -z)
    found = _trapezoid(up, 11)
    found = snp.where(upper, found, 2 * snp.exp(-z * z) - found)
    return snp.where(zero, 1.0, found)


# the normal distribution ------------------------------------------------------------------------------


@special(lambda out, x: snp.exp(-x * x / 2) / math.sqrt(2 * math.pi), strong=True, lists=True)
def ndtr(x: Any) -> Array:
    """Compute the cumulative distribution function of the standard normal distribution.

    >>> special.ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    left = snp.minimum(x, 0.0)
    tail = 0.5 * _scaled(-left / _ROOT_2) * exp_of_square(snp.maximum(left, -40.0), -1.0, 0.5)
    tail = snp.where(left < -40.0, 0.0, tail)
    return snp.where(x < -1.0, tail, 0.5 * _erfc(-x / _ROOT_2))


def _log_ndtr(x: Any) -> Any:
    left = snp.minimum(x, -1.0)
    tail = snp.log(0.5 * _scaled(-left / _ROOT_2)) - left * left / 2
    right = snp.maximum(x, -1.0)
    return snp.where(x < -1.0, tail, snp.log1p(-0.5 * _erfc(right / _ROOT_2)))


def _mills(x: Any) -> Any:
    """The density of the normal distribution over its distribution function."""
    left = snp.minimum(x, 0.0)
    tail = math.sqrt(2 / math.pi) / _scaled(-left / _ROOT_2)
    tail = snp.where(left == -snp.inf, snp.inf, tail)
    right = snp.exp(-x * x / 2) / (
        math.sqrt(2 * math.pi) * (1 - 0.5 * _erfc(snp.maximum(x, 0.0) / _ROOT_2))
    )
    return snp.where(x < 0, tail, right)


@special(lambda out, x: _mills(x), strong=True, lists=True)
def _log_ndtr_function(x: Any) -> Array:
    return _log_ndtr(x)


def log_ndtr(x: Any, series_order: int = 3) -> Array:
    """Compute the logarithm of `ndtr`, exact in both tails. `series_order` has no effect.

    >>> special.log_ndtr(-100.0).round(1)
    Array(-5005.5, dtype=float32)
    """
    return _log_ndtr_function(x)


@special(lambda out, p: math.sqrt(2 * math.pi) * snp.exp(out * out / 2), strong=True)
def ndtri(p: Any) -> Array:
    """Compute the inverse of `ndtr`, for p from 0 to 1; NaN outside.

    >>> special.ndtri(0.5)
    Array(0., dtype=float32)
    """
    lower = snp.minimum(p, 1 - p)  # exact: for p > 1/2 the subtraction is
    tail = (lower > 0) & (lower < 0.2)
    safe = snp.where(tail, lower, 0.1)
    log_p = snp.log(safe)
    x = -snp.sqrt(-2 * log_p - snp.where(log_p < -2.5, snp.log(2 * math.pi * (-2 * log_p)), 0))
    for _ in range(5 if double(p) else 4):  # Newton for the logarithm, which is nearly a parabola
        x = x - (_log_ndtr(x) - log_p) / _mills(x)
    x = snp.where(tail, x, _ROOT_2 * _erf_inv(2 * snp.where(tail, 0.5, lower) - 1))
    x = snp.where(lower == 0, -snp.inf, x)
    x = snp.where(p > 0.5, -x, x)
    return snp.where((p < 0) | (p > 1) | snp.isnan(p), snp.nan, x)


# Owen's function ------------------------------------------------------------------------------------


def _owen(h: Any, a: Any) -> Any:
    """T(h, a) for h >= 0 and 0 <= a <= 1, by Gauss' rule where the integrand is not 0."""
    reach = snp.minimum(a, 13.5 / snp.maximum(h, 1e-3))
    nodes, weights = gauss(40)
    total = 0 * (h + a)
    for node, weight in zip(nodes, weights, strict=True):
        x = reach * node
        total = total + weight * snp.exp(-0.5 * h * h * (1 + x * x)) / (1 + x * x)
    return total * reach / (2 * math.pi)


def _owen_in_h(out: Any, h: Any, a: Any) -> Any:
    return -snp.exp(-h * h / 2) * _erf(a * h / _ROOT_2) / (2 * math.sqrt(2 * math.pi))


def _owen_in_a(out: Any, h: Any, a: Any) -> Any:
    return snp.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a))


@special(_owen_in_h, _owen_in_a, strong=True)
def owens_t(h: Any, a: Any) -> Array:
    """Compute Owen's T function: the probability of X > h, 0 < Y < a X for normal X, Y.

    D. Owen, Annals of Mathematical Statistics 27 (1956).

    >>> special.owens_t(0.0, 1.0).round(4)
    Array(0.125, dtype=float32)
    """
    size, slope = snp.abs(h), snp.abs(a)
    steep = slope > 1
    inverse = 1 / snp.where(steep, slope, 1.0)
    product = snp.where(size == 0, 0.0, size * slope)
    near = _owen(size, snp.minimum(slope, 1.0))
    # both are at least 0, so their tails decide: DLMF has none of it; Owen's (2.3)
    q_h, q_ah = 0.5 * _erfc(size / _ROOT_2), 0.5 * _erfc(product / _ROOT_2)
    far = 0.5 * (q_h + q_ah) - q_h * q_ah - _owen(product, snp.where(steep, inverse, 0.0))
    found = snp.where(steep, far, near)
    found = snp.where(snp.isinf(slope), 0.5 * q_h, found)
    return snp.where(snp.isnan(h) | snp.isnan(a), snp.nan, snp.copysign(found, a))
