"""Evaluate the generalized normal distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammainc, gammaln
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["cdf", "logpdf", "pdf"]

_gennorm = Distribution(
    "gennorm",
    "The density is beta exp(-|z|**beta) / (2 gamma(1 / beta) scale), with z = (x - loc) / scale.",
    "`beta` is the exponent, `loc` the mean, `scale` the scale.",
    lambda beta: beta > 0,
)


@_gennorm.function("1.0, 1.5", "-1.5908324", weak="arrays")
def logpdf(x: Any, beta: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return snp.log(beta / (2 * scale)) - gammaln(1 / beta) - snp.abs(z) ** beta


pdf = _gennorm.function("1.0, 1.5", "0.20375594", weak="arrays")(exp_of(logpdf))


@_gennorm.function("1.0, 1.5", "0.88759124", weak="arrays")
def cdf(x: Any, beta: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return 0.5 * (1 + snp.sign(z) * gammainc(1 / beta, snp.abs(z) ** beta))
