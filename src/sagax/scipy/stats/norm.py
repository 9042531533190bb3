"""The normal distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import log_ndtr, ndtr, ndtri
from sagax.scipy.stats._common import distribution

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.logpdf(1.0)
    Array(-1.4189385, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -0.5 * (z * z + snp.log(2 * snp.pi)) - snp.log(scale)


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.pdf(1.0)
    Array(0.24197073, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.cdf(1.0)
    Array(0.8413447, dtype=float32, weak_type=True)
    """
    return ndtr((x - loc) / scale)


@distribution
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.logcdf(1.0)
    Array(-0.1727538, dtype=float32, weak_type=True)
    """
    return log_ndtr((x - loc) / scale)


@distribution
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.sf(1.0)
    Array(0.15865527, dtype=float32, weak_type=True)
    """
    return ndtr((loc - x) / scale)


@distribution
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.logsf(1.0)
    Array(-1.8410214, dtype=float32, weak_type=True)
    """
    return log_ndtr((loc - x) / scale)


@distribution
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.ppf(0.8)
    Array(0.84162134, dtype=float32, weak_type=True)
    """
    return ndtri(q) * scale + loc


@distribution
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is exceeded with probability `q`: the inverse of sf.

    `loc` is the mean, `scale` the standard deviation; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import norm
    >>> norm.isf(0.2)
    Array(0.8416212, dtype=float32, weak_type=True)
    """
    return loc - ndtri(q) * scale
