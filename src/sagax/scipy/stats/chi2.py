"""Evaluate the chi-square distribution, of sums of squares of normal variables."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammainc, gammaincc, gammaln, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside, log_of

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

_chi2 = Distribution(
    "chi2",
    "The density is z**(df / 2 - 1) exp(-z / 2) / (2**(df / 2) gamma(df / 2) scale), with z = (x - loc) / scale.",
    "`df` are the degrees of freedom, `loc` is the lower bound, `scale` the scale.",
    lambda df: df > 0,
)


@_chi2.function("2.0, 3.0", "-1.5723649")
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    half, safe = df / 2, snp.where(z >= 0, z, 1)
    return inside(
        z >= 0,
        xlogy(half - 1, safe) - safe / 2 - gammaln(half) - half * snp.log(2) - snp.log(scale),
    )


pdf = _chi2.function("2.0, 3.0", "0.20755374")(exp_of(logpdf))


@_chi2.function("2.0, 3.0", "0.4275933")
def cdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    found = gammainc(df / 2, snp.where(z > 0, z, 1) / 2)
    return snp.where(z > 0, found, 0)


logcdf = _chi2.function("2.0, 3.0", "-0.8495828")(log_of(cdf))


@_chi2.function("2.0, 3.0", "0.5724067")
def sf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    found = gammaincc(df / 2, snp.where(z > 0, z, 1) / 2)
    return snp.where(z > 0, found, 1)


logsf = _chi2.function("2.0, 3.0", "-0.5579055")(log_of(sf))
