"""Evaluate the von Mises distribution, of angles."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpdf(x: ArrayLike, kappa: ArrayLike) -> Array: ...
def pdf(x: ArrayLike, kappa: ArrayLike) -> Array: ...
