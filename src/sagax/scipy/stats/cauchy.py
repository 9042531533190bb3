"""The Cauchy distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.logpdf(1.0)
    Array(-1.837877, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -snp.log(snp.pi * scale) - snp.log1p(z * z)


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.pdf(1.0)
    Array(0.15915495, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.cdf(1.0)
    Array(0.75, dtype=float32, weak_type=True)
    """
    return 0.5 + snp.arctan((x - loc) / scale) / snp.pi


@distribution
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.logcdf(1.0)
    Array(-0.2876821, dtype=float32, weak_type=True)
    """
    return snp.log(cdf.of(x, loc, scale))


@distribution
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.sf(1.0)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return cdf.of(2 * loc - x, loc, scale)


@distribution
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.logsf(1.0)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    return snp.log(sf.of(x, loc, scale))


@distribution
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.ppf(0.75)
    Array(1., dtype=float32, weak_type=True)
    """
    return loc + scale * snp.tan(snp.pi * (q - 0.5))


@distribution
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is exceeded with probability `q`: the inverse of sf.

    `loc` is the median, `scale` the half of the distance between the quartiles; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import cauchy
    >>> cauchy.isf(0.25)
    Array(1., dtype=float32, weak_type=True)
    """
    return loc + scale * snp.tan(snp.pi * (0.5 - q))
