"""The distribution of 0 and 1."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import xlog1py, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["cdf", "logpmf", "pmf", "ppf"]


@distribution
def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of `k`.

    `p` is the probability of 1, `loc` (where there is one) what is added; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import bernoulli
    >>> bernoulli.logpmf(1, 0.25)
    Array(-1.3862944, dtype=float32, weak_type=True)
    """
    k = k - loc
    return inside((k == 0) | (k == 1), xlogy(k, p) + xlog1py(1 - k, -p))


@distribution
def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of `k`.

    `p` is the probability of 1, `loc` (where there is one) what is added; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import bernoulli
    >>> bernoulli.pmf(1, 0.25)
    Array(0.25, dtype=float32, weak_type=True)
    """
    return snp.exp(logpmf.of(k, p, loc))


@distribution
def cdf(k: Any, p: Any) -> Array:
    """The probability of a value of at most `k`.

    `p` is the probability of 1, `loc` (where there is one) what is added; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import bernoulli
    >>> bernoulli.cdf(0, 0.25)
    Array(0.75, dtype=float32, weak_type=True)
    """
    found = snp.where(k < 0, 0, snp.where(k < 1, 1 - p, 1))
    return snp.where((p >= 0) & (p <= 1), found, snp.nan)


@distribution
def ppf(q: Any, p: Any) -> Array:
    """The value that is not exceeded with probability `q`: the inverse of cdf.

    `p` is the probability of 1, `loc` (where there is one) what is added; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import bernoulli
    >>> bernoulli.ppf(0.9, 0.25)
    Array(1., dtype=float32, weak_type=True)
    """
    found = snp.where(q <= 1 - p, 0, 1)
    ok = (q >= 0) & (q <= 1) & (p >= 0) & (p <= 1)
    return snp.where(ok, found, snp.nan)
