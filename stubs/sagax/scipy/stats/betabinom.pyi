"""Evaluate the beta-binomial distribution."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array: ...
def pmf(k: ArrayLike, n: ArrayLike, a: ArrayLike, b: ArrayLike, loc: ArrayLike = 0) -> Array: ...
