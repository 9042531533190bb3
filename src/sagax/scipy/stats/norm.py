"""Evaluate the normal distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import log_ndtr, ndtr, ndtri
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

_norm = Distribution(
    "norm",
    "The density is exp(-z**2 / 2) / (sqrt(2 pi) scale), with z = (x - loc) / scale.",
    "`loc` is the mean, `scale` the standard deviation.",
    complex_too=True,
)


@_norm.function("1.0", "-1.4189385")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -0.5 * (z * z + snp.log(2 * snp.pi)) - snp.log(scale)


pdf = _norm.function("1.0", "0.24197073")(exp_of(logpdf))


@_norm.function("1.0", "0.8413447", weak="never")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return ndtr((x - loc) / scale)


@_norm.function("1.0", "-0.17275378", weak="never")
def logcdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return log_ndtr((x - loc) / scale)


@_norm.function("1.0", "0.15865526", weak="never")
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return ndtr((loc - x) / scale)


@_norm.function("1.0", "-1.8410217", weak="never")
def logsf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return log_ndtr((loc - x) / scale)


@_norm.function("0.8", "0.8416213", weak="never")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return ndtri(q) * scale + loc


@_norm.function("0.2", "0.8416213", weak="never")
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc - ndtri(q) * scale
