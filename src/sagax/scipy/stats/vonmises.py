"""Evaluate the von Mises distribution, of angles."""

from __future__ import annotations

from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import Array
from sagax.scipy.special import i0e
from sagax.scipy.stats._distribution import Distribution, exp_of

__all__ = ["logpdf", "pdf"]

_vonmises = Distribution(
    "vonmises",
    "The density is exp(kappa cos(x)) / (2 pi i0(kappa)).",
    "`kappa` is the concentration around 0.",
    lambda kappa: kappa >= 0,
)


@_vonmises.function("1.0, 2.0", "-1.5812662", weak="arrays")
def logpdf(x: Any, kappa: Any) -> Array:
    # i0e is i0(kappa) exp(-|kappa|), whose derivative counts as 0 at 0: what kappa - |kappa| adds there is 1
    bend = snp.where(kappa == 0, kappa, 0.0)
    kappa = snp.where(kappa < 0, 0.0, kappa)  # no density, and no derivative
    return kappa * (snp.cos(x) - 1) + bend - snp.log(2 * snp.pi * i0e(kappa))


pdf = _vonmises.function("1.0, 2.0", "0.20571446", weak="arrays")(exp_of(logpdf))
