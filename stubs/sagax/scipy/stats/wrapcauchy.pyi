"""Evaluate the wrapped Cauchy distribution, of angles."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpdf(x: ArrayLike, c: ArrayLike) -> Array: ...
def pdf(x: ArrayLike, c: ArrayLike) -> Array: ...
