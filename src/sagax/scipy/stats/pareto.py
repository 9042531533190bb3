"""The Pareto distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]


@distribution
def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.logpdf(2.0, 3.0)
    Array(-1.6739764, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    safe = snp.where(z >= 1, z, 1)
    return inside(z >= 1, snp.log(b) - snp.log(scale) - (b + 1) * snp.log(safe))


@distribution
def pdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.pdf(2.0, 3.0)
    Array(0.1875, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, b, loc, scale))


@distribution
def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.cdf(2.0, 3.0)
    Array(0.875, dtype=float32, weak_type=True)
    """
    return -snp.expm1(logsf.of(x, b, loc, scale))


@distribution
def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.logcdf(2.0, 3.0)
    Array(-0.13353139, dtype=float32, weak_type=True)
    """
    return snp.log1p(-sf.of(x, b, loc, scale))


@distribution
def sf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.sf(2.0, 3.0)
    Array(0.125, dtype=float32, weak_type=True)
    """
    return snp.exp(logsf.of(x, b, loc, scale))


@distribution
def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.logsf(2.0, 3.0)
    Array(-2.0794415, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return -b * snp.log(snp.where(z >= 1, z, 1))


@distribution
def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `b` is the exponent, `loc + scale` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import pareto
    >>> pareto.ppf(0.5, 3.0)
    Array(1.2599211, dtype=float32, weak_type=True)
    """
    return snp.where((q >= 0) & (q <= 1), loc + scale * snp.exp(-snp.log1p(-q) / b), snp.nan)
