"""Evaluate the Pareto distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.nn.activations import log1mexp
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_pareto = Distribution(
    "pareto",
    "The density is b / (z**(b + 1) scale) for z >= 1, with z = (x - loc) / scale.",
    "`b` is the exponent; the lower bound is loc + scale.",
    lambda b: b > 0,
)


@_pareto.function("2.0, 3.0", "-1.6739764")
def logpdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    safe = snp.where(z >= 1, z, 1)
    return inside(z >= 1, snp.log(b) - snp.log(scale) - (b + 1) * snp.log(safe))


pdf = _pareto.function("2.0, 3.0", "0.1875")(exp_of(logpdf))


@_pareto.function("2.0, 3.0", "-2.0794415")
def logsf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -b * snp.log(snp.where(z >= 1, z, 1))


sf = _pareto.function("2.0, 3.0", "0.125")(exp_of(logsf))


@_pareto.function("2.0, 3.0", "0.875")
def cdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return -snp.expm1(logsf(x, b, loc, scale))


@_pareto.function("2.0, 3.0", "-0.13353139", weak="arrays")
def logcdf(x: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    inner = z > 1
    log_tail = -b * snp.log(snp.where(inner, z, 2))
    return inside(inner, log1mexp(-log_tail))


@_pareto.function("0.5, 3.0", "1.2599211")
def ppf(q: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return snp.where((q >= 0) & (q <= 1), loc + scale * snp.exp(-snp.log1p(-q) / b), snp.nan)
