"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import xlog1py
from sagax.scipy.stats._common import distribution, inside

__all__ = ["logpmf", "pmf"]


@distribution
def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of `k`.

    Of the trials until the first success, each of probability `p`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import geom
    >>> geom.logpmf(3, 0.25)
    Array(-1.9616585, dtype=float32, weak_type=True)
    """
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 1)
    safe = snp.where(ok, k, 1)
    return inside(ok, xlog1py(safe - 1, -p) + snp.log(p))


@distribution
def pmf(k: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of `k`.

    Of the trials until the first success, each of probability `p`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import geom
    >>> geom.pmf(3, 0.25)
    Array(0.140625, dtype=float32, weak_type=True)
    """
    return snp.exp(logpmf.of(k, p, loc))
