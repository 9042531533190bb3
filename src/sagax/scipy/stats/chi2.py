"""The distribution of the sum of squares of normal numbers."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammainc, gammaincc, gammaln, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@distribution
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `df` is the number of squares, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import chi2
    >>> chi2.logpdf(2.0, 3.0)
    Array(-1.5723649, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    half, safe = df / 2, snp.where(z >= 0, z, 1)
    return inside(
        z >= 0,
        xlogy(half - 1, safe) - safe / 2 - gammaln(half) - half * snp.log(2) - snp.log(scale),
    )


@distribution
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `df` is the number of squares, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import chi2
    >>> chi2.pdf(2.0, 3.0)
    Array(0.20755374, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, df, loc, scale))


@distribution
def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `df` is the number of squares, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import chi2
    >>> chi2.cdf(2.0, 3.0)
    Array(0.4275933, dtype=float32, weak_type=True)
    """
    return gammainc(df / 2, snp.maximum((x - loc) / scale, 0) / 2)


@distribution
def logcdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `df` is the number of squares, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import chi2
    >>> chi2.logcdf(2.0, 3.0)
    Array(-0.8495828, dtype=float32, weak_type=True)
    """
    return snp.log(cdf.of(x, df, loc, scale))


@distribution
def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `df` is the number of squares, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import chi2
    >>> chi2.sf(2.0, 3.0)
    Array(0.5724067, dtype=float32, weak_type=True)
    """
    return gammaincc(df / 2, snp.maximum((x - loc) / scale, 0) / 2)


@distribution
def logsf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `df` is the number of squares, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import chi2
    >>> chi2.logsf(2.0, 3.0)
    Array(-0.5579055, dtype=float32, weak_type=True)
    """
    return snp.log(sf.of(x, df, loc, scale))
