"""Evaluate the Laplace distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["cdf", "logpdf", "pdf"]

_laplace = Distribution(
    "laplace",
    "The density is exp(-|z|) / (2 scale), with z = (x - loc) / scale.",
    "`loc` is the median, `scale` the mean absolute deviation.",
)


@_laplace.function("1.0", "-1.6931472")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return -snp.abs(x - loc) / scale - snp.log(2 * scale)


pdf = _laplace.function("1.0", "0.18393973")(exp_of(logpdf))


@_laplace.function("1.0", "0.8160603")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    tail = 0.5 * snp.exp(-snp.abs(z))
    return snp.where(z < 0, tail, 1 - tail)
