"""Integrate sampled functions."""

from typing import Any

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: Any = 1.0, axis: int = -1) -> Array: ...
