"""Evaluate the binomial distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln, xlog1py, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["logpmf", "pmf"]

_binom = Distribution(
    "binom",
    "The probability of k is C(n, k) p**k (1 - p)**(n - k).",
    "`n` is the number of trials, `p` the probability of a success.",
    lambda n, p: (n >= 0) & (n == snp.floor(n)) & (p >= 0) & (p <= 1),
)


@_binom.function("2, 5, 0.25", "-1.3330498", weak="arrays")
def logpmf(k: Any, n: Any, p: Any, loc: Any = 0) -> Array:
    k = k - loc
    ok = (k == snp.floor(k)) & (k >= 0) & (k <= n)
    safe = snp.where(ok, k, 0)
    ways = gammaln(n + 1) - gammaln(safe + 1) - gammaln(n - safe + 1)
    return inside(ok, ways + xlogy(safe, p) + xlog1py(n - safe, -p))


pmf = _binom.function("2, 5, 0.25", "0.2636719", weak="arrays")(exp_of(logpmf))
