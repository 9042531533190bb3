"""Resize, scale and translate images."""

from collections.abc import Sequence
from typing import Any

from sagax._shapes import ResizeMethodName
from sagax._src.core.value import Array
from sagax.image._resize import ResizeMethod as ResizeMethod
from sagax.typing import ArrayLike

def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: ResizeMethodName | ResizeMethod,
    antialias: bool = True,
    precision: Any = "highest",
) -> Array: ...
def scale_and_translate(
    image: ArrayLike,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: Any,
    method: ResizeMethodName | ResizeMethod,
    antialias: bool = True,
    precision: Any = "highest",
) -> Array: ...
