"""Evaluate the multivariate normal distribution."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.numpy._base import promotes_freely
from sagax.scipy.linalg import solve_triangular
from sagax.scipy.stats._distribution import promoting

__all__ = ["logpdf", "pdf"]


@promoting
@promotes_freely  # a mean and a matrix belong to batches of points
def logpdf(x: Any, mean: Any, cov: Any) -> Array:
    """Compute the logarithm of the probability density at `x`.

    `mean` is a scalar or as long as the last axis of `x`; `cov` is a matrix of that size, or a variance.

    >>> multivariate_normal.logpdf(snp.zeros(2), snp.zeros(2), snp.eye(2))
    Array(-1.837877, dtype=float32)
    """
    if not mean.shape and not cov.shape:  # scalars, element by element
        return -0.5 * ((x - mean) ** 2 / cov + snp.log(2 * snp.pi * cov))
    n = (mean.shape or x.shape or (1,))[-1]
    if not cov.shape:
        cov = cov * snp.eye(n, dtype=cov.dtype)
    factor = snp.linalg.cholesky(cov)
    z = snp.vectorize(lambda f, d: solve_triangular(f, d, lower=True), signature="(n,n),(n)->(n)")(
        factor, snp.broadcast_to(x - mean, snp.broadcast_shapes((x - mean).shape, (n,)))
    )
    logdet = snp.log(snp.diagonal(factor, axis1=-1, axis2=-2)).sum(-1)
    return -0.5 * (snp.sum(z * z, -1) + n * snp.log(2 * snp.pi)) - logdet


@promoting
@promotes_freely
def pdf(x: Any, mean: Any, cov: Any) -> Array:
    """Compute the probability density at `x`.

    `mean` is a scalar or as long as the last axis of `x`; `cov` is a matrix of that size, or a variance.

    >>> multivariate_normal.pdf(snp.zeros(2), snp.zeros(2), snp.eye(2))
    Array(0.15915495, dtype=float32)
    """
    return snp.exp(logpdf(x, mean, cov))
