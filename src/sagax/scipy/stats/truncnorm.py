"""Evaluate the truncated normal distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import log_ndtr
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

_truncnorm = Distribution(
    "truncnorm",
    "The density is that of `norm` in [loc + a scale, loc + b scale], normalized.",
    "`a` and `b` are the bounds, in units of `scale` from `loc`.",
    lambda a, b: a < b,
)


def _log_difference(a: Any, b: Any) -> Array:
    """log(ndtr(b) - ndtr(a)) for a < b, exact in both tails."""
    # Above 0 the upper tails are the small numbers to be subtracted.
    low, high = snp.where(a > 0, -b, a), snp.where(a > 0, -a, b)
    large, small = log_ndtr(high), log_ndtr(low)
    gap = snp.where(large > small, small - large, -1.0)
    return large + snp.log(-snp.expm1(gap))


@_truncnorm.function("0.5, -1.0, 2.0", "-0.8437723", weak="never")
def logpdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    mass = _log_difference(a, b)
    found = -0.5 * (z * z + snp.log(2 * snp.pi)) - snp.log(scale) - mass
    return inside((z >= a) & (z <= b) & (a < b), found)


pdf = _truncnorm.function("0.5, -1.0, 2.0", "0.43008506", weak="never")(exp_of(logpdf))


@_truncnorm.function("0.5, -1.0, 2.0", "-0.42942938", weak="never")
def logcdf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    within = snp.where((z > a) & (z < b), z, (a + b) / 2)
    found = _log_difference(a, within) - _log_difference(a, b)
    return inside(z > a, snp.where(z < b, found, 0))


cdf = _truncnorm.function("0.5, -1.0, 2.0", "0.6508804", weak="never")(exp_of(logcdf))


@_truncnorm.function("0.5, -1.0, 2.0", "-1.0523407", weak="never")
def logsf(x: Any, a: Any, b: Any, loc: Any = 0, scale: Any = 1) -> Array:
    return logcdf(2 * loc - x, -b, -a, loc, scale)


sf = _truncnorm.function("0.5, -1.0, 2.0", "0.3491196", weak="never")(exp_of(logsf))
