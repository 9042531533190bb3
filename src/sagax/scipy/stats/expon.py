"""The exponential distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.logpdf(1.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return inside(z >= 0, -z - snp.log(scale))


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.pdf(1.0)
    Array(0.36787945, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.cdf(1.0)
    Array(0.63212055, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return snp.where(z >= 0, -snp.expm1(-z), 0)


@distribution
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.logcdf(1.0)
    Array(-0.45867515, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    safe = snp.where(z > 0, z, 1)
    return inside(
        z > 0, snp.where(safe < 0.7, snp.log(-snp.expm1(-safe)), snp.log1p(-snp.exp(-safe)))
    )


@distribution
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.sf(1.0)
    Array(0.36787945, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return snp.where(z >= 0, snp.exp(-z), 1)


@distribution
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.logsf(1.0)
    Array(-1., dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return snp.where(z >= 0, -z, 0)


@distribution
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `loc` is the least value, `scale` the mean above it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import expon
    >>> expon.ppf(0.5)
    Array(0.6931472, dtype=float32, weak_type=True)
    """
    return snp.where((q >= 0) & (q <= 1), loc - scale * snp.log1p(-q), snp.nan)
