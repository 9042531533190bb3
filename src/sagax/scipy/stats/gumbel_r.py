"""Evaluate the right-skewed Gumbel distribution, of maxima."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.nn.activations import log1mexp
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_gumbel_r = Distribution(
    "gumbel_r",
    "The density is exp(-z - exp(-z)) / scale, with z = (x - loc) / scale.",
    "`loc` is the mode, `scale` the scale.",
)


@_gumbel_r.function("1.0", "-1.3678794", weak="arrays")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -z - snp.exp(-z) - snp.log(scale)


pdf = _gumbel_r.function("1.0", "0.2546464", weak="arrays")(exp_of(logpdf))


@_gumbel_r.function("1.0", "0.6922006", weak="arrays")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return snp.exp(-snp.exp(-z))


@_gumbel_r.function("1.0", "-0.36787945", weak="arrays")
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -snp.exp(-z)


@_gumbel_r.function("1.0", "0.30779937")
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -snp.expm1(-snp.exp(-z))


@_gumbel_r.function("1.0", "-1.178307", weak="arrays")
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return log1mexp(snp.exp(-z))


@_gumbel_r.function("0.5", "0.36651292", weak="arrays")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc - scale * snp.log(-snp.log(q))
