"""The Gumbel distribution, of the greatest of many values."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.logpdf(1.0)
    Array(-1.3678794, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -z - snp.exp(-z) - snp.log(scale)


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.pdf(1.0)
    Array(0.2546464, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.cdf(1.0)
    Array(0.6922006, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return snp.exp(-snp.exp(-z))


@distribution
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.logcdf(1.0)
    Array(-0.36787945, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -snp.exp(-z)


@distribution
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.sf(1.0)
    Array(0.30779937, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -snp.expm1(-snp.exp(-z))


@distribution
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.logsf(1.0)
    Array(-1.178307, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    rare = snp.exp(-z)
    return snp.where(rare < 0.7, snp.log(-snp.expm1(-rare)), snp.log1p(-snp.exp(-rare)))


@distribution
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `loc` is the mode, `scale` the unit of distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gumbel_r
    >>> gumbel_r.ppf(0.5)
    Array(0.36651292, dtype=float32, weak_type=True)
    """
    return loc - scale * snp.log(-snp.log(q))
