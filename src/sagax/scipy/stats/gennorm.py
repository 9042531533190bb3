"""The generalized normal distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammainc, gammaln
from sagax.scipy.stats._common import distribution

__all__ = ["cdf", "logpdf", "pdf"]


@distribution
def logpdf(x: Any, beta: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `beta` is the exponent, `loc` the mean, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gennorm
    >>> gennorm.logpdf(1.0, 1.5)
    Array(-1.5908324, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return snp.log(beta / (2 * scale)) - gammaln(1 / beta) - snp.abs(z) ** beta


@distribution
def pdf(x: Any, beta: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `beta` is the exponent, `loc` the mean, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gennorm
    >>> gennorm.pdf(1.0, 1.5)
    Array(0.20375594, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, beta, loc, scale))


@distribution
def cdf(x: Any, beta: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `beta` is the exponent, `loc` the mean, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gennorm
    >>> gennorm.cdf(1.0, 1.5)
    Array(0.88759124, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return 0.5 * (1 + snp.sign(z) * gammainc(1 / beta, snp.abs(z) ** beta))
