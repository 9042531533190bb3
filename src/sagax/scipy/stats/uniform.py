"""The uniform distribution on an interval."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logpdf", "pdf", "ppf"]


@distribution
def logpdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The logarithm of the density at `x`.

    From `loc` to `loc + scale`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import uniform
    >>> uniform.logpdf(0.5, 0, 2)
    Array(-0.6931472, dtype=float32, weak_type=True)
    """
    return inside((x >= loc) & (x <= loc + scale), -snp.log(scale) + 0 * x)


@distribution
def pdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The density at `x`.

    From `loc` to `loc + scale`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import uniform
    >>> uniform.pdf(0.5, 0, 2)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, loc, scale))


@distribution
def cdf(x: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The probability of a value of at most `x`.

    From `loc` to `loc + scale`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import uniform
    >>> uniform.cdf(0.5, 0, 2)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return snp.clip((x - loc) / scale, 0, 1)


@distribution
def ppf(q: Any, loc: Any = 0, scale: Any = 1) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    From `loc` to `loc + scale`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import uniform
    >>> uniform.ppf(0.25, 0, 2)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return snp.where((q >= 0) & (q <= 1), q * scale + loc, snp.nan)
