"""Evaluate the multinomial distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.numpy._base import promotes_freely
from sagax.scipy.special import gammaln, xlogy
from sagax.scipy.stats._distribution import inside, promoting

__all__ = ["logpmf", "pmf"]


@promotes_freely
@promoting
def logpmf(x: Any, n: Any, p: Any) -> Array:
    """Compute the logarithm of the probability of `x`.

    `x` counts the outcomes of `n` trials along its last axis, `p` holds their probabilities.

    >>> multinomial.logpmf(snp.array([1, 2]), 3, snp.array([0.25, 0.75]))
    Array(-0.86304617, dtype=float32)
    """
    ok = (snp.sum(x, -1) == n) & snp.all(x >= 0, -1)
    found = gammaln(n + 1) + snp.sum(xlogy(x, p) - gammaln(x + 1), -1)
    return inside(ok, found)


@promotes_freely
@promoting
def pmf(x: Any, n: Any, p: Any) -> Array:
    """Compute the probability of `x`.

    `x` counts the outcomes of `n` trials along its last axis, `p` holds their probabilities.

    >>> multinomial.pmf(snp.array([1, 2]), 3, snp.array([0.25, 0.75]))
    Array(0.42187503, dtype=float32)
    """
    return snp.exp(logpmf(x, n, p))
