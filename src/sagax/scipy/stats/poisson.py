"""Evaluate the Poisson distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaincc, gammaln, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["cdf", "logpmf", "pmf"]

_poisson = Distribution(
    "poisson",
    "The probability of k is mu**k exp(-mu) / k!.",
    "`mu` is the mean, `loc` is added to the counts.",
    lambda mu: mu >= 0,
)


@_poisson.function("2, 1.5", "-1.3822169")
def logpmf(k: Any, mu: Any, loc: Any = 0) -> Array:
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0)
    safe = snp.where(ok, k, 0)
    return inside(ok, xlogy(safe, mu) - gammaln(safe + 1) - mu)


pmf = _poisson.function("2, 1.5", "0.25102144")(exp_of(logpmf))


@_poisson.function("2, 1.5", "0.80884683")
def cdf(k: Any, mu: Any, loc: Any = 0) -> Array:
    k = snp.floor(k - loc)
    return snp.where(k >= 0, gammaincc(snp.maximum(k, 0) + 1, mu), 0)
