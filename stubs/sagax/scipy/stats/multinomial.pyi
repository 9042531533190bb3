"""Evaluate the multinomial distribution."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array: ...
def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array: ...
