"""Define the logarithm of the gamma function, its derivatives, and the zeta function."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from sagax._src.core.samples import Sample, bf16, f32
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.arithmetic import add, mul, neg, strong_array
from sagax._src.primitives.formulas import (
    Number,
    absolute,
    exp,
    floor,
    formula,
    is_widened,
    log,
    log1p,
    maximum,
    minimum,
    polynomial,
    power,
    sin_pi_of_half,
    where,
    where_rare,
)
from sagax._src.primitives.makers import elementwise, floating, operands
from sagax._src.primitives.special.common import scipy_reference, unary_samples
from sagax._src.primitives.special.rests import LARGE, log_less_digamma, stirling_rest

_EULER = 0.5772156649015329
# B_2k / (2k)!, k = 1, 2, ...: the coefficients of Euler and Maclaurin
_EULER_MACLAURIN = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
    1 / 74724249600,
    -3617 / 10670622842880000,
    43867 / 5109094217170944000,
    -174611 / 802857662698291200000,
)

# lgamma ------------------------------------------------------------------------------------------------

lgamma_p = elementwise(
    "lgamma",
    numpy=scipy_reference("gammaln"),
    accepts=floating,
    jvp=lambda t, out, x: mul(t, digamma(x)),
    samples=[
        *unary_samples(0.3, 5),
        Sample(f32(4, low=0.001, high=20)),
        Sample(f32(3, low=-0.9, high=-0.1)),
    ],
)


@functools.cache
def _taylor(terms: int) -> tuple[float, ...]:
    """Return coefficients of z**2, z**3, ... in log gamma(2 + z): (-1)**k (zeta(k) - 1) / k. DLMF 5.7.3."""
    return tuple([(-1) ** k * _zeta_less_1(k) / k for k in range(2, terms + 2)])


def _zeta_less_1(s: int) -> float:
    n = 12  # beyond, the sum is an integral with corrections
    tail = [n ** (1.0 - s) / (s - 1), -0.5 * n**-s]
    factor = s * n ** (-1.0 - s)
    for k, c in enumerate(_EULER_MACLAURIN[:6], 1):
        tail.append(c * factor)
        factor *= (s + 2 * k - 1) * (s + 2 * k) / n**2
    return math.fsum([*[j**-s for j in range(2, n + 1)], *tail])


def _log_gamma_2p(z: Number) -> Number:
    """Return log gamma(2 + z) for |z| <= 1/2, with small relative error in z."""
    return z * (1 - _EULER) + z * z * polynomial(z, _taylor(26 if z.double else 14))


def log_gamma_1p(z: Number) -> Number:
    """Return log gamma(1 + z) for z >= 0, with small relative error for small z."""
    near = minimum(z, 0.5)
    return where(z < 0.5, _log_gamma_2p(near) - log1p(near), log_gamma_positive(1 + z))


def log_gamma_positive(x: Number) -> Number:
    """Return log gamma(x) for x > 0: all terms have one sign, or vanish where the sum does."""
    # Small x are shifted up by one or two, those from 1.5 to LARGE down into [1.5, 2.5].
    tiny, low, far = x < 0.5, x < 1.5, x >= LARGE
    reduced, product = minimum(x, LARGE), x.like(1.0)
    for _ in range(int(LARGE) - 2):
        down = reduced > 2.5
        reduced = where(down, reduced - 1, reduced)
        product = where(down, product * reduced, product)
    z = where(tiny, reduced, where(low, reduced - 1, reduced - 2))
    factor = where(tiny, x * (1 + x), where(low, x, where(far, x, product)))
    logarithm = log(factor)
    middle = _log_gamma_2p(z) + where(low, -logarithm, logarithm)
    big = maximum(x, LARGE)
    rest = (0.5 * math.log(2 * math.pi) - 0.5) + stirling_rest(big)
    return where(far, (big - 0.5) * (logarithm - 1) + rest, middle)


@formula(lgamma_p)
def log_gamma(x: Number) -> Number:
    """Extend to negative x by reflection: gamma(x) gamma(-x) = -pi / (x sin(pi x)). DLMF 5.5.3."""
    size = absolute(x)
    right = log_gamma_positive(size)
    part = size - floor(size)
    wave = sin_pi_of_half(minimum(part, 1 - part))
    left = math.log(math.pi) - log(size * wave) - right
    out = where(x > 0, right, where(part.equals(0.0), math.inf, left))
    return where(size.equals(math.inf), math.inf, where(x.is_nan(), x, out))


def lgamma(x: Any) -> Any:
    """Return the logarithm of the absolute value of gamma(x); inf at its poles 0, -1, -2, ...

    >>> lax.lgamma(np.array([1.0, 4.0])).round(3)
    Array([0.   , 1.792], dtype=float32)
    """
    return lgamma_p.bind(x)


# gamma -------------------------------------------------------------------------------------------------

gamma_p = elementwise(
    "gamma",
    numpy=scipy_reference("gamma"),
    accepts=floating,
    jvp=lambda t, out, x: mul(t, mul(out, digamma(x))),
    samples=[
        *unary_samples(0.3, 5),
        Sample(f32(4, low=0.001, high=20)),
        Sample(f32(3, low=-0.9, high=-0.1)),
    ],
)


@formula(gamma_p)
def gamma_of(x: Number) -> Number:
    """Extend to x < 1/2 by reflection: gamma(x) gamma(1 - x) = pi / sin(pi x). DLMF 5.5.3."""
    left = x < 0.5
    nearest = x.apply("round_nearest_even")
    rest = where(nearest.equals(0.0), x, x - nearest)  # the sign of zero decides between infinities
    even = (floor(0.5 * nearest) * 2).equals(nearest)
    wave = sin_pi_of_half(where(even, rest, -rest))
    if is_widened(x):
        logarithm, product = _gamma_parts(minimum(where(left, 1 - x, x), 60.0))
        # each part has one reader, since XLA writes others to memory; at 0 the quotient is infinite, with the sign of x
        factor = where(left, math.pi * product, 1.0) / where(left, wave, product)
        out = exp(where(left, -logarithm, logarithm)) * factor
    else:
        right = _gamma_positive(where(left, 1 - x, x))
        reflected = math.pi / (wave * right)
        tiny = absolute(x) < (1e-7 if x.double else 1e-3)  # where 1 - x has lost digits of x
        inverse = x * polynomial(x, _INVERSE_GAMMA)
        out = where(left, where(tiny, 1 / inverse, reflected), right)
    return where((x < 0) & rest.equals(0.0), math.nan, out)


# 1 / gamma(x) = x + euler x**2 + ..., DLMF 5.7.1
_INVERSE_GAMMA = (
    1.0,
    0.5772156649015329,
    -0.6558780715202538,
    -0.0420026350340952,
    0.1665386113822915,
)


def _gamma_parts(x: Number) -> tuple[Number, Number]:
    """Return log gamma(x + 8) by Stirling's series, and the product gamma(x + 8) / gamma(x), for 1/2 <= x <= 60."""
    at = x + 8
    r = (1 / 12) * (1 / at)
    rest = r * polynomial(r * r, [1.0, -(12**3) / 360, 12**5 / 1260, -(12**7) / 1680])
    return (at - 0.5) * log(at) - at + (rest + 0.5 * math.log(2 * math.pi)), rising_8(x)


def _gamma_positive(x: Number) -> Number:
    """Return gamma(x) for x >= 1/2 by Stirling's series, DLMF 5.11.3, for numbers moved up to 10: without a large exponent."""
    up, product = x, x.like(1.0)
    for _ in range(10):
        low = up < 10
        product = where(low, product * up, product)
        up = where(low, up + 1, up)
    top = 171.7 if x.double else 35.1
    big = minimum(up, top)
    half = power(big, 0.5 * big - 0.25)  # in two factors, which do not overflow too soon
    found = math.sqrt(2 * math.pi) * half * exp(-big) * half * exp(stirling_rest(big))
    return where(up > top, math.inf, found / product)


def gamma(x: Any) -> Any:
    """Return the gamma function of `x`; NaN at its poles -1, -2, ..."""
    return gamma_p.bind(x)


# digamma -----------------------------------------------------------------------------------------------

digamma_p = elementwise(
    "digamma",
    numpy=scipy_reference("digamma"),
    accepts=floating,
    jvp=lambda t, out, x: mul(t, strong_array(polygamma(1.0, x))),
    samples=unary_samples(0.3, 5),
)


@formula(digamma_p)
def digamma_of(x: Number) -> Number:
    """Extend to negative x by reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x). DLMF 5.5.4."""
    if x.double:
        return where(x.equals(0.0), -math.inf, x.apply("chlo.digamma"))  # NaN in older engines
    negative = x < 0
    right = _digamma_positive(where(negative, 1 - x, x))
    size = absolute(x)
    part = size - floor(size)
    wave = sin_pi_of_half(minimum(part, 1 - part))
    left = right + math.pi * sin_pi_of_half(0.5 - part) / wave
    out = where(negative, where(part.equals(0.0), math.nan, left), right)
    return where(x.equals(0.0), -math.inf, out)


def _digamma_positive(x: Number) -> Number:
    """Return digamma(x) for x > 0, with small absolute error: shift up by eight. DLMF 5.5.2.

    The sum of 1 / (x + k) over k = 0 ... 7 is the logarithmic derivative of the product of x + k, a polynomial in
    w = x (x + 7).
    """
    low = x < LARGE
    near = minimum(x, LARGE)
    w = near * (near + 7)
    slope = (2 * near + 7) * polynomial(w, (720, 504, 84, 4))
    total = where(low, slope / rising_8(near), 0.0)
    x = where(low, x + 8, x)
    return log(x) - log_less_digamma(x) - total


def rising_8(x: Number) -> Number:
    """Return x (x + 1) ... (x + 7), by products of the factors from both ends."""
    w = x * (x + 7)
    return w * (w + 6) * (w + 10) * (w + 12)


def digamma(x: Any) -> Any:
    """Return the derivative of `lgamma` at `x`; NaN at -1, -2, ...

    >>> lax.digamma(np.array([1.0, 4.0])).round(3)
    Array([-0.577,  1.256], dtype=float32)
    """
    return digamma_p.bind(x)


# zeta --------------------------------------------------------------------------------------------------


def _no_derivative_in_exponent(*_: Any) -> Any:
    raise ArgumentValueError(
        "there is no derivative with respect to the exponent x",
        function="zeta",
        argument="x",
        fix="differentiate with respect to q only, or wrap the exponent in stop_gradient",
    )


zeta_p = elementwise(
    "zeta",
    2,
    numpy=scipy_reference("zeta"),
    accepts=floating,
    jvp=(
        _no_derivative_in_exponent,
        lambda t, out, x, q: mul(t, mul(neg(x), zeta(add(x, 1.0), q))),
    ),
    samples=[
        Sample(f32(2, 3, low=1.5, high=6), f32(2, 3, low=0.2, high=5), derivatives=False),
        Sample(f32(low=1.5, high=6), f32(3, low=0.2, high=5), derivatives=False),
        Sample(f32(2, 3, low=1.5, high=6), f32(2, 1, low=0.2, high=5), derivatives=False),
        Sample(bf16(3, low=1.5, high=6), bf16(3, low=0.2, high=5), derivatives=False),
    ],
)


def zeta_positive(s: Number, q: Number) -> Number:
    """Sum (k + q)**-s for q > 0: some terms, then Euler and Maclaurin's formula. DLMF 25.11.28."""
    direct, corrections = (9, 10) if s.double else (6, 5)
    total = power(q, -s)
    for k in range(1, direct):
        total = total + power(q + k, -s)
    end = q + direct
    last = power(end, -s)
    step = 1 / end
    square = step * step
    factor = s * step
    series = s.like(0.5)
    for k, c in enumerate(_EULER_MACLAURIN[:corrections], 1):
        series = series + c * factor
        factor = factor * (s + (2 * k - 1)) * (s + 2 * k) * square
    # the integral's own factor grows with q; all other factors stay bounded
    rest = last * series + where(last.equals(0.0), 0.0, last * end / (s - 1))
    return total + rest


def hurwitz(s: Number, q: Number) -> Number:
    """Extend zeta to negative q for integers s: there (-y)**-s are terms of either sign."""
    negative = q < 0
    whole = floor(s).equals(s)
    odd = ~(floor(0.5 * s) * 2).equals(s)
    below = floor(q)
    on_pole = (q <= 0) & below.equals(q)
    s_in = where(s > 1, s, 2.0)
    right = zeta_positive(s_in, where(q > 0, q, 1.0))

    def left() -> Number:
        y = where(negative & ~on_pole, q, -0.5)
        up, down = y - floor(y), (1 + floor(y)) - y  # to the integers around it
        mirrored = zeta_positive(s_in, down) - zeta_positive(s_in, 1 - y)
        value = zeta_positive(s_in, up) + where(odd, -mirrored, mirrored)
        return where(whole, value, math.nan)

    out = where_rare(negative, left, right)
    # even poles rise from both sides; odd ones have no limit, and 0 is approached from above
    out = where(on_pole, where(odd & negative, s.like(math.nan), math.inf), out)
    out = where(s.equals(1.0), math.inf, where(s < 1, math.nan, out))
    return where(s.is_nan() | q.is_nan(), math.nan, out)


formula(zeta_p, widen=False)(hurwitz)


def zeta(x: Any, q: Any) -> Any:
    """Return the Hurwitz zeta function: the sum of 1 / (k + q)**x over k = 0, 1, 2, ..., for x > 1.

    For integers `x` it is defined for negative `q` too. Differentiable with respect to `q` only.

    >>> lax.zeta(np.array([2.0, 4.0]), 1.0).round(4)
    Array([1.6449, 1.0823], dtype=float32)
    """
    return zeta_p.bind(*operands(x, q))


# polygamma ---------------------------------------------------------------------------------------------


def _no_derivative_in_order(*_: Any) -> Any:
    raise ArgumentValueError(
        "there is no derivative with respect to the order m",
        function="polygamma",
        argument="m",
        fix="differentiate with respect to x only, or wrap the order in stop_gradient",
    )


polygamma_p = elementwise(
    "polygamma",
    2,
    numpy=scipy_reference("polygamma"),
    accepts=floating,
    jvp=(_no_derivative_in_order, lambda t, out, m, x: mul(t, polygamma(add(m, 1.0), x))),
    samples=[
        Sample(np.array([1, 2, 3], np.float32), f32(3, low=0.3, high=5), derivatives=False),
        Sample(np.float32(2), f32(2, 3, low=0.3, high=5), derivatives=False),
        Sample(np.array([0, 1], np.float32), f32(2, low=1.6, high=5), derivatives=False),
        Sample(bf16(low=1, high=1), bf16(3, low=0.3, high=5), derivatives=False),
    ],
)


@formula(polygamma_p, widen=False)
def _polygamma(m: Number, x: Number) -> Number:
    """Return (-1)**(m + 1) m! zeta(m + 1, x). DLMF 25.11.12."""
    valid = (m >= 1) & floor(m).equals(m)
    order = where(valid, m, 1.0)
    size = exp(log_gamma_positive(order + 1)) * hurwitz(order + 1, x)
    even = (floor(0.5 * order) * 2).equals(order)
    out = where(valid, where(even, -size, size), math.nan)
    return where(m.equals(0.0), digamma_of(x), out)


def polygamma(m: Any, x: Any) -> Any:
    """Return the derivative of order m + 1 of `lgamma` at `x`; `m` holds integers in the dtype of `x`.

    Differentiable with respect to `x` only.

    >>> lax.polygamma(1.0, np.array([1.0, 2.0])).round(2)
    Array([1.64, 0.64], dtype=float32)
    """
    return polygamma_p.bind(*operands(m, x))
