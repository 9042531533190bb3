"""Evaluate the logistic distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import expit, logit
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]

_logistic = Distribution(
    "logistic",
    "The density is exp(-z) / (scale (1 + exp(-z))**2), with z = (x - loc) / scale.",
    "`loc` is the mean, `scale` the scale.",
    complex_too=True,
)


@_logistic.function("1.0", "-1.6265234")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return -snp.abs(z) - 2 * snp.log1p(snp.exp(-snp.abs(z))) - snp.log(scale)


pdf = _logistic.function("1.0", "0.19661194")(exp_of(logpdf))


@_logistic.function("1.0", "0.7310586", weak="arrays")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return expit((x - loc) / scale)


@_logistic.function("1.0", "0.26894143", weak="arrays")
def sf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return expit((loc - x) / scale)


@_logistic.function("0.8", "1.3862945")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc + scale * logit(q)


@_logistic.function("0.2", "1.3862944")
def isf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return loc - scale * logit(q)
