"""Evaluate the exponential distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.nn.activations import log1mexp
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_expon = Distribution(
    "expon",
    "The density is exp(-z) / scale for z >= 0, with z = (x - loc) / scale.",
    "`loc` is the lower bound, `scale` the mean above it.",
)


@_expon.function("1.0", "-1.", weak="arrays")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return inside(z >= 0, -z - snp.log(scale))


pdf = _expon.function("1.0", "0.36787945", weak="arrays")(exp_of(logpdf))


@_expon.function("1.0", "0.63212055", weak="arrays")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return snp.where(z >= 0, -snp.expm1(-z), 0)


@_expon.function("1.0", "-0.45867515", weak="arrays")
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    safe = snp.where(z > 0, z, 1)
    return inside(z > 0, log1mexp(safe))


@_expon.function("1.0", "0.36787945", weak="arrays")
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return snp.exp(-snp.where(z >= 0, z, 0))


@_expon.function("1.0", "-1.", weak="arrays")
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return snp.where(z >= 0, -z, 0)


@_expon.function("0.5", "0.6931472", weak="arrays")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return snp.where((q >= 0) & (q <= 1), loc - scale * snp.log1p(-q), snp.nan)
