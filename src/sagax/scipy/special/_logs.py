"""Evaluate entropies, log-sum-exp and other functions of exponentials and logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.nn.normalization as _sums
import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax._src.primitives.transcendental import logistic
from sagax.numpy._base import dtype_of, promotes_freely, strong_array
from sagax.numpy._fused import fused_function
from sagax.scipy.special._elementwise import double, finfo, horner, special

Axis = int | Sequence[int] | None


@promotes_freely
def logsumexp(
    a: Any,
    axis: Axis = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """Compute log(sum(b exp(a))) along `axis` (one, several, or None: all), without overflow.

    `b` are weights that broadcast against `a`; `where` chooses the elements that count. With
    `return_sign` the result is the logarithm of the absolute sum, and its sign.

    >>> special.logsumexp(np.array([1000.0, 1000.0]))
    Array(1000.6932, dtype=float32)
    """
    return _sums.logsumexp(a, axis, b, keepdims, return_sign, where)


def softmax(x: Any, *, axis: Axis = None) -> Array:
    """Compute exp(x) / sum(exp(x)), summed along `axis` (one, several, or None: all).

    >>> special.softmax(np.array([1000.0, 1000.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    return _sums.softmax(x, axis)


@fused_function(1)
def log_softmax(x: Any, *, axis: Axis = None) -> Array:
    """Compute the logarithm of `softmax`, exact also where that is near 0 or 1.

    >>> special.log_softmax(np.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    return _sums.log_softmax(x, axis)


@special(narrow=True, kinds="fc")
def expit(x: Any) -> Array:
    """Compute the logistic function 1 / (1 + exp(-x)).

    >>> special.expit(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return logistic(x)


@special(lambda out, x: strong_array(1 / (x * (1 - x))), weak_scalars=True)
def logit(x: Any) -> Array:
    """Compute log(x / (1 - x)), the inverse of `expit`.

    >>> special.logit(0.5)
    Array(0., dtype=float32, weak_type=True)
    """
    rest = 1 - x
    found = _log_of_quotient(x, rest, (1 - rest) - x)
    edge = snp.where(snp.abs(x) < finfo(x).tiny, -snp.inf, snp.where(x == 1, snp.inf, snp.nan))
    return snp.where((x >= finfo(x).tiny) & (x < 1), found, edge)


# Coefficients of s**2, s**4, ... in atanh(s) / s, doubled, of least relative error for |s| < 0.201: 2.9e-9 and 1.5e-19.
_ATANH_32 = (0.666669532572526, 0.39957231790461384, 0.3037330380326305)
_ATANH_64 = (
    0.6666666666666664,
    0.4000000000001205,
    0.28571428569963797,
    0.22222222287542592,
    0.18181819012235953,
    0.15384406338096507,
    0.13342696385668906,
    0.11559370397352835,
    0.12796070337992516,
)


def _log_of_quotient(x: Any, y: Any, lost: Any) -> Any:
    """Return log(x / (y + lost)), where `lost` is what rounding took from y; all digits near 1 too.

    With the power of 2 nearest to the quotient it is k log 2 + 2 atanh(s), s = (x - 2**k y) / (x + 2**k y), DLMF 4.6.5: one
    quotient, of a numerator that is exact. Both numbers are positive, normal and finite.
    """
    mantissa, bias, integer, high, low, series = (
        (52, 1023, np.int64, 0.693147180369123816490, 1.90821492927058770002e-10, _ATANH_64)
        if double(x)
        else (23, 127, np.int32, 0.693145751953125, 1.428606765330187e-6, _ATANH_32)
    )
    # the difference of the bits is that of the logarithms, within 0.09
    distance = lax.bitcast_convert_type(x, integer) - lax.bitcast_convert_type(y, integer)
    k = (distance + (1 << (mantissa - 1))) >> mantissa
    near = x * lax.bitcast_convert_type((bias - k) << mantissa, dtype_of(x))
    s = ((near - y) - lost) / (near + y)
    square = s * s
    k = k.astype(dtype_of(x))
    return k * high + (2 * s + (s * square * horner(square, series) + k * low))


def _safe(condition: Any, x: Any) -> Any:
    return snp.where(condition, x, 1.0)


@special(
    lambda out, x, y: snp.log(_safe((x != 0) | (y != 0), y)),
    lambda out, x, y: _quotient(x, y),
    kinds="fc",
)
def xlogy(x: Any, y: Any) -> Array:
    """Compute x log(y), and 0 where x is 0 (whatever y is, unless it is NaN).

    >>> special.xlogy(0.0, 0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    zero = (x == 0) & ~snp.isnan(y)
    return snp.where(zero, 0 * snp.where(zero, x, 0.0), x * snp.log(_safe(~zero, y)))


def _quotient(x: Any, y: Any) -> Any:
    zero = (x == 0) & (y == 0)
    return snp.where(zero, 0.0, x / _safe(~zero, y))


@special(
    lambda out, x, y: snp.log1p(snp.where((x != 0) | (y != -1), y, 0.0)),
    lambda out, x, y: _quotient(x, 1 + y),
    kinds="fc",
)
def xlog1py(x: Any, y: Any) -> Array:
    """Compute x log(1 + y), and 0 where x is 0 (whatever y is, unless it is NaN).

    >>> special.xlog1py(0.0, -1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    zero = (x == 0) & ~snp.isnan(y)
    return snp.where(zero, 0 * snp.where(zero, x, 0.0), x * snp.log1p(snp.where(zero, 0.0, y)))


@special(lambda out, x: -snp.log(x) - 1)
def entr(x: Any) -> Array:
    """Compute the entropy -x log(x), 0 at x = 0, and -inf for negative x.

    >>> special.entr(1.0)
    Array(-0., dtype=float32, weak_type=True)
    """
    found = -x * snp.log(_safe(x > 0, x))
    found = snp.where(x > 0, found, snp.where(x == 0, 0.0, -snp.inf))
    return snp.where(snp.isnan(x), x, found)


def _relative(p: Any, q: Any) -> Any:
    """p log(p / q) for positive p and q, exact where they are close to each other."""
    ratio = (p - q) / q
    close = snp.abs(ratio) < 0.5
    near = snp.log1p(snp.where(close, ratio, 0.0))
    quotient = p / q
    extreme = (quotient == 0) | snp.isinf(quotient)
    far = snp.log(snp.where(extreme, 1.0, quotient))
    difference = snp.log(p) - snp.log(q)
    return snp.where(close, near, snp.where(extreme, difference, far))


def _inside(p: Any, q: Any, slope: Any, elsewhere: Any = 0.0) -> Any:
    """Select the derivative of an entropy where p and q are positive; its ends are not differentiable."""
    found = snp.where((p > 0) & (q > 0), slope, elsewhere)
    return snp.where(snp.isnan(p) | snp.isnan(q), snp.nan, found)


def _log_quotient(p: Any, q: Any) -> Any:
    both = (p > 0) & (q > 0)
    return snp.log(_safe(both, p)) - snp.log(_safe(both, q))


@special(
    lambda out, p, q: _inside(p, q, _log_quotient(p, q) + 1),
    lambda out, p, q: _inside(p, q, -_quotient(p, q)),
    weak_if_all_are=True,
    weak_scalars=True,
)
def rel_entr(p: Any, q: Any) -> Array:
    """Compute p log(p / q) for positive p and q, 0 where p = 0 and q >= 0, inf elsewhere.

    >>> special.rel_entr(1.0, 1.0)
    Array(0., dtype=float32, weak_type=True)
    """
    both, none = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    found = p * _relative(_safe(both, p), _safe(both, q))
    found = snp.where(both, found, snp.where(none, 0.0, snp.inf))
    return snp.where(snp.isnan(p) | snp.isnan(q), snp.nan, found)


@special(
    lambda out, p, q: _inside(p, q, _log_quotient(p, q)),
    lambda out, p, q: _inside(p, q, 1 - _quotient(p, q), snp.where((p == 0) & (q >= 0), 1.0, 0.0)),
    weak_if_all_are=True,
    weak_scalars=True,
)
def kl_div(p: Any, q: Any) -> Array:
    """Compute p log(p / q) - p + q for positive p and q, q where p = 0 and q >= 0, inf elsewhere.

    >>> special.kl_div(0.0, 2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    both, none = (p > 0) & (q > 0), (p == 0) & (q >= 0)
    u, v = _safe(both, p), _safe(both, q)
    # with r = (p - q) / q it is q ((1 + r) log(1 + r) - r), whose first terms cancel
    r = (u - v) / v
    s = r / (2 + r)
    near = v * r * s * _series_of_kl(snp.where(snp.abs(r) < 0.5, s, 0.0), r)
    far = u * _relative(u, v) - u + v
    found = snp.where(snp.abs(r) < 0.5, near, far)
    found = snp.where(both, found, snp.where(none, q, snp.inf))
    return snp.where(snp.isnan(p) | snp.isnan(q), snp.nan, found)


def _series_of_kl(s: Any, r: Any) -> Any:
    # (1 + r) log(1 + r) - r = r s (1 + 2 (1 + r) s (1/3 + s**2/5 + s**4/7 + ...) / r ...)
    square = s * s
    total = 0 * s
    for k in reversed(range(18)):
        total = total * square + 1.0 / (2 * k + 3)
    # log(1 + r) = 2 s + 2 s**3 total, with s (2 + r) = r
    return 1 + 2 * (1 + r) * s * total / (2 + r)


@special(
    lambda out, x, a: _power(snp.log(x), a - 1), lambda out, x, a: _boxcox_in_power(snp.log(x), a)
)
def boxcox(x: Any, lmbda: Any) -> Array:
    """Compute (x**lmbda - 1) / lmbda, and log(x) where lmbda is 0.

    >>> special.boxcox(3.0, 1.0)
    Array(2., dtype=float32, weak_type=True)
    """
    return _boxcox(snp.log(x), lmbda)


@special(
    lambda out, x, a: _power(snp.log1p(x), a - 1),
    lambda out, x, a: _boxcox_in_power(snp.log1p(x), a),
)
def boxcox1p(x: Any, lmbda: Any) -> Array:
    """Compute ((1 + x)**lmbda - 1) / lmbda, and log(1 + x) where lmbda is 0.

    >>> special.boxcox1p(3.0, 1.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return _boxcox(snp.log1p(x), lmbda)


def _power(logarithm: Any, a: Any) -> Any:
    return snp.where(a == 0, 1.0, snp.exp(a * logarithm))


def _boxcox(logarithm: Any, a: Any) -> Any:
    product = a * logarithm
    zero = (a == 0) | (product == 0)
    return snp.where(zero, logarithm, snp.expm1(product) / _safe(~zero, a))


def _boxcox_in_power(logarithm: Any, a: Any) -> Any:
    """With v = a log x it is log(x)**2 (v exp(v) - expm1(v)) / v**2."""
    v = a * logarithm
    near = snp.abs(v) < 0.5
    u = snp.where(near, v, 0.0)
    total, factor = 0 * u, 1.0
    terms = []
    for k in range(16):
        factor *= max(k, 1)
        terms.append(1.0 / (factor * (k + 2)))
    for c in reversed(terms):
        total = total * u + c
    w = snp.where(near, 1.0, v)
    far = (w * snp.exp(w) - snp.expm1(w)) / (w * w)
    return logarithm * logarithm * snp.where(near, total, far)
