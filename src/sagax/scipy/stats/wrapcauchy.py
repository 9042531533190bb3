"""The wrapped Cauchy distribution, of angles."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution, inside

__all__ = ["logpdf", "pdf"]


@distribution
def logpdf(x: Any, c: Any) -> Array:
    """The logarithm of the density at `x`.

    `c`, between 0 and 1, is the concentration around 0; angles are from 0 to 2 pi. Arguments broadcast.

    >>> from sagax.scipy.stats import wrapcauchy
    >>> wrapcauchy.logpdf(1.0, 0.5)
    Array(-1.782643, dtype=float32, weak_type=True)
    """
    found = snp.log1p(-c * c) - snp.log(2 * snp.pi) - snp.log(1 + c * c - 2 * c * snp.cos(x))
    return inside((x >= 0) & (x <= 2 * snp.pi), found)


@distribution
def pdf(x: Any, c: Any) -> Array:
    """The density at `x`.

    `c`, between 0 and 1, is the concentration around 0; angles are from 0 to 2 pi. Arguments broadcast.

    >>> from sagax.scipy.stats import wrapcauchy
    >>> wrapcauchy.pdf(1.0, 0.5)
    Array(0.16819303, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, c))
