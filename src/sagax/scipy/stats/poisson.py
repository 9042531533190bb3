"""The Poisson distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import entr, gammaincc, gammaln, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logpmf", "pmf"]


@distribution
def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of `k`.

    `mu` is the mean, `loc` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import poisson
    >>> poisson.logpmf(2, 1.5)
    Array(-1.3822169, dtype=float32, weak_type=True)
    """
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0)
    safe = snp.where(ok, k, 0)
    return inside(ok, xlogy(safe, mu) - gammaln(safe + 1) - mu)


@distribution
def pmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The probability of `k`.

    `mu` is the mean, `loc` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import poisson
    >>> poisson.pmf(2, 1.5)
    Array(0.25102144, dtype=float32, weak_type=True)
    """
    return snp.exp(logpmf.of(k, mu, loc))


@distribution
def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    """The probability of a value of at most `k`.

    `mu` is the mean, `loc` the least value; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import poisson
    >>> poisson.cdf(2, 1.5)
    Array(0.80884683, dtype=float32, weak_type=True)
    """
    k = snp.floor(k - loc)
    return snp.where(k >= 0, gammaincc(snp.maximum(k, 0) + 1, mu), 0)
