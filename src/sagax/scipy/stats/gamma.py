"""The gamma distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammainc, gammaincc, gammaln, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@distribution
def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `a` is the shape, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gamma
    >>> gamma.logpdf(2.0, 3.0)
    Array(-1.3068528, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    safe = snp.where(z >= 0, z, 1)
    return inside(z >= 0, xlogy(a - 1, safe) - safe - gammaln(a) - snp.log(scale))


@distribution
def pdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `a` is the shape, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gamma
    >>> gamma.pdf(2.0, 3.0)
    Array(0.27067056, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, a, loc, scale))


@distribution
def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `a` is the shape, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gamma
    >>> gamma.cdf(2.0, 3.0)
    Array(0.32332358, dtype=float32, weak_type=True)
    """
    return gammainc(a, snp.maximum((x - loc) / scale, 0))


@distribution
def logcdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `a` is the shape, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gamma
    >>> gamma.logcdf(2.0, 3.0)
    Array(-1.1291016, dtype=float32, weak_type=True)
    """
    return snp.log(cdf.of(x, a, loc, scale))


@distribution
def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `a` is the shape, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gamma
    >>> gamma.sf(2.0, 3.0)
    Array(0.6766764, dtype=float32, weak_type=True)
    """
    return gammaincc(a, snp.maximum((x - loc) / scale, 0))


@distribution
def logsf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `a` is the shape, `loc` the least value, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import gamma
    >>> gamma.logsf(2.0, 3.0)
    Array(-0.39056212, dtype=float32, weak_type=True)
    """
    return snp.log(sf.of(x, a, loc, scale))
