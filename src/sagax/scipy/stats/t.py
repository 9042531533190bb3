"""Evaluate Student's t distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["logpdf", "pdf"]

_t = Distribution(
    "t",
    "The density is in proportion to (1 + z**2 / df)**(-(df + 1) / 2), with z = (x - loc) / scale.",
    "`df` are the degrees of freedom, `loc` is the median, `scale` the scale.",
    lambda df: df > 0,
)


@_t.function("1.0, 3.0", "-1.5762529")
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    z = (x - loc) / scale
    return (
        gammaln((df + 1) / 2)
        - gammaln(df / 2)
        - 0.5 * snp.log(df * snp.pi)
        - snp.log(scale)
        - (df + 1) / 2 * snp.log1p(z * z / df)
    )


pdf = _t.function("1.0, 3.0", "0.20674835")(exp_of(logpdf))
