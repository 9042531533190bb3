"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import gammaln, xlogy
from sagax.scipy.stats._common import distribution, inside

__all__ = ["logpdf", "pdf"]


def _components(x: Any, alpha: Any) -> tuple[Array, Array]:
    """All k components along the first axis, and `alpha` beside them."""
    if x.shape[0] == alpha.shape[0] - 1:
        x = snp.concatenate([x, 1 - snp.sum(x, 0, keepdims=True)], 0)
    return x, alpha.reshape(alpha.shape + (1,) * (x.ndim - 1))


@distribution
def logpdf(x: Any, alpha: Any) -> Array:
    """The logarithm of the density at `x`.

    `alpha` holds k positive numbers; `x` k probabilities along its first axis, or k - 1, of which the last one follows.

    >>> import sagax.numpy as snp
    >>> from sagax.scipy.stats import dirichlet
    >>> dirichlet.logpdf(snp.array([0.25, 0.75]), snp.array([2.0, 3.0]))
    Array(0.5232482, dtype=float32)
    """
    x, alpha = _components(x, alpha)
    ok = snp.all(x >= 0, 0) & (snp.abs(snp.sum(x, 0) - 1) < 1e-4)
    constant = gammaln(snp.sum(alpha, 0)) - snp.sum(gammaln(alpha), 0)
    return inside(ok, constant + snp.sum(xlogy(alpha - 1, snp.maximum(x, 0)), 0))


@distribution
def pdf(x: Any, alpha: Any) -> Array:
    """The density at `x`.

    `alpha` holds k positive numbers; `x` k probabilities along its first axis, or k - 1, of which the last one follows.

    >>> import sagax.numpy as snp
    >>> from sagax.scipy.stats import dirichlet
    >>> dirichlet.pdf(snp.array([0.25, 0.75]), snp.array([2.0, 3.0]))
    Array(1.6875001, dtype=float32)
    """
    return snp.exp(logpdf.of(x, alpha))
