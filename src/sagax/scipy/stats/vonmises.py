"""The von Mises distribution, of angles."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import i0e
from sagax.scipy.stats._common import distribution

__all__ = ["logpdf", "pdf"]


@distribution
def logpdf(x: Any, kappa: Any) -> Array:
    """The logarithm of the density at `x`.

    `kappa` is the concentration around 0; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import vonmises
    >>> vonmises.logpdf(1.0, 2.0)
    Array(-1.5812662, dtype=float32, weak_type=True)
    """
    return kappa * (snp.cos(x) - 1) - snp.log(2 * snp.pi * i0e(kappa))


@distribution
def pdf(x: Any, kappa: Any) -> Array:
    """The density at `x`.

    `kappa` is the concentration around 0; arguments broadcast, and give a floating point result.

    >>> from sagax.scipy.stats import vonmises
    >>> vonmises.pdf(1.0, 2.0)
    Array(0.20571446, dtype=float32, weak_type=True)
    """
    return snp.exp(logpdf.of(x, kappa))
