"""The beta-binomial distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import betaln
from sagax.scipy.stats._common import distribution, inside

__all__ = ["logpmf", "pmf"]


@distribution
def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """The logarithm of the probability of `k`.

    `n` is the number of trials, `a` and `b` the shapes of the chance of a success; arguments broadcast.

    >>> from sagax.scipy.stats import betabinom
    >>> betabinom.logpmf(2, 5, 1.5, 2.5)
    Array(-1.5153711, dtype=float32, weak_type=True)
    """
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0) & (k <= n) & (n >= 0) & (a > 0) & (b > 0)
    safe = snp.where(ok, k, 0)
    ways = -snp.log1p(n) - betaln(n - safe + 1, safe + 1)
    return inside(ok, ways + betaln(safe + a, n - safe + b) - betaln(a, b))


@distribution
def pmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    """The probability of `k`.

    `n` is the number of trials, `a` and `b` the shapes of the chance of a success; arguments broadcast.

    >>> from sagax.scipy.stats import betabinom
    >>> betabinom.pmf(2, 5, 1.5, 2.5)
    Array(0.21972664, dtype=float32, weak_type=True)
    """
    return snp.exp(logpmf.of(k, n, a, b, loc))
