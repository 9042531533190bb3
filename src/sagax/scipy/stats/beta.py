"""The beta distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import betainc, betaln, xlog1py, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@distribution
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `a` and `b` are the shapes; between `loc` and `loc + scale`. Arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import beta
    >>> beta.logpdf(0.25, 2.0, 3.0)
    Array(0.5232482, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    ok = (z >= 0) & (z <= 1)
    safe = snp.where(ok, z, 0.5)
    found = xlogy(a - 1, safe) + xlog1py(b - 1, -safe) - betaln(a, b) - snp.log(scale)
    return inside(ok, found)


@distribution
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `a` and `b` are the shapes; between `loc` and `loc + scale`. Arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import beta
    >>> beta.pdf(0.25, 2.0, 3.0)
    Array(1.6875001, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, a, b, loc, scale))


@distribution
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `a` and `b` are the shapes; between `loc` and `loc + scale`. Arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import beta
    >>> beta.cdf(0.25, 2.0, 3.0)
    Array(0.26171875, dtype=float32, weak_type=True)
    """
    return betainc(a, b, snp.clip((x - loc) / scale, 0, 1))


@distribution
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `a` and `b` are the shapes; between `loc` and `loc + scale`. Arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import beta
    >>> beta.logcdf(0.25, 2.0, 3.0)
    Array(-1.3404849, dtype=float32, weak_type=True)
    """
    return snp.log(cdf.of(x, a, b, loc, scale))


@distribution
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `a` and `b` are the shapes; between `loc` and `loc + scale`. Arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import beta
    >>> beta.sf(0.25, 2.0, 3.0)
    Array(0.73828125, dtype=float32, weak_type=True)
    """
    return betainc(b, a, 1 - snp.clip((x - loc) / scale, 0, 1))


@distribution
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `a` and `b` are the shapes; between `loc` and `loc + scale`. Arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import beta
    >>> beta.logsf(0.25, 2.0, 3.0)
    Array(-0.30343044, dtype=float32, weak_type=True)
    """
    return snp.log(sf.of(x, a, b, loc, scale))
