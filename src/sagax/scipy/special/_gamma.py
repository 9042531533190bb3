"""Evaluate the gamma function and its relatives, and the Bessel functions I."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.api.derivatives import jvp
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError
from sagax._src.languages.choice import worded
from sagax._src.primitives.special import bessel as _bessel
from sagax._src.primitives.special import beta as _beta
from sagax._src.primitives.special import gamma as _gamma
from sagax._src.primitives.special import incomplete as _incomplete
from sagax._src.primitives.special import pochhammer as _pochhammer
from sagax._src.primitives.structural import convert
from sagax.numpy._base import as_operand, dtype_of, promote_inexact
from sagax.numpy._fused import fused_function
from sagax.scipy.special._elementwise import double, horner, special

_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)


# C. Lanczos, SIAM J. Numer. Anal. B 1, 1964; coefficients for g = 7 and 9 terms, computed by P. Godfrey.
_LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def _gamma_complex(z: Any) -> Any:
    """Compute gamma(z) of complex numbers, by Lanczos' sum and reflection."""
    left = z.real < 0.5
    right = snp.where(left, 1 - z, z) - 1
    total = sum((c / (right + i) for i, c in enumerate(_LANCZOS) if i), 0 * z + _LANCZOS[0])
    t = right + 7.5
    found = math.sqrt(2 * math.pi) * snp.exp((right + 0.5) * snp.log(t) - t) * total
    pole = (z.imag == 0) & (z.real <= 0) & (z.real == snp.floor(z.real))
    wave = snp.where(left & ~pole, snp.sin(math.pi * snp.where(left, z, 0.5)), 1.0)
    reflected = math.pi / (wave * snp.where(left, found, 1.0))
    return snp.where(pole, snp.nan, snp.where(left, reflected, found))


def _gamma_slope(out: Any, x: Any) -> Any:
    if dtypes.is_complex(dtype_of(x)):
        return jvp(_gamma_complex, (x,), (snp.ones_like(x),))[1]
    return out * _gamma.digamma(x)


@special(_gamma_slope, kinds="fc", strong=True)
def gamma(x: Any) -> Array:
    """Compute the gamma function: (x - 1)! for positive integers; NaN at the poles -1, -2, ...

    >>> special.gamma(5.0).round(2)
    Array(24., dtype=float32)
    """
    if dtypes.is_complex(dtype_of(x)):
        return _gamma_complex(x)
    return _gamma.gamma(x)


@special(lambda out, x: _gamma.digamma(x), narrow=True)
def gammaln(x: Any) -> Array:
    """Compute the logarithm of the absolute value of the gamma function.

    >>> special.gammaln(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _gamma.lgamma(x)


def loggamma(x: Any) -> Array:
    """Compute the logarithm of the gamma function for real x; NaN where that is negative.

    >>> special.loggamma(1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    (x,) = promote_inexact("loggamma", as_operand("loggamma", x))
    return snp.where(x < 0, snp.nan, gammaln(x))


@fused_function(1)
def gammasgn(x: Any) -> Array:
    """Compute the sign of the gamma function: 1 or -1, or NaN at the poles -1, -2, ...

    >>> special.gammasgn(-0.5)
    Array(-1., dtype=float32)
    """
    (x,) = promote_inexact("gammasgn", as_operand("gammasgn", x))
    floor = snp.floor(x)
    sign = snp.where(snp.fmod(floor, 2.0) == 0, 1.0, -1.0).astype(dtype_of(x))
    found = snp.where(x > 0, 1.0, snp.where(x == 0, snp.copysign(1.0, x), sign))
    nan = ((x < 0) & (floor == x)) | snp.isnan(x)
    return snp.where(nan, snp.nan, found).astype(dtype_of(x))


@special(narrow=True)
def digamma(x: Any) -> Array:
    """Compute the derivative of `gammaln`.

    >>> special.digamma(1.0).round(4)
    Array(-0.5772, dtype=float32, weak_type=True)
    """
    return _gamma.digamma(x)


@special(narrow=True)
def polygamma(n: Any, x: Any) -> Array:
    """Compute the derivative of order n (0, 1, 2, ...) of `digamma`; not differentiable in n.

    >>> special.polygamma(1, 1.0).round(4)
    Array(1.6449, dtype=float32, weak_type=True)
    """
    return _gamma.polygamma(*snp.broadcast_arrays(n, x))


# B_2k / (2k)!, k = 1, 2, ...
_EULER_MACLAURIN = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600)  # fmt: skip


def _zeta_sum(s: Any, q: Any) -> Any:
    """Sum (k + q)**-s for q > 0: ten terms, then Euler and Maclaurin's formula. DLMF 25.11.28."""
    end = q + 10
    factor = s / end
    series = 0.5
    for k, c in enumerate(_EULER_MACLAURIN, 1):
        series = series + c * factor
        factor = factor * (s + (2 * k - 1)) * (s + 2 * k) / (end * end)
    first = sum((q + k) ** -s for k in range(10))
    return first + end**-s * (series + end / (s - 1))


def _zeta_in_exponent(out: Any, s: Any, q: Any) -> Any:
    if dtypes.itemsize(dtype_of(s)) < 4:
        s, q = convert(s, dtypes.float32), convert(q, dtypes.float32)
    right = (s > 1) & (q > 0)
    safe_s, safe_q = snp.where(right, s, 2.0), snp.where(right, q, 1.0)
    _, slope = jvp(lambda s: _zeta_sum(s, safe_q), (safe_s,), (snp.ones_like(safe_s),))
    return snp.where(right, slope, snp.nan)


def _zeta_in_offset(out: Any, s: Any, q: Any) -> Any:
    s, q = snp.broadcast_arrays(s, q)
    return -s * _gamma.zeta(s + 1, q)


@special(_zeta_in_exponent, _zeta_in_offset, narrow=True)
def _zeta(x: Any, q: Any) -> Array:
    return _gamma.zeta(*snp.broadcast_arrays(x, q))


def zeta(x: Any, q: Any = None) -> Array:
    """Compute the Hurwitz zeta function, the sum of (k + q)**-x over k = 0, 1, ..., for x > 1.

    Without q it is that of Riemann, q = 1. The derivative in x is NaN for negative q.

    >>> special.zeta(2.0, 1.0).round(4)
    Array(1.6449, dtype=float32, weak_type=True)
    """
    return _zeta(x, 1.0 if q is None else q)


@special(narrow=True)
def betainc(a: Any, b: Any, x: Any) -> Array:
    """Compute the regularized incomplete beta function: the probability of [0, x].

    >>> special.betainc(1.0, 1.0, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return _beta.betainc(*snp.broadcast_arrays(a, b, x))


@special(narrow=True)
def gammainc(a: Any, x: Any) -> Array:
    """Compute the regularized lower incomplete gamma function.

    >>> special.gammainc(1.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _incomplete.igamma(*snp.broadcast_arrays(a, x))


@special(narrow=True)
def gammaincc(a: Any, x: Any) -> Array:
    """Compute the regularized upper incomplete gamma function, 1 - gammainc(a, x).

    >>> special.gammaincc(1.0, 0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _incomplete.igammac(*snp.broadcast_arrays(a, x))


# products and quotients of gamma functions ----------------------------------------------------------


def _rest(x: Any) -> Any:
    """Compute log gamma(x) less the first terms of Stirling's series, for x >= 10."""
    r = 1 / x
    return r * horner(r * r, _STIRLING)


def _log_beta(a: Any, b: Any) -> Any:
    small, large = snp.minimum(a, b), snp.maximum(a, b)
    far = large > 10
    big = snp.where(far, large, 20.0)
    low = snp.where(small > 10, small, 20.0)
    total = small + big
    # log(gamma(b) / gamma(a + b)), where the logarithms would cancel
    share = small / big
    # about small * share / 2, where the share is too small to be told from 0
    lost = snp.where(
        snp.abs(share) < 1e-30, 0.0, small - (big - 0.5) * snp.log1p(snp.maximum(share, -0.9999))
    )
    stable = far & (total > 10)
    ratio = _rest(big) - _rest(snp.maximum(total, 10.0)) - small * snp.log(total) + lost
    middle = _gamma.lgamma(small) + ratio
    both = (
        0.5 * math.log(2 * math.pi)
        - 0.5 * snp.log(big)
        + _rest(low)
        + _rest(big)
        - _rest(low + big)
        - (low - 0.5) * snp.log1p(big / low)
        - big * snp.log1p(low / big)
    )
    near = _gamma.lgamma(small) + (_gamma.lgamma(large) - _gamma.lgamma(small + large))
    positive = snp.where(far, snp.where(small > 10, both, middle), near)
    return snp.where(small > 0, positive, snp.where(stable, middle, near))


def _digamma_difference(x: Any, y: Any) -> Any:
    """Compute digamma(x) - digamma(x + y), for large x by the difference of their asymptotic series."""
    total = x + y
    far = (x > 1e3) & (total > 1e3)
    p, q = snp.where(far, x, 1e4), snp.where(far, total, 1e4)
    step = snp.where(far, y, 0.0) / p

    def rest(z: Any) -> Any:
        r = 1 / z
        return r * (0.5 + r * (1 / 12 - r * r / 120))

    return snp.where(
        far, -snp.log1p(step) - rest(p) + rest(q), _gamma.digamma(x) - _gamma.digamma(total)
    )


@special(
    lambda out, a, b: _digamma_difference(a, b),
    lambda out, a, b: _digamma_difference(b, a),
)
def betaln(a: Any, b: Any) -> Array:
    """Compute the logarithm of the absolute value of the beta function.

    >>> special.betaln(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _log_beta(a, b)


@special(
    lambda out, a, b: out * _digamma_difference(a, b),
    lambda out, a, b: out * _digamma_difference(b, a),
    strong=True,
)
def beta(a: Any, b: Any) -> Array:
    """Compute the beta function, gamma(a) gamma(b) / gamma(a + b).

    >>> special.beta(1.0, 1.0).round(2)
    Array(1., dtype=float32)
    """
    small = (snp.abs(a) < 15) & (snp.abs(b) < 15)
    u, v = snp.where(small, a, 1.0), snp.where(small, b, 1.0)
    near = gamma.formula(u) / gamma.formula(u + v) * gamma.formula(v)

    def large() -> Any:
        sign = gammasgn(a) * gammasgn(b) * gammasgn(a + b)
        return snp.where(small, near, sign * snp.exp(_log_beta(a, b)))

    # a branch, since the logarithms take five times as long
    return lax.cond(snp.all(small), lambda: near, large)


@special(strong=True)
def poch(z: Any, m: Any) -> Array:
    """Compute the Pochhammer symbol, gamma(z + m) / gamma(z).

    >>> special.poch(1.0, 3.0).round(2)
    Array(6., dtype=float32)
    """
    return _pochhammer.pochhammer(*snp.broadcast_arrays(z, m))


def multigammaln(a: Any, d: Any) -> Array:
    """Compute the log of the multivariate gamma function of dimension d.

    d is an int; d > 0, a > (d - 1) / 2.

    >>> special.multigammaln(1.0, 1)
    Array(0., dtype=float32)
    """
    try:
        d = operator.index(d)
    except TypeError:
        raise ArgumentError.about("multigammaln", "d", d, "an int") from None
    (a,) = promote_inexact("multigammaln", as_operand("multigammaln", a))
    a = convert(a, dtype_of(a))
    found = gammaln(a)
    for k in range(1, d):
        found = found + gammaln(a - k / 2)
    return found + (d * (d - 1) / 4) * math.log(math.pi)


def factorial(n: Any, exact: bool = False) -> Array:
    """Compute n! = gamma(n + 1) of integers or real numbers; 0 where n is negative.

    Raises NotImplementedError for `exact=True`, TypeError for complex numbers.

    >>> special.factorial(4).round(2)
    Array(24., dtype=float32, weak_type=True)
    """
    if exact:
        raise worded(
            NotImplementedError(
                "factorial(exact=True) needs integers of any length: use math.factorial"
            )
        )
    (n,) = promote_inexact("factorial", as_operand("factorial", n))
    if dtypes.is_complex(dtype_of(n)):
        raise DtypeError(function="factorial", argument="n", got=n, expected="real numbers")
    found = snp.where(n < 0, 0.0, gamma(snp.where(n < 0, 0.0, n) + 1))
    return convert(found, dtype_of(n), aval_of(n).weak_type)


def comb(N: Any, k: Any, *, repetition: bool = False) -> Array:
    """Compute the number of ways to choose k of N things (with `repetition`: as often as wanted).

    0 where k > N, N < 0 or k < 0. Floating point; an integer where the dtype can hold it.

    >>> special.comb(5, 2)
    Array(10., dtype=float32, weak_type=True)
    """
    N, k = promote_inexact("comb", as_operand("comb", N), as_operand("comb", k, 1))
    if repetition:
        return comb(N + k - 1, k)
    valid = (k <= N) & (N >= 0) & (k >= 0)
    n = snp.where(valid, N, 1.0)
    m = snp.where(valid, k, 1.0)
    found = 1 / ((n + 1) * beta(n - m + 1, m + 1))
    is_integer = (n == snp.floor(n)) & (m == snp.floor(m))
    found = snp.where(
        is_integer & (found < (1e15 if double(found) else 1e6)), snp.round(found), found
    )
    found = snp.where(valid, found, 0.0)
    return convert(found, dtype_of(found), aval_of(N).weak_type and aval_of(k).weak_type)


def bernoulli(n: int) -> Array:
    """Compute the Bernoulli numbers B_0, ..., B_n (n >= 0, an int), with B_1 = -1/2.

    >>> special.bernoulli(4)
    Array([ 1.        , -0.5       ,  0.16666667,  0.        , -0.03333334],      dtype=float32)
    """
    try:
        n = operator.index(n)
    except TypeError:
        raise ArgumentError.about("bernoulli", "n", n, "an int") from None
    if n < 0:
        raise ArgumentValueError.about("bernoulli", "n", n, "an int that is not negative")
    numbers = [Fraction(1)]
    for m in range(1, n + 1):
        if m > 1 and m % 2:
            numbers.append(Fraction(0))
            continue
        total = sum((math.comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0))
        numbers.append(-total / (m + 1))
    host = [_float(x) for x in numbers]
    return snp.asarray(np.array(host), dtypes.default_float(_x64()))


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _x64() -> bool:
    return snp.zeros(()).dtype == np.float64


# Bessel functions -----------------------------------------------------------------------------------


@special(narrow=True)
def i0e(x: Any) -> Array:
    """Compute exp(-|x|) i0(x).

    >>> special.i0e(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _bessel.bessel_i0e(x)


@special(narrow=True)
def i1e(x: Any) -> Array:
    """Compute exp(-|x|) i1(x).

    >>> special.i1e(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _bessel.bessel_i1e(x)


def _grown(x: Any, scaled: Any) -> Any:
    half = snp.exp(0.5 * snp.abs(x))
    return half * scaled * half


@special(lambda out, x: _grown(x, _bessel.bessel_i1e(x)))
def i0(x: Any) -> Array:
    """Compute the modified Bessel function of the first kind, of order 0.

    >>> special.i0(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return _grown(x, _bessel.bessel_i0e(x))


@special(
    lambda out, x: (
        _grown(x, _bessel.bessel_i0e(x)) - snp.where(x == 0, 0.5, out / snp.where(x == 0, 1.0, x))
    )
)
def i1(x: Any) -> Array:
    """Compute the modified Bessel function of the first kind, of order 1.

    >>> special.i1(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    return _grown(x, _bessel.bessel_i1e(x))
