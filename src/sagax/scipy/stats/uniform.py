"""Evaluate the uniform distribution on an interval."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._distribution import Distribution, inside

__all__ = ["cdf", "logpdf", "pdf", "ppf"]

_uniform = Distribution(
    "uniform",
    "The density is 1 / scale in [loc, loc + scale].",
    "`loc` is the lower bound, `scale` the length of the interval.",
    complex_too=True,
)


@_uniform.function("0.5, 0, 2", "-0.6931472", weak="arrays")
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return inside((x >= loc) & (x <= loc + scale), -snp.log(scale) + 0 * x)


@_uniform.function("0.5, 0, 2", "0.5", weak="arrays")
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return snp.where((x >= loc) & (x <= loc + scale), 1 / scale + 0 * x, 0)


@_uniform.function("0.5, 0, 2", "0.25", weak="arrays")
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return snp.clip((x - loc) / scale, 0, 1)


@_uniform.function("0.25, 0, 2", "0.5", weak="arrays")
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return snp.where((q >= 0) & (q <= 1), q * scale + loc, snp.nan)
