"""Evaluate the Bernoulli distribution, of 0 and 1."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import xlog1py, xlogy
from sagax.scipy.stats._distribution import Distribution, exp_of, inside

__all__ = ["cdf", "logpmf", "pmf", "ppf"]

_bernoulli = Distribution(
    "bernoulli",
    "The probability of k is p for k = 1 and 1 - p for k = 0.",
    "`p` is the probability of 1; `loc`, where there is one, is added to both values.",
    lambda p: (p >= 0) & (p <= 1),
)


@_bernoulli.function("1, 0.25", "-1.3862944")
def logpmf(k: Any, p: Any, loc: Any = 0) -> Array:
    k = k - loc
    return inside((k == 0) | (k == 1), xlogy(k, p) + xlog1py(1 - k, -p))


pmf = _bernoulli.function("1, 0.25", "0.25")(exp_of(logpmf))


@_bernoulli.function("0, 0.25", "0.75")
def cdf(k: Any, p: Any) -> Array:
    found = snp.where(k < 0, 0, snp.where(k < 1, 1 - p, 1))
    return snp.where((p >= 0) & (p <= 1), found, snp.nan)


@_bernoulli.function("0.9, 0.25", "1.")
def ppf(q: Any, p: Any) -> Array:
    found = snp.where(q <= 1 - p, 0, 1)
    ok = (q >= 0) & (q <= 1) & (p >= 0) & (p <= 1)
    found = snp.where(ok, found, snp.nan)
    if snp.asarray(q).weak_type and snp.asarray(p).weak_type:  # of Python numbers, as is the result
        return found
    dtype = snp.result_type(q, p)
    return found.astype(dtype) if snp.issubdtype(dtype, snp.inexact) else found
