"""Evaluate the negative binomial distribution, of failures before the `n`th success."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array: ...
def pmf(k: ArrayLike, n: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array: ...
