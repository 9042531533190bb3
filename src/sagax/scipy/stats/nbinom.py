"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln, xlog1py
from sagax.scipy.stats._common import distribution, inside

__all__ = ["logpmf", "pmf"]


@distribution
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of `k`.

    Of the failures before `n` successes, each of probability `p`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import nbinom
    >>> nbinom.logpmf(2, 3, 0.5)
    Array(-1.6739764, dtype=float32, weak_type=True)
    """
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0)
    safe = snp.where(ok, k, 0)
    ways = gammaln(safe + n) - gammaln(safe + 1) - gammaln(n)
    return inside(ok, ways + n * snp.log(p) + xlog1py(safe, -p))


@distribution
def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of `k`.

    Of the failures before `n` successes, each of probability `p`; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import nbinom
    >>> nbinom.pmf(2, 3, 0.5)
    Array(0.1875, dtype=float32, weak_type=True)
    """
    return snp.exp(logpmf.of(k, n, p, loc))
