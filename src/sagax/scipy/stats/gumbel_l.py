"""Evaluate the left-skewed Gumbel distribution, of minima."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.nn.activations import log1mexp
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_gumbel_l = Distribution(
    "gumbel_l",
    "The density is exp(z - exp(z)) / scale, with z = (x - loc) / scale.",
    "`loc` is the mode, `scale` the scale.",
)


@_gumbel_l.function("1.0", "-1.7182817", weak="arrays")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = -(x - loc) / scale
    return -z - snp.exp(-z) - snp.log(scale)


pdf = _gumbel_l.function("1.0", "0.1793741", weak="arrays")(exp_of(logpdf))


@_gumbel_l.function("1.0", "0.06598804", weak="arrays")
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = -(x - loc) / scale
    return snp.exp(-snp.exp(-z))


@_gumbel_l.function("1.0", "-2.7182817", weak="arrays")
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = -(x - loc) / scale
    return -snp.exp(-z)


@_gumbel_l.function("1.0", "0.93401194", weak="arrays")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = -(x - loc) / scale
    return -snp.expm1(-snp.exp(-z))


@_gumbel_l.function("1.0", "-0.06826603", weak="arrays")
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = -(x - loc) / scale
    return log1mexp(snp.exp(-z))


@_gumbel_l.function("0.5", "-0.36651292", weak="arrays")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc + scale * snp.log(-snp.log1p(-q))
