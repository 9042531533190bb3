"""Evaluate hypergeometric functions, by series and transformations that make them converge."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax._src.higher_order.while_loop import fori_loop
from sagax.scipy.special._elementwise import double, special
from sagax.scipy.special._gamma import gamma


def _kummer(a: Any, b: Any, x: Any, terms: int) -> Any:
    def body(k: Any, state: tuple) -> tuple:
        term, total = state
        k = snp.asarray(k, x.dtype)
        below = snp.where(b + k == 0, 1.0, b + k)  # a series that ends before has the term 0 there
        term = term * (a + k) / below * x / (k + 1)
        return term, total + term

    one = 0 * (a + b + x) + 1
    return fori_loop(0, terms, body, (one, one))[1]


def _kummer_far(a: Any, b: Any, x: Any) -> Any:
    """For large x: DLMF 13.7.1."""

    def body(k: Any, state: tuple) -> tuple:
        term, total, least = state
        k = snp.asarray(k, x.dtype)
        term = term * (1 - a + k) * (b - a + k) / ((k + 1) * x)
        least_now = snp.minimum(least, snp.abs(term))
        decreasing = snp.abs(term) <= least
        return snp.where(decreasing, term, 0.0), total + snp.where(decreasing, term, 0.0), least_now

    one = 0 * (a + b + x) + 1
    total = fori_loop(0, 60, body, (one, one, one * snp.inf))[1]
    half = snp.exp(0.5 * x)
    return half * (gamma.formula(b) / gamma.formula(a) * x ** (a - b) * total) * half


def _kummer_close(a: Any, b: Any, x: Any) -> Any:
    """Sum the series from its last term on, for 0 <= a <= 4, b >= 0 and 0 <= x <= 2."""
    total = 0 * (a + b + x) + 1
    for k in reversed(range(32 if double(x) else 23)):
        below = snp.where(b == 0, 1.0, b) if k == 0 else b + k
        total = 1 + total * ((a + k) * x / (below * (k + 1)))
    return total


def _kummer_anywhere(a: Any, b: Any, x: Any) -> Any:
    """Choose among the series, which may end, and the expansions for large x."""
    flip = x < 0
    first, size = snp.where(flip, b - a, a), snp.abs(x)
    limit, terms = (60.0, 260) if x.dtype == np.float64 else (30.0, 140)
    far = size > limit
    near = _kummer(first, b, snp.where(far, 1.0, size), terms)
    near = snp.where(flip, snp.exp(-size) * near, near)
    big = snp.where(far, size, 100.0)
    large = _kummer_far(first, b, big)
    large = snp.where(flip, _kummer_left(a, b, big), large)
    integer_zero = (first <= 0) & (first == snp.floor(first))
    polynomial = _kummer(first, b, size, terms)
    polynomial = snp.where(flip, snp.exp(-size) * polynomial, polynomial)
    return snp.where(far, snp.where(integer_zero, polynomial, large), near)


def _kummer_slope(out: Any, a: Any, b: Any, x: Any) -> Any:
    return a / b * hyp1f1.formula(a + 1, b + 1, x)  # type: ignore[attr-defined]


@special("formula", "formula", _kummer_slope, strong=True, lists=True)
def hyp1f1(a: Any, b: Any, x: Any) -> Array:
    """Compute Kummer's function M(a, b, x), the sum of (a)_k x**k / ((b)_k k!).

    Digits are lost where the terms cancel: for large a of the other sign than x.

    >>> special.hyp1f1(1.0, 1.0, 0.0)
    Array(1., dtype=float32)
    """
    # M(a, b, x) = exp(x) M(b - a, b, -x): with all terms positive, where that is possible
    flip = x < 0
    first, size = snp.where(flip, b - a, a), snp.abs(x)
    close = (size <= 2) & (first >= 0) & (first <= 4) & (b >= 0)  # all terms are positive
    near = _kummer_close(
        snp.where(close, first, 1.0), snp.where(close, b, 1.0), snp.where(close, size, 1.0)
    )
    near = snp.where(flip, snp.exp(-size) * near, near)
    # a branch: hundreds of iterations that most arguments do not need
    found = lax.cond(
        snp.all(close), lambda: near, lambda: snp.where(close, near, _kummer_anywhere(a, b, x))
    )
    found = snp.where(_stops(b) & ~(_stops(a) & (a > b)), snp.inf, found)
    found = snp.where(a == b, snp.exp(x), found)
    found = snp.where(a == 0, 1.0, found)
    return snp.where(snp.isnan(a + b + x), snp.nan, found)


def _kummer_left(a: Any, b: Any, size: Any) -> Any:
    """M(a, b, -size) for large size: exp(-size) times the other side, without the exponentials."""

    def body(k: Any, state: tuple) -> tuple:
        term, total, least = state
        k = snp.asarray(k, size.dtype)
        term = term * (a + k) * (1 + a - b + k) / ((k + 1) * size)
        decreasing = snp.abs(term) <= least
        return (
            snp.where(decreasing, term, 0.0),
            total + snp.where(decreasing, term, 0.0),
            snp.minimum(least, snp.abs(term)),
        )

    one = 0 * (a + b + size) + 1
    total = fori_loop(0, 60, body, (one, one, one * snp.inf))[1]
    return gamma.formula(b) / gamma.formula(b - a) * size ** (-a) * total


def _gauss_series(a: Any, b: Any, c: Any, x: Any, terms: int) -> Any:
    def body(k: Any, state: tuple) -> tuple:
        term, total = state
        k = snp.asarray(k, x.dtype)
        below = snp.where(c + k == 0, 1.0, c + k)
        term = term * (a + k) * (b + k) / below * x / (k + 1)
        return term, total + term

    one = 0 * (a + b + c + x) + 1
    return fori_loop(0, terms, body, (one, one))[1]


def _gauss_slope(out: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    return a * b / c * hyp2f1.formula(a + 1, b + 1, c + 1, x)  # type: ignore[attr-defined]


@special("formula", "formula", "formula", _gauss_slope, strong=True, lists=True)
def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Array:
    """Compute Gauss' function F(a, b; c; x), the sum of (a)_k (b)_k x**k / ((c)_k k!), for x <= 1.

    Digits are lost where terms cancel, and, for x between 0.8 and 1, where
    c - a - b is close to an integer. DLMF 15.8.1, 15.8.4.

    >>> special.hyp2f1(1.0, 1.0, 1.0, 0.0)
    Array(1., dtype=float32)
    """
    left = x < 0
    # x < 0 goes to x / (x - 1) in (0, 1)
    moved = snp.where(left, x / (x - 1), x)
    second = snp.where(left, c - b, b)
    gap = c - a - second
    is_integer = gap == snp.round(gap)
    polynomial = _stops(a) | _stops(second)
    far = (moved > 0.8) & (moved < 1) & ~is_integer & ~polynomial
    terms = 700 if double(x) else 300
    near = _gauss_series(a, second, c, snp.where(far | (moved >= 1), 0.5, moved), terms)
    g = snp.where(far, gap, 0.5)
    y = snp.where(far, 1 - moved, 0.5)
    regular = _ratio(c, g, c - a, c - second) * _gauss_series(a, second, 1 - g, y, 200)
    singular = _ratio(c, -g, a, second) * y**g * _gauss_series(c - a, c - second, 1 + g, y, 200)
    found = snp.where(far, regular + singular, near)
    at_one = snp.where(gap > 0, _ratio(c, gap, c - a, c - second), snp.inf)
    exact = _gauss_series(a, second, c, snp.where(polynomial, moved, 0.5), 200)
    at_one = snp.where(polynomial, exact, at_one)
    found = snp.where(moved == 1, at_one, snp.where(moved > 1, _beyond_one(a, b, c, x), found))
    found = snp.where(polynomial, exact, found)
    found = snp.where(left, (1 - x) ** (-a), 1.0) * found
    pole = _stops(c) & ~(_stops(a) & (a > c)) & ~(_stops(b) & (b > c))
    found = snp.where(pole, snp.inf, found)
    found = snp.where((a == 0) | (b == 0) | (x == 0), 1.0, found)
    return snp.where(snp.isnan(a + b + c + x), snp.nan, found)


def _beyond_one(a: Any, b: Any, c: Any, x: Any) -> Any:
    """F for x > 1, where the series diverges: (1 - x)**-n where c cancels, for integers n."""
    power = snp.where(b == c, a, b)
    known = ((a == c) | (b == c)) & (power == snp.round(power))
    even = power == 2 * snp.round(power / 2)
    size = snp.where(x > 1, x - 1, 1.0) ** -snp.where(known, power, 1.0)
    return snp.where(known, snp.where(even, size, -size), snp.inf)


def _stops(a: Any) -> Any:
    """Return whether the series ends: a is 0, -1, -2, ..."""
    return (a <= 0) & (a == snp.floor(a))


def _ratio(a: Any, b: Any, c: Any, d: Any) -> Any:
    """gamma(a) gamma(b) / (gamma(c) gamma(d)), where poles below give 0."""
    none = _stops(c) | _stops(d)
    c, d = snp.where(none, 1.0, c), snp.where(none, 1.0, d)
    found = gamma.formula(a) / gamma.formula(c) * (gamma.formula(b) / gamma.formula(d))
    return snp.where(none, 0.0, found)
