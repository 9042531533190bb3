"""Compute discrete cosine transforms and their inverses."""

from collections.abc import Sequence
from typing import Literal

from sagax._src.core.value import Array
from sagax.typing import ArrayLike

def dct(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def idct(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: Literal["backward", "ortho", "forward"] | None = None,
) -> Array: ...
