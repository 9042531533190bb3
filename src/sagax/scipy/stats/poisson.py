"""Evaluate the Poisson distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaincc, gammaln, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["cdf", "entropy", "logpmf", "pmf"]

_poisson = Distribution(
    "poisson",
    "The probability of k is mu**k exp(-mu) / k!.",
    "`mu` is the mean, `loc` is added to the counts.",
    lambda mu: mu >= 0,
)


@_poisson.function("2, 1.5", "-1.3822169", weak="arrays")
def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0)
    safe = snp.where(ok, k, 0)
    return inside(ok, xlogy(safe, mu) - gammaln(safe + 1) - mu)


pmf = _poisson.function("2, 1.5", "0.25102144", weak="arrays")(exp_of(logpmf))


@_poisson.function("2, 1.5", "0.80884683")
def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    k = snp.floor(k - loc)
    return snp.where(k >= 0, gammaincc(snp.maximum(k, 0) + 1, mu), 0)


@_poisson.function("5.0", "2.2043953", weak="never")
def entropy(mu: Any, loc: Any = 0) -> Array:
    # Below 100 the sum over counts that have any weight. Above, the expansion in 1 / mu: Evans and
    # Boersma, IEEE Transactions on Information Theory 34 (1988).
    summed = snp.where(mu < 100, mu, 1)
    counts = snp.arange(256, dtype=summed.dtype).reshape((1,) * summed.ndim + (256,))
    m = snp.where(summed > 0, summed, 1)[..., None]
    terms = counts * snp.log(m) - gammaln(counts + 1) - m  # not xlogy, a logarithm for each count
    by_sum = -snp.sum(snp.exp(terms) * terms, -1)
    r = 1 / snp.where(mu < 100, 100, mu)
    by_series = 0.5 * snp.log(2 * snp.pi * snp.e / r) - r / 12 - r**2 / 24 - 19 * r**3 / 360
    found = snp.where(mu < 100, by_sum, by_series)
    return snp.where(mu >= 0, snp.where(mu > 0, found, 0), snp.nan) + 0 * loc
