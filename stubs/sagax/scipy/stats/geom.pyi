"""Evaluate the geometric distribution, of trials until the first success."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array: ...
def pmf(k: ArrayLike, p: ArrayLike, loc: ArrayLike = 0) -> Array: ...
