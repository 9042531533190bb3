"""Quantize vectors: assign each to its nearest centroid."""

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]: ...
