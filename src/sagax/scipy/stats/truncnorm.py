"""The normal distribution between two bounds."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import log_ndtr
from sagax.scipy.stats._common import distribution, inside, log_difference

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]


@distribution
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `a` and `b` are the bounds, in units of `scale` from `loc`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import truncnorm
    >>> truncnorm.logpdf(0.5, -1.0, 2.0)
    Array(-0.8437722, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    mass = log_difference(a, b)
    found = -0.5 * (z * z + snp.log(2 * snp.pi)) - snp.log(scale) - mass
    return inside((z >= a) & (z <= b) & (a < b), found)


@distribution
def pdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `a` and `b` are the bounds, in units of `scale` from `loc`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import truncnorm
    >>> truncnorm.pdf(0.5, -1.0, 2.0)
    Array(0.43008512, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, a, b, loc, scale))


@distribution
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `a` and `b` are the bounds, in units of `scale` from `loc`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import truncnorm
    >>> truncnorm.cdf(0.5, -1.0, 2.0)
    Array(0.65088034, dtype=float32, weak_type=True)
    """
    return snp.exp(logcdf.of(x, a, b, loc, scale))


@distribution
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value of at most `x`.

    `a` and `b` are the bounds, in units of `scale` from `loc`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import truncnorm
    >>> truncnorm.logcdf(0.5, -1.0, 2.0)
    Array(-0.4294294, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    within = snp.where((z > a) & (z < b), z, (a + b) / 2)
    found = log_difference(a, within) - log_difference(a, b)
    return inside(z > a, snp.where(z < b, found, 0))


@distribution
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value above `x`: 1 - cdf.

    `a` and `b` are the bounds, in units of `scale` from `loc`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import truncnorm
    >>> truncnorm.sf(0.5, -1.0, 2.0)
    Array(0.3491196, dtype=float32, weak_type=True)
    """
    return snp.exp(logsf.of(x, a, b, loc, scale))


@distribution
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the probability of a value above `x`.

    `a` and `b` are the bounds, in units of `scale` from `loc`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import truncnorm
    >>> truncnorm.logsf(0.5, -1.0, 2.0)
    Array(-1.0523407, dtype=float32, weak_type=True)
    """
    return logcdf.of(2 * loc - x, -b, -a, loc, scale)
