"""Compute series remainders without cancellation, and Gauss nodes.

In terms of exponentials, logarithms and gamma functions, incomplete integrals of large parameters are
differences of large numbers; in terms of these remainders they stay accurate.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from sagax._src.primitives.formulas import (
    Number,
    absolute,
    expm1,
    log1p,
    polynomial,
    where,
)

if TYPE_CHECKING:
    from decimal import Decimal

# From here on Stirling's series is accurate to float64 with eight terms.
LARGE = 8.0
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
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)


def stirling_rest(x: Number) -> Number:
    """Return log gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), for x >= LARGE. DLMF 5.11.1."""
    r = 1 / x
    return r * polynomial(r * r, _STIRLING if x.double else _STIRLING[:4])


def log_less_digamma(x: Number) -> Number:
    """Return log x - digamma(x), for x >= LARGE. DLMF 5.11.2."""
    r = 1 / x
    return r * (0.5 + r * polynomial(r * r, _DIGAMMA if x.double else _DIGAMMA[:4]))


def exp_rest(v: Number) -> Number:
    """Return exp(v) - 1 - v."""
    terms = 13 if v.double else 7
    series = v.like(0.0)
    for k in range(terms, 2, -1):
        series = (1 + series) * v * (1 / k)
    return where(absolute(v) < 0.5, 0.5 * v * v * (1 + series), expm1(v) - v)


def log1p_rest(q: Number) -> Number:
    """Return q - log(1 + q); with s = q / (2 + q) it is q s - 2 s**3 (1/3 + s**2/5 + s**4/7 + ...)."""
    terms = 17 if q.double else 8
    s = q / (2 + q)
    square = s * s
    series = polynomial(square, [2 / (2 * k + 3) for k in range(terms)])
    return where(absolute(q) < 0.5, q * s - s * square * series, q - log1p(q))


@functools.cache
def gauss(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return nodes and weights of Gauss-Legendre quadrature on [0, 1], accurate to float64.

    Steep integrands depend on the nodes near 0; hence the extended precision inside.
    """
    from decimal import Decimal, localcontext  # imported here: 2 ms that few scripts need

    nodes, weights = [], []
    with localcontext() as context:
        context.prec = 40
        for i in range(count):
            x = Decimal(math.cos(math.pi * (i + 0.75) / (count + 0.5)))
            for _ in range(
                5
            ):  # Newton; the initial guess has three digits, and each step doubles them
                value, slope = _legendre(count, x)
                x -= value / slope
            _, slope = _legendre(count, x)
            nodes.append(float((1 - x) / 2))
            weights.append(float(1 / ((1 - x * x) * slope * slope)))
    return tuple(nodes), tuple(weights)


def _legendre(n: int, x: Decimal) -> tuple[Decimal, Decimal]:
    """Evaluate the Legendre polynomial of degree n at x, and its derivative."""
    before, value = type(x)(1), x
    for k in range(2, n + 1):
        before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
    return value, n * (x * value - before) / (x * x - 1)
