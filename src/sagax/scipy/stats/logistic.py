"""The logistic distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import expit, logit
from sagax.scipy.stats._common import distribution

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `loc` is the mean, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import logistic
    >>> logistic.logpdf(1.0)
    Array(-1.6265234, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -snp.abs(z) - 2 * snp.log1p(snp.exp(-snp.abs(z))) - snp.log(scale)


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `loc` is the mean, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import logistic
    >>> logistic.pdf(1.0)
    Array(0.19661194, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `loc` is the mean, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import logistic
    >>> logistic.cdf(1.0)
    Array(0.7310586, dtype=float32, weak_type=True)
    """
    return expit((x - loc) / scale)


@distribution
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `loc` is the mean, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import logistic
    >>> logistic.sf(1.0)
    Array(0.26894143, dtype=float32, weak_type=True)
    """
    return expit((loc - x) / scale)


@distribution
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `loc` is the mean, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import logistic
    >>> logistic.ppf(0.8)
    Array(1.3862945, dtype=float32, weak_type=True)
    """
    return loc + scale * logit(q)


@distribution
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is exceeded with probability `q`: the inverse of sf.

    `loc` is the mean, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import logistic
    >>> logistic.isf(0.2)
    Array(1.3862944, dtype=float32, weak_type=True)
    """
    return loc - scale * logit(q)
