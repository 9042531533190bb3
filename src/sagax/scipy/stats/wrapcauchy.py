"""Evaluate the wrapped Cauchy distribution, of angles."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["logpdf", "pdf"]

_wrapcauchy = Distribution(
    "wrapcauchy",
    "The density is (1 - c**2) / (2 pi (1 + c**2 - 2 c cos(x))) in [0, 2 pi].",
    "`c`, between 0 and 1, is the concentration around 0.",
    lambda c: (c > 0) & (c < 1),
)


@_wrapcauchy.function("1.0, 0.5", "-1.782643", weak="arrays")
def logpdf(x: Any, c: Any) -> Array:
    found = snp.log1p(-c * c) - snp.log(2 * snp.pi) - snp.log(1 + c * c - 2 * c * snp.cos(x))
    return inside((x >= 0) & (x <= 2 * snp.pi), found)


pdf = _wrapcauchy.function("1.0, 0.5", "0.16819303", weak="arrays")(exp_of(logpdf))
