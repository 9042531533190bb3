"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln, xlog1py, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["logpmf", "pmf"]


@distribution
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of `k`.

    `n` is the number of trials, `p` the probability of a success; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import binom
    >>> binom.logpmf(2, 5, 0.25)
    Array(-1.3330498, dtype=float32, weak_type=True)
    """
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0) & (k <= n)
    safe = snp.where(ok, k, 0)
    ways = gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1)
    return inside(ok, ways + xlogy(safe, p) + xlog1py(n - safe, -p))


@distribution
def pmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    """The probability of `k`.

    `n` is the number of trials, `p` the probability of a success; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import binom
    >>> binom.pmf(2, 5, 0.25)
    Array(0.2636719, dtype=float32, weak_type=True)
    """
    return snp.exp(logpmf.of(k, n, p, loc))
