"""Evaluate the beta distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import betainc, betaln, xlog1py, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside, log_of

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

_beta = Distribution(
    "beta",
    "The density is z**(a - 1) (1 - z)**(b - 1) / (B(a, b) scale), with z = (x - loc) / scale.",
    "`a` and `b` are the shapes; the support is [loc, loc + scale].",
    lambda a, b: (a > 0) & (b > 0),
)


@_beta.function("0.25, 2.0, 3.0", "0.5232482")
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    ok = (z >= 0) & (z <= 1)
    safe = snp.where(ok, z, 0.5)
    found = xlogy(a - 1, safe) + xlog1py(b - 1, -safe) - betaln(a, b) - snp.log(scale)
    return inside(ok, found)


pdf = _beta.function("0.25, 2.0, 3.0", "1.6875001")(exp_of(logpdf))


@_beta.function("0.25, 2.0, 3.0", "0.26171875")
def cdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    has_mass = (z >= 0) & (z <= 1)
    found = betainc(a, b, snp.where(has_mass, z, 0.5))
    return snp.where(has_mass, found, snp.where(z > 1, 1.0, 0.0))


logcdf = _beta.function("0.25, 2.0, 3.0", "-1.3404849")(log_of(cdf))


@_beta.function("0.25, 2.0, 3.0", "0.73828125")
def sf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    has_mass = (z >= 0) & (z <= 1)
    found = betainc(b, a, 1 - snp.where(has_mass, z, 0.5))
    return snp.where(has_mass, found, snp.where(z < 0, 1.0, 0.0))


logsf = _beta.function("0.25, 2.0, 3.0", "-0.30343044")(log_of(sf))
