"""Evaluate the Cauchy distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._distribution import Distribution, exp_of, log_of

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_cauchy = Distribution(
    "cauchy",
    "The density is 1 / (pi (1 + z**2) scale), with z = (x - loc) / scale.",
    "`loc` is the median, `scale` half the interquartile range.",
    complex_too=True,
)


@_cauchy.function("1.0", "-1.8378772")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -snp.log(snp.pi * scale) - snp.log1p(z * z)


pdf = _cauchy.function("1.0", "0.15915492")(exp_of(logpdf))


@_cauchy.function("1.0", "0.75")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return 0.5 + snp.arctan((x - loc) / scale) / snp.pi


logcdf = _cauchy.function("1.0", "-0.2876821")(log_of(cdf))


@_cauchy.function("0.0", "0.5")
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return cdf(2 * loc - x, loc, scale)


logsf = _cauchy.function("0.0", "-0.6931472")(log_of(sf))


def _quantile(q: Any) -> Array:
    """tan(pi (q - 1/2)), infinite at 0 and 1."""
    found = snp.tan(snp.pi * (q - 0.5))
    return snp.where(q == 0, -snp.inf, snp.where(q == 1, snp.inf, found))


@_cauchy.function("0.75", "1.")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc + scale * _quantile(q)


@_cauchy.function("0.25", "1.")
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc - scale * _quantile(q)
