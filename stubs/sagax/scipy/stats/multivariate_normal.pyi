"""Evaluate the multivariate normal distribution."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array: ...
def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array: ...
