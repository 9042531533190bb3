"""Name types of shapes and options, for stubs alone."""

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from sagax._src.core.value import Array

Shape: TypeAlias = SupportsIndex | tuple[Any, ...] | list[Any] | np.ndarray | Array
ResizeMethodName: TypeAlias = Literal[
    "nearest",
    "linear",
    "bilinear",
    "trilinear",
    "triangle",
    "cubic",
    "bicubic",
    "tricubic",
    "lanczos3",
    "lanczos5",
]
