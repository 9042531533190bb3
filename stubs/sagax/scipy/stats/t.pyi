"""Evaluate Student's t distribution."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array: ...
def pdf(x: ArrayLike, df: ArrayLike, loc: ArrayLike = 0, scale: ArrayLike = 1) -> Array: ...
