"""The Laplace distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution

__all__ = ["cdf", "logpdf", "pdf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    `loc` is the median, `scale` the mean distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import laplace
    >>> laplace.logpdf(1.0)
    Array(-1.6931472, dtype=float32, weak_type=True)
    """
    return -snp.abs(x - loc) / scale - snp.log(2 * scale)


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    `loc` is the median, `scale` the mean distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import laplace
    >>> laplace.pdf(1.0)
    Array(0.18393973, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    `loc` is the median, `scale` the mean distance from it; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import laplace
    >>> laplace.cdf(1.0)
    Array(0.8160603, dtype=float32, weak_type=True)
    """
    z = (x - loc) / scale
    tail = 0.5 * snp.exp(-snp.abs(z))
    return snp.where(z < 0, tail, 1 - tail)
