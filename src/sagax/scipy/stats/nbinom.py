"""Evaluate the negative binomial distribution, of failures before the `n`th success."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln, xlog1py
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["logpmf", "pmf"]

_nbinom = Distribution(
    "nbinom",
    "The probability of k is C(n + k - 1, k) p**n (1 - p)**k.",
    "`n` is the number of successes, `p` the probability of each.",
    lambda n, p: (n > 0) & (p > 0) & (p <= 1),
)


@_nbinom.function("2, 3, 0.5", "-1.6739764")
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0)
    safe = snp.where(ok, k, 0)
    ways = gammaln(safe + n) - gammaln(safe + 1) - gammaln(n)
    return inside(ok, ways + n * snp.log(p) + xlog1py(safe, -p))


pmf = _nbinom.function("2, 3, 0.5", "0.1875")(exp_of(logpmf))
