"""Evaluate the error function, its relatives, and the normal distribution function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.primitives.special.erf import erf as _erf
from sagax._src.primitives.special.erf import erf_inv as _erf_inv
from sagax._src.primitives.special.erf import erfc as _erfc
from sagax._src.primitives.special.rests import gauss
from sagax.numpy._base import dtype_of, promotes_freely, strong_array
from sagax.scipy.special._elementwise import double, finfo, horner, special

_ROOT_PI = math.sqrt(math.pi)
_ROOT_2 = math.sqrt(2.0)


@special(narrow=True)
def erf(x: Any) -> Array:
    """Compute the error function, 2/sqrt(pi) times the integral of exp(-t**2) from 0 to x.

    >>> special.erf(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _erf(x)


@special(narrow=True)
def erfc(x: Any) -> Array:
    """Compute 1 - erf(x), exact also where that is near 0.

    >>> special.erfc(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _erfc(x)


@special(lambda out, x: strong_array((_ROOT_PI / 2) * snp.exp(out * out)), narrow=True)
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
    if double(x):
        square, rest = split_square(x)
        return snp.exp(sign * scale * square) * (1 + sign * scale * rest)
    # with half of the digits of x the square is exact; what it lacks is below 1/8. Without derivative.
    high = lax.bitcast_convert_type(lax.bitcast_convert_type(x, np.int32) & -4096, np.float32)
    rest = (x + high) * (x - high) * (sign * scale)
    found = snp.exp(sign * scale * (high * high))
    return found + found * (rest * horner(rest, _EXP_LESS_1))


_EXP_LESS_1 = (1, 1 / 2, 1 / 6, 1 / 24, 1 / 120)


def _scaled_far(x: Any, terms: int) -> Any:
    """erfcx for large x: DLMF 7.12.1."""
    r = 1 / (2 * x * x)
    coefficients = [1.0]
    for k in range(1, terms):
        coefficients.append(-coefficients[-1] * (2 * k - 1))
    return horner(r, coefficients) / (_ROOT_PI * x)


# With y = x / (x + 5/4) the function (x + 5/4) erfcx(x) is 5/4 + y p(y - 1/2) for x >= 0, within 8.7e-9 of its size.
_SCALED_32 = (
    -0.660885403,
    -0.220546796,
    0.264805373,
    0.246986057,
    -0.0444729661,
    -0.2490783,
    -0.198117809,
    0.0582403822,
    0.336294745,
    0.264689436,
    -0.211575546,
    -0.299790576,
)


def _scaled_right(x: Any) -> Any:
    """erfcx(x) in float32, for x >= 0."""
    r = 1 / (x + 1.25)
    y = r * snp.minimum(x, finfo(x).max)  # at infinity 0, not NaN: r is 0 there
    return r * (1.25 + y * horner(y - 0.5, _SCALED_32))


def _scaled(x: Any) -> Any:
    if not double(x):
        size = snp.abs(x)
        right = _scaled_right(size)
        # at 9.4 twice the exponential overflows, and not yet the exponential, which would become NaN in a sum
        return snp.where(x < 0, 2 * exp_of_square(snp.minimum(size, 9.4), 1.0) - right, right)
    limit, terms = 11.0, 17
    near = snp.clip(x, -27.0, limit)
    return snp.where(
        x > limit,
        _scaled_far(snp.maximum(x, limit), terms),
        snp.where(x < near, snp.inf, exp_of_square(near, 1.0) * _erfc(near)),
    )


@special(lambda out, x: _scaled_slope(out, x), kinds="fc", strong=True)
def erfcx(x: Any) -> Array:
    """Compute exp(x**2) erfc(x), which neither over- nor underflows for positive x.

    >>> special.erfcx(0.0)
    Array(1., dtype=float32)
    """
    if dtypes.is_complex(dtype_of(x)):
        return wofz.formula(1j * x)  # DLMF 7.2.3
    return snp.where(snp.isnan(x), x, _scaled(x)) if double(x) else _scaled(x)


def _scaled_slope(out: Any, x: Any) -> Any:
    if dtypes.is_complex(dtype_of(x)):
        return 1j * _wofz_slope(out, 1j * x)
    # 2 x erfcx(x) - 2/sqrt(pi) cancels for large x, where it is -1/(sqrt(pi) x**2) (1 - 3/(2 x**2) ...)
    far = snp.maximum(x, 20.0)
    r = 1 / (far * far)
    tail = -r / _ROOT_PI * (1 - 1.5 * r * (1 - 2.5 * r * (1 - 3.5 * r)))
    return snp.where(x > 20.0, tail, 2 * x * out - 2 / _ROOT_PI)


# For w = x**2 <= 9 the function (w + 1) F(x) / x is 1 + w p(w - 9/2), beyond x F(x) is 1/2 + r q(r - 1/16) with r = 1/w: both within
# 2e-8 of their size.
_DAWSON_NEAR_32 = (
    -0.0620431233,
    0.000736534571,
    0.00248679661,
    -0.000902866547,
    0.000212077881,
    -3.89849795e-05,
    5.98228363e-06,
    -7.94130787e-07,
    9.30005918e-08,
    -9.53137253e-09,
    8.68006685e-10,
    -8.37256701e-11,
    8.33958e-12,
    -4.5725831e-13,
)
_DAWSON_FAR_32 = (
    0.278271923,
    0.559119025,
    2.48754409,
    19.8168627,
    105.037971,
    -2049.3492,
    -36987.6587,
    87591.5815,
    3516039.54,
    2680155.49,
)


def _dawson_32(x: Any) -> Any:
    square = x * x
    near = square < 9
    quotient = snp.where(near, x, 1.0) / snp.where(near, square + 1, x)
    inside = snp.minimum(square, 9.0)
    inner = 1 + inside * horner(inside - 4.5, _DAWSON_NEAR_32)
    r = snp.where(near, 0.0, quotient * quotient)
    outer = 0.5 + r * horner(r - 0.0625, _DAWSON_FAR_32)
    return quotient * snp.where(near, inner, outer)


@special(lambda out, x: _dawson_slope(out, x), strong=True)
def dawsn(x: Any) -> Array:
    """Compute Dawson's integral, exp(-x**2) times the integral of exp(t**2) from 0 to x.

    By the sum of G. Rybicki (Computers in Physics 3, 1989), and series for small and large x; in float32 by polynomials.

    >>> special.dawsn(0.0)
    Array(0., dtype=float32)
    """
    if not double(x):
        return _dawson_32(x)
    size = snp.abs(x)
    step, reach = 0.2, 31
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


def _trapezoid(x: Any, y: Any, count: int) -> tuple[Any, Any, Any, Any]:
    """w = exp(-z**2) erfc(-i z) for z = x + i y, y >= 0, and exp(-z**2), by trapezoidal rules with the residues of their poles.

    After M. Al Azah, S. Chandler-Wilde, SIAM Journal on Numerical Analysis 59 (2021). In real numbers, which XLA vectorizes. A
    quotient with two readers it would write to memory, a product with a reciprocal not.
    """
    h = math.sqrt(math.pi / (count + 1))
    step = 2.0 ** (26 if double(x) else 11)
    high = math.floor(h * step) / step  # whose products with small integers are exact
    nearest = snp.round(x / h)
    phase = ((x - nearest * high) - nearest * (h - high)) / h
    middle = snp.abs(phase) > 0.25  # of two rules, the one whose nodes are farther from x
    real, imaginary = (x - y) * (x + y), 2 * x * y
    sum_real, sum_imaginary = 0 * x, 0 * x
    for k in range(count + 1):
        nodes, weights = [k * h, (k + 0.5) * h], []
        for t in nodes:
            weights.append(math.exp(-t * t) * (0.5 if t == 0.0 else 1.0))
        part = real - snp.where(middle, nodes[0] ** 2, nodes[1] ** 2).astype(x.dtype)
        weight = snp.where(middle, *weights).astype(x.dtype)
        weight = weight * (1 / (part * part + imaginary * imaginary))
        sum_real = sum_real + weight * part
        sum_imaginary = sum_imaginary - weight * imaginary
    sum_real, sum_imaginary = x * sum_real - y * sum_imaginary, x * sum_imaginary + y * sum_real
    size = snp.exp(-real)
    gauss_real = size * snp.cos(imaginary)
    gauss_imaginary = snp.where(imaginary == 0, 0.0, -size * snp.sin(imaginary))
    # the residue 2 exp(-z**2) / (1 - exp(-2 pi i z / h)), with a sum where the nodes are halves
    turn = snp.where(middle, -1.0, 1.0) * snp.exp((2 * math.pi / h) * snp.minimum(y, math.pi / h))
    below_real = 1 + turn * snp.cos(2 * math.pi * phase)
    below_imaginary = -turn * snp.sin(2 * math.pi * phase)
    inverse = 2 * (1 / (below_real * below_real + below_imaginary * below_imaginary))
    factor_real, factor_imaginary = inverse * below_real, -inverse * below_imaginary
    near = y < math.pi / h
    residue_real = gauss_real * factor_real - gauss_imaginary * factor_imaginary
    residue_imaginary = gauss_real * factor_imaginary + gauss_imaginary * factor_real
    scale = 2 * h / math.pi
    return (
        snp.where(near, residue_real, 0.0) - scale * sum_imaginary,
        snp.where(near, residue_imaginary, 0.0) + scale * sum_real,
        gauss_real,
        gauss_imaginary,
    )


def _wofz_slope(out: Any, z: Any) -> Any:
    far = (abs(z) > 1e3) & (snp.imag(z) >= 0)  # where the two terms cancel
    inverse = 1 / snp.where(far, z, 1.0)
    near = -2 * snp.where(far, 1.0, z) * out + 2j / _ROOT_PI
    return snp.where(far, -1j / _ROOT_PI * inverse * inverse, near)


@promotes_freely
@special(_wofz_slope, kinds="fc", strong=True)
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
    # i / (sqrt(pi) z), where the next term is below the last digit: fourth powers would overflow
    far = snp.maximum(abs(up.real), abs(up.imag)) > (1e8 if double(z) else 1e4)
    near = snp.where(far, 1.0, up)
    *found, gauss_real, gauss_imaginary = _trapezoid(near.real, near.imag, 11)
    found = snp.where(far, 1j / (math.sqrt(math.pi) * snp.where(far, up, 1.0)), lax.complex(*found))
    beyond = snp.where(abs(up.real) >= abs(up.imag), 0.0, snp.inf)
    twice = lax.complex(2 * gauss_real, 2 * gauss_imaginary)
    found = snp.where(upper, found, snp.where(far, beyond, twice) - found)
    return snp.where(zero, 1.0, found)


# the normal distribution ------------------------------------------------------------------------------


@special(lambda out, x: snp.exp(-x * x / 2) / math.sqrt(2 * math.pi), strong=True, lists=True)
def ndtr(x: Any) -> Array:
    """Compute the cumulative distribution function of the standard normal distribution.

    >>> special.ndtr(0.0)
    Array(0.5, dtype=float32)
    """
    if not double(x):
        tail = _upper_tail(snp.abs(x))
        return snp.where(x < 0, tail, 1 - tail)
    left = snp.minimum(x, 0.0)
    tail = 0.5 * _scaled(-left / _ROOT_2) * exp_of_square(snp.maximum(left, -40.0), -1.0, 0.5)
    tail = snp.where(left < -40.0, 0.0, tail)
    return snp.where(x < -1.0, tail, 0.5 * _erfc(-x / _ROOT_2))


def _upper_tail(x: Any) -> Any:
    """The probability of more than x, in float32, for x >= 0."""
    scaled = _scaled_right((1 / _ROOT_2) * x)
    return 0.5 * scaled * exp_of_square(snp.minimum(x, 15.0), -1.0, 0.5)


def _log_ndtr(x: Any) -> Any:
    if not double(x):
        size = snp.abs(x)
        left, half = x < 0, 0.5 * _scaled_right((1 / _ROOT_2) * size)
        tail = half * exp_of_square(snp.minimum(size, 15.0), -1.0, 0.5)
        value = snp.where(left, half, 1 - tail)
        # on the right log(1 - tail): what rounding took from the argument is put back, 1 / value being about 2 - value
        lost = (tail - (1 - value)) * (2 - value)
        return -(snp.where(left, 0.5 * size * size, lost) - snp.log(value))  # -0.0 at infinity
    left = snp.minimum(x, -1.0)
    tail = snp.log(0.5 * _scaled(-left / _ROOT_2)) - left * left / 2
    right = snp.maximum(x, -1.0)
    return snp.where(x < -1.0, tail, snp.log1p(-0.5 * _erfc(right / _ROOT_2)))


def _mills(x: Any) -> Any:
    """The density of the normal distribution over its distribution function."""
    if not double(x):
        scaled, weight = _scaled_right((1 / _ROOT_2) * snp.abs(x)), snp.exp(-x * x / 2)
        above = snp.where(x < 0, 1.0, weight)
        return math.sqrt(2 / math.pi) * above / snp.where(x < 0, scaled, 2 - weight * scaled)
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


# Rational functions P/Q of least relative error (Lawson's weights, in 50 digits), each as coefficients of P and Q:
# of 0.425**2 - q**2, for ndtri(1/2 + q)/q where |q| <= 0.425; and of sqrt(-log p) less a shift, for -ndtri(p) where
# p < 0.075, up to the least number of the dtype. Errors: 4.5e-8, 1.1e-8; 7.7e-17, 1.6e-17, 3.5e-17.
_SHIFT_32, _SHIFT_64, _SPLIT = 2.0, 1.6, 5.0
_NDTRI_32 = (
    ((3.38713271, 50.4245801, 159.212979, 59.0558905), (1.0, 17.8923077, 78.7261259, 67.1379393)),
    (
        (2.08985, 3.40696339, 1.75609885, 0.341603919, 0.0203209835),
        (1.0, 0.849979018, 0.213068423, 0.0143660488),
    ),
)
_NDTRI_64 = (
    (
        (
            3.3871328727963665,
            133.1512841644499,
            1971.903536380109,
            13735.291222017777,
            45939.658427035356,
            67301.5156080083,
            33453.97353136641,
            2511.311522938996,
        ),
        (
            1.0,
            42.31616976136817,
            687.2878259302857,
            5395.498477705881,
            21221.30300880169,
            39327.00887208207,
            28747.43852447212,
            5230.726962906923,
        ),
    ),
    (
        (
            1.4234371107496837,
            4.63362967210269,
            5.779610236958253,
            3.659115747668674,
            1.2762558995935522,
            0.24320134689481096,
            0.022874470015133447,
            0.0007795466090560478,
        ),
        (
            1.0,
            2.055504216299284,
            1.6807149783072883,
            0.6926878857650184,
            0.14895672543098787,
            0.015299550266134143,
            0.0005511302012423137,
            1.051060463462463e-09,
        ),
    ),
    (
        (
            6.657904643501104,
            5.461719993080313,
            1.7832766938919502,
            0.29611037849364646,
            0.02646845663435433,
            0.0012381391014172143,
            2.6969034744648977e-05,
            1.9944033503114843e-07,
        ),
        (
            1.0,
            0.599522061218223,
            0.13676558253783958,
            0.014843618088080508,
            0.000784157923931633,
            1.8365205621410118e-05,
            1.4102469581281402e-07,
            1.9989569821935333e-15,
        ),
    ),
)


def _ratio(x: Any, coefficients: tuple[tuple[float, ...], tuple[float, ...]]) -> Any:
    above, below = coefficients
    return horner(x, above) / horner(x, below)


@special(lambda out, p: math.sqrt(2 * math.pi) * snp.exp(out * out / 2), strong=True)
def ndtri(p: Any) -> Array:
    """Compute the inverse of `ndtr`, for p from 0 to 1; NaN outside.

    >>> special.ndtri(0.5)
    Array(0., dtype=float32)
    """
    q = p - 0.5
    central, *tails = _NDTRI_64 if double(p) else _NDTRI_32
    # clipped, since the rational functions have poles elsewhere
    x = q * _ratio(snp.maximum(0.425**2 - q * q, 0), central)
    lower = snp.minimum(p, 1 - p)  # exact: for p > 1/2 the subtraction is
    r = snp.sqrt(-snp.log(snp.where((lower > 0) & (lower < 0.075), lower, 0.05)))
    far = _ratio(r - (_SHIFT_64 if double(p) else _SHIFT_32), tails[0])
    if double(p):
        far = snp.where(r > _SPLIT, _ratio(r - _SPLIT, tails[1]), far)
    far = snp.where(lower == 0, snp.inf, far)
    x = snp.where(lower < 0.075, snp.where(q < 0, -far, far), x)
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
    product = snp.where(size == 0, 0.0, snp.minimum(size * slope, 1e9))  # whose square is finite
    near = _owen(size, snp.minimum(slope, 1.0))
    # both are at least 0, so their tails decide: DLMF has none of it; Owen's (2.3)
    q_h, q_ah = 0.5 * _erfc(size / _ROOT_2), 0.5 * _erfc(product / _ROOT_2)
    far = 0.5 * (q_h + q_ah) - q_h * q_ah - _owen(product, snp.where(steep, inverse, 0.0))
    found = snp.where(steep, far, near)
    found = snp.where(snp.isinf(slope), 0.5 * q_h, found)
    return snp.where(snp.isnan(h) | snp.isnan(a), snp.nan, snp.copysign(found, a))
