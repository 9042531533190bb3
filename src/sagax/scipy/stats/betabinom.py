"""Evaluate the beta-binomial distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import betaln
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["logpmf", "pmf"]

_betabinom = Distribution(
    "betabinom",
    "The probability of k is C(n, k) B(k + a, n - k + b) / B(a, b).",
    "`n` is the number of trials, `a` and `b` are the shapes of the beta distribution of the success probability.",
    lambda n, a, b: (n >= 0) & (n == snp.floor(n)) & (a > 0) & (b > 0),
)


@_betabinom.function("2, 5, 1.5, 2.5", "-1.5153711")
def logpmf(k: Any, n: Any, a: Any, b: Any, loc: Any = 0) -> Array:
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0) & (k <= n) & (n >= 0) & (a > 0) & (b > 0)
    safe = snp.where(ok, k, 0)
    ways = -snp.log1p(n) - betaln(n - safe + 1, safe + 1)
    return inside(ok, ways + betaln(safe + a, n - safe + b) - betaln(a, b))


pmf = _betabinom.function("2, 5, 1.5, 2.5", "0.21972664")(exp_of(logpmf))
