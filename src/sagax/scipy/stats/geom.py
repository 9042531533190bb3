"""Evaluate the geometric distribution, of trials until the first success."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import xlog1py
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["logpmf", "pmf"]

_geom = Distribution(
    "geom",
    "The probability of k is (1 - p)**(k - 1) p for k >= 1.",
    "`p` is the probability of a success, `loc` is added to the number of trials.",
    lambda p: (p > 0) & (p <= 1),
)


@_geom.function("3, 0.25", "-1.9616585")
def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 1)
    safe = snp.where(ok, k, 1)
    return inside(ok, xlog1py(safe - 1, -p) + snp.log(p))


pmf = _geom.function("3, 0.25", "0.140625")(exp_of(logpmf))
