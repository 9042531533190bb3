"""Evaluate exponential, trigonometric and Fresnel integrals, and the dilogarithm."""

from __future__ import annotations

import math
from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax._src.higher_order.while_loop import fori_loop
from sagax._src.primitives.special import gamma as _gamma
from sagax.scipy.special._elementwise import double, horner, special
from sagax.scipy.special._normal import split_square

_EULER = 0.5772156649015329


def _series(terms: int, step: Any, first: Any, total: Any) -> Any:
    """total + the terms that `step(k, term)` makes of each other, k = 1, 2, ...: (sum)."""

    def body(k: Any, state: tuple) -> tuple:
        term, total = state
        term, added = step(k, term)
        return term, total + added

    return fori_loop(1, terms + 1, body, (first, total))[1]


# exponential integrals --------------------------------------------------------------------------------


def _ein(x: Any, terms: int) -> Any:
    """The sum of x**k / (k k!), k = 1, 2, ...: DLMF 6.6.2 has it with signs."""

    def step(k: Any, term: Any) -> tuple:
        k = snp.asarray(k, x.dtype)
        term = term * x / k
        return term, term / k

    return _series(terms, step, 0 * x + 1, 0 * x)


def _fraction(n: Any, x: Any, steps: int) -> Any:
    """exp(x) E_n(x) for x >= 1: the continued fraction DLMF 8.19.17 in its even form."""

    def body(i: Any, below: Any) -> Any:
        k = snp.asarray(steps - i, x.dtype)
        return x + n + 2 * k - (k + 1) * (n + k) / below

    last = x + n + 2 * steps
    below = fori_loop(1, steps, body, 0 * x + 0 * n + last)
    return 1 / (x + n - n / below)


@special(lambda out, x: snp.where(x < 0, snp.nan, -snp.exp(-x) / x), strong=True)
def exp1(x: Any) -> Array:
    """Compute the exponential integral E_1 of exp(-t)/t from x to infinity; NaN for negative x.

    >>> round(float(special.exp1(1.0)), 4)
    0.2194
    """
    low = x <= 1
    near = snp.where(low & (x > 0), x, 1.0)
    small = -_EULER - snp.log(near) - _ein(-near, 20)
    far = snp.where(low, 1.0, x)
    large = snp.exp(-far) * _fraction(1.0, far, 110 if double(x) else 40)
    found = snp.where(low, small, large)
    found = snp.where(x == 0, snp.inf, snp.where(x == snp.inf, 0.0, found))
    return snp.where((x < 0) | snp.isnan(x), snp.nan, found)


@special(lambda out, x: snp.exp(x) / x, strong=True)
def expi(x: Any) -> Array:
    """Compute the exponential integral Ei: the principal value of exp(t)/t from -infinity to x.

    >>> special.expi(1.0).round(4)
    Array(1.8951, dtype=float32)
    """
    limit, terms = (45.0, 150) if double(x) else (20.0, 70)
    root = 0.37250741078136663
    inside = (x > 0) & (x < limit)
    near = snp.where(inside, x, 1.0)
    middle = _EULER + snp.log(near) + _ein(near, terms)
    close = snp.abs(near - root) < 0.05
    middle = snp.where(close, _near_root(snp.where(close, near, root)), middle)
    big = snp.maximum(x, limit)
    r = 1 / big
    scale = snp.exp(0.5 * big)
    large = scale * (r * _asymptotic(r, 45 if double(x) else 20)) * scale
    negative = -exp1.formula(snp.where(x < 0, -x, 1.0))
    found = snp.where(x < 0, negative, snp.where(x < limit, middle, large))
    found = snp.where(x == 0, -snp.inf, snp.where(x == snp.inf, snp.inf, found))
    return snp.where(snp.isnan(x), x, found)


def _asymptotic(r: Any, terms: int) -> Any:
    """1 + 1! r + 2! r**2 + ...: DLMF 6.12.2."""

    def body(i: Any, total: Any) -> Any:
        k = snp.asarray(terms - i, r.dtype)
        return 1 + total * k * r

    return fori_loop(0, terms, body, 0 * r + 1)


def _near_root(x: Any) -> Any:
    """Ei near its zero, by its Taylor series there; the zero to twice the digits of float64."""
    high, low = 0.37250741078136663446, 1.317e-17
    d = (x - high) - low
    # the derivatives of exp(x)/x follow g' = exp(x)/x - g/x ...: g_n x = exp(x) - n g_(n-1)
    e = math.exp(high)
    coefficients, before = [], e / high
    factor = 1.0
    for n in range(1, 16):
        factor *= n
        coefficients.append(before / factor)
        before = (e - n * before) / high
    return d * horner(d, coefficients)


def _order_below(n: Any, x: Any) -> Any:
    """The derivative of E_n(x) is -E_(n-1)(x)."""
    one = n == 1
    zero = n == 0
    inner = expn.formula(snp.where(one | zero, 2.0, n) - 1, x)
    # E_0(x) = exp(-x)/x; the derivative of that one is -E_(-1)(x)
    return snp.where(one, -snp.exp(-x) / x, snp.where(zero, -snp.exp(-x) * (1 + 1 / x) / x, -inner))


@special(None, lambda out, n, x: _order_below(n, x), strong=True)
def expn(n: Any, x: Any) -> Array:
    """Compute the exponential integral E_n of exp(-x t)/t**n from 1 to infinity, n = 0, 1, 2, ...

    Not to be differentiated in n. NaN for negative n or x.

    >>> special.expn(2, 1.0).round(4)
    Array(0.1485, dtype=float32)
    """
    low = (x <= 1) & (n >= 1)
    near = snp.where(low & (x > 0), x, 1.0)
    order = snp.where(low, n, 1.0)
    far = snp.where(low | (x <= 0), 1.0, x)
    large = snp.exp(-far) * _fraction(n, far, 110 if double(x) else 40)
    found = snp.where(low, _expn_series(order, near), large)
    found = snp.where(x == 0, snp.where(n > 1, 1 / snp.where(n > 1, n - 1, 1.0), snp.inf), found)
    found = snp.where((n == 0) & (x > 0), snp.exp(-x) / x, found)
    found = snp.where(x == snp.inf, 0.0, found)
    return snp.where((x < 0) | (n < 0) | snp.isnan(x) | snp.isnan(n), snp.nan, found)


def _expn_series(n: Any, x: Any) -> Any:
    """Evaluate DLMF 8.19.8, without the logarithmic term k = n - 1."""
    terms = 22

    def body(k: Any, state: tuple) -> tuple:
        power, total, special_power = state
        k = snp.asarray(k, x.dtype)
        here = k == n - 1
        special_power = snp.where(here, power, special_power)
        total = total - snp.where(here, 0.0, power / snp.where(here, 1.0, k - n + 1))
        return power * (-x) / (k + 1), total, special_power

    zero = 0 * (x + n)
    _, total, power = fori_loop(0, terms, body, (zero + 1, zero, zero))
    return total + power * (_gamma.digamma(n) - snp.log(x))


# sine and cosine integrals ----------------------------------------------------------------------------


def _auxiliary(x: Any, steps: int) -> tuple[Any, Any]:
    """f and g of DLMF 6.2.17 for x >= 4: exp(z) E_1(z) at z = i x is g - i f ... by its fraction."""

    def body(i: Any, state: tuple) -> tuple:
        k = snp.asarray(steps - i, x.dtype)
        # below = (1 + 2 k + i x) - (k + 1)**2 / below, in real numbers
        re, im = state
        scale = (k + 1) * (k + 1) / (re * re + im * im)
        return 1 + 2 * k - scale * re, x + scale * im

    re, im = fori_loop(1, steps, body, (0 * x + (1 + 2 * steps), x))
    scale = 1 / (re * re + im * im)
    re, im = 1 - scale * re, x + scale * im
    size = re * re + im * im
    return im / size, re / size  # f, g


def _sici(x: Any) -> tuple[Any, Any]:
    size = snp.abs(x)
    low = size <= 4
    near = snp.where(low, size, 1.0)
    square = near * near
    count = 15 if double(x) else 11
    sines = [(-1.0) ** k / ((2 * k + 1) * math.factorial(2 * k + 1)) for k in range(count)]
    cosines = [(-1.0) ** k / (2 * k * math.factorial(2 * k)) for k in range(1, count + 1)]
    si_low = near * horner(square, sines)
    ci_low = _EULER + snp.log(snp.where(near == 0, 1.0, near)) + square * horner(square, cosines)
    far = snp.where(low | snp.isinf(size), 5.0, size)
    f, g = _auxiliary(far, 60 if double(x) else 25)
    si_far = math.pi / 2 - f * snp.cos(far) - g * snp.sin(far)
    ci_far = f * snp.sin(far) - g * snp.cos(far)
    si = snp.where(low, si_low, snp.where(snp.isinf(size), math.pi / 2, si_far))
    ci = snp.where(low, ci_low, snp.where(snp.isinf(size), 0.0, ci_far))
    si = snp.where(snp.isnan(x), snp.nan, snp.copysign(si, x))
    # nan at nan, and at -inf, as in SciPy: Ci tends to pi i or -pi i there, by the side of the cut
    ci = snp.where(size == 0, -snp.inf, snp.where(x > -snp.inf, ci, snp.nan))
    return si, ci


@special(lambda out, x: snp.sinc(x / math.pi), strong=True)
def _sine_integral(x: Any) -> Array:
    return _sici(x)[0]


@special(lambda out, x: snp.cos(x) / x, strong=True)
def _cosine_integral(x: Any) -> Array:
    return _sici(x)[1]


def sici(x: Any) -> tuple[Array, Array]:
    """Compute the sine integral, that of sin(t)/t from 0 to x, and the cosine integral of |x|, nan at -inf.

    >>> special.sici(1.0)[0].round(4)
    Array(0.9461, dtype=float32)
    """
    return _sine_integral(x), _cosine_integral(x)


# Fresnel integrals ------------------------------------------------------------------------------------


def _turn(x: Any) -> Any:
    """Compute pi x**2 / 2 modulo 2 pi; corrected for the rounding error of the square."""
    square, rest = split_square(x)
    return (math.pi / 2) * ((square - 4 * snp.round(square / 4)) + rest)


def _fresnel(x: Any) -> tuple[Any, Any]:
    size = snp.abs(x)
    low = size <= 1.8
    near = snp.where(low, size, 1.0)
    quarter = near**4 * (math.pi / 2) ** 2
    count = 18 if double(x) else 12
    sines = [(-1.0) ** k / (math.factorial(2 * k + 1) * (4 * k + 3)) for k in range(count)]
    cosines = [(-1.0) ** k / (math.factorial(2 * k) * (4 * k + 1)) for k in range(count)]
    s_low = near**3 * (math.pi / 2) * horner(quarter, sines)
    c_low = near * horner(quarter, cosines)
    huge = 1e8 if double(x) else 1e4
    far = snp.clip(size, 1.8, huge)
    f, g = _fresnel_auxiliary(far, 90 if double(x) else 40)
    angle = _turn(far)
    s_far = 0.5 - f * snp.cos(angle) - g * snp.sin(angle)
    c_far = 0.5 + f * snp.sin(angle) - g * snp.cos(angle)
    out = []
    for small, large in ((s_low, s_far), (c_low, c_far)):
        value = snp.where(low, small, snp.where(size > huge, 0.5, large))
        out.append(snp.where(snp.isnan(x), snp.nan, snp.copysign(value, x)))
    return out[0], out[1]


def _fresnel_auxiliary(x: Any, steps: int) -> tuple[Any, Any]:
    """f and g of DLMF 7.2.18 for x > 1.5: erfc((1 - i) x sqrt(pi) / 2) by its continued fraction."""
    # sqrt(pi) exp(z**2) erfc(z) = z / (z**2 + 1/2 - (1 2/4) / (z**2 + 5/2 - (3 4/4) / ...)),
    # with z**2 = -i t, t = pi x**2 / 2
    t = (math.pi / 2) * x * x

    def body(i: Any, state: tuple) -> tuple:
        k = snp.asarray(steps - i, x.dtype)
        re, im = state
        scale = (2 * k + 1) * (2 * k + 2) / 4 / (re * re + im * im)
        return 2 * k + 0.5 - scale * re, -t + scale * im

    re, im = fori_loop(1, steps + 1, body, (0 * x + (2 * steps + 0.5), -t))
    size = re * re + im * im
    # (g + i f) = (1 + i)/2 exp(z**2) erfc(z), and z = (1 - i) x sqrt(pi) / 2, so (1 + i) z = x sqrt(pi)
    return -im * x / (2 * size), re * x / (2 * size)


@special(lambda out, x: snp.sin(_turn(x)), strong=True)
def _fresnel_s(x: Any) -> Array:
    return _fresnel(x)[0]


@special(lambda out, x: snp.cos(_turn(x)), strong=True)
def _fresnel_c(x: Any) -> Array:
    return _fresnel(x)[1]


def fresnel(x: Any) -> tuple[Array, Array]:
    """Compute the Fresnel integrals S and C: those of sin and cos of pi t**2 / 2 from 0 to x.

    >>> round(float(special.fresnel(1.0)[1]), 4)
    0.7799
    """
    return _fresnel_s(x), _fresnel_c(x)


# the dilogarithm --------------------------------------------------------------------------------------

# B_(2 k) / (2 k + 1)!: Li_2(z) = u - u**2/4 + the sum of them times u**(2 k + 1), u = -log(1 - z)
_DEBYE = (
    1 / 36,
    -1 / 3600,
    1 / 211680,
    -1 / 10886400,
    1 / 526901760,
    -691 / 16999766784000,
    1 / 1120863744000,
    -3617 / 181400588328960000,
    43867 / 97072790126247936000,
    -174611 / 16860010916664115200000,
)


def _li2(u: Any) -> Any:
    square = u * u
    return u - 0.25 * square + u * square * horner(square, _DEBYE)


@special(lambda out, x: _spence_slope(x), strong=True, lists=True)
def spence(x: Any) -> Array:
    """Compute the dilogarithm Li_2(1 - x): minus the integral of log(t)/(t - 1) from 1 to x.

    x is at least 0. After D. Zagier, "The dilogarithm function" (2007).

    >>> special.spence(2.0).round(4)
    Array(-0.8225, dtype=float32)
    """
    good = x > 0
    y = snp.where(good, x, 1.0)
    logarithm = snp.log(y)
    low, high = y < 0.5, y > 2.0
    u = snp.where(
        low,
        -snp.log1p(-snp.where(low, y, 0.25)),
        snp.where(high, -snp.log1p(-1 / snp.where(high, y, 4.0)), -logarithm),
    )
    # middle: Li_2(1 - y); low: Li_2(y); high: Li_2(1/y)
    value = _li2(u)
    at_low = math.pi**2 / 6 + logarithm * u - value
    at_high = value - math.pi**2 / 6 - 0.5 * logarithm * logarithm - logarithm * -u
    found = snp.where(low, at_low, snp.where(high, at_high, value))
    found = snp.where(x == 0, math.pi**2 / 6, found)
    return snp.where((x < 0) | snp.isnan(x), snp.nan, found)


def _spence_slope(x: Any) -> Any:
    one = x == 1
    return snp.where(one, -1.0, -snp.log(x) / snp.where(one, 1.0, x - 1))
