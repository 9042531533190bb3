"""Evaluate the gamma distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammainc, gammaincc, gammaln, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside, log_of

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

_gamma = Distribution(
    "gamma",
    "The density is z**(a - 1) exp(-z) / (gamma(a) scale) for z >= 0, with z = (x - loc) / scale.",
    "`a` is the shape, `loc` the lower bound, `scale` the scale.",
    lambda a: a > 0,
)


@_gamma.function("2.0, 3.0", "-1.3068528")
def logpdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    safe = snp.where(z >= 0, z, 1)
    return inside(z >= 0, xlogy(a - 1, safe) - safe - gammaln(a) - snp.log(scale))


pdf = _gamma.function("2.0, 3.0", "0.27067056")(exp_of(logpdf))


@_gamma.function("2.0, 3.0", "0.32332358")
def cdf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    found = gammainc(a, snp.where(z >= 0, z, 1))
    return snp.where(z >= 0, found, 0)


logcdf = _gamma.function("2.0, 3.0", "-1.1291016")(log_of(cdf))


@_gamma.function("2.0, 3.0", "0.6766764", weak="arrays")
def sf(x: Any, a: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    found = gammaincc(a, snp.where(z >= 0, z, 1))
    return snp.where(z >= 0, found, 1)


logsf = _gamma.function("2.0, 3.0", "-0.39056212", weak="arrays")(log_of(sf))
