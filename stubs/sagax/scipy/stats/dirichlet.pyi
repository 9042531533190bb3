"""Evaluate the Dirichlet distribution."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array: ...
def pdf(x: ArrayLike, alpha: ArrayLike) -> Array: ...
