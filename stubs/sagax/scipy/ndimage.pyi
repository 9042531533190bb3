"""Interpolate in arrays of any number of dimensions, as `scipy.ndimage` does."""

from collections.abc import Sequence

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def map_coordinates(
    input: ArrayLike,
    coordinates: Array | Sequence[ArrayLike],
    order: int,
    mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array: ...
