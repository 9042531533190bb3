"""Evaluate the Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.scipy.special import gammaln, xlogy
from sagax.scipy.stats._distribution import inside, promoting

__all__ = ["logpdf", "pdf"]


def _components(x: Any, alpha: Any) -> tuple[Array, Array]:
    """Return all k components along the first axis, and `alpha` aligned to them."""
    for name, value in (("x", x), ("alpha", alpha)):
        if not value.ndim:
            raise ArgumentValueError.about("dirichlet", name, value, "at least one dimension")
    if x.shape[0] == alpha.shape[0] - 1:
        x = snp.concatenate([x, 1 - snp.sum(x, 0, keepdims=True)], 0)
    return x, alpha.reshape(alpha.shape + (1,) * (x.ndim - 1))


@promoting
def logpdf(x: Any, alpha: Any) -> Array:
    """Compute the logarithm of the probability density at `x`.

    `alpha` holds k concentrations. `x` holds k probabilities along its first axis, or the first k - 1.

    >>> dirichlet.logpdf(snp.array([0.25, 0.75]), snp.array([2.0, 3.0]))
    Array(0.5232482, dtype=float32)
    """
    x, alpha = _components(x, alpha)
    ok = snp.all(x >= 0, 0) & (snp.abs(snp.sum(x, 0) - 1) < 1e-4)
    constant = gammaln(snp.sum(alpha, 0)) - snp.sum(gammaln(alpha), 0)
    return inside(ok, constant + snp.sum(xlogy(alpha - 1, snp.maximum(x, 0)), 0))


@promoting
def pdf(x: Any, alpha: Any) -> Array:
    """Compute the probability density at `x`.

    `alpha` holds k concentrations. `x` holds k probabilities along its first axis, or the first k - 1.

    >>> dirichlet.pdf(snp.array([0.25, 0.75]), snp.array([2.0, 3.0]))
    Array(1.6875001, dtype=float32)
    """
    return snp.exp(logpdf(x, alpha))
