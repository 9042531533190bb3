"""Student's t distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln
from sagax.scipy.stats._common import distribution

__all__ = ["logpdf", "pdf"]


@distribution
def logpdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `df` are the degrees of freedom, `loc` the median, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import t
    >>> t.logpdf(1.0, 3.0)
    Array(-1.5762529, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    return (
        gammaln((df + 1) / 2)
        - gammaln(df / 2)
        - 0.5 * snp.log(df * snp.pi)
        - snp.log(scale)
        - (df + 1) / 2 * snp.log1p(z * z / df)
    )


@distribution
def pdf(x: Any, df: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `df` are the degrees of freedom, `loc` the median, `scale` the unit; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import t
    >>> t.pdf(1.0, 3.0)
    Array(0.20674835, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, df, loc, scale))
