"""Define types for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from sagax._src.core.value import Array

ArrayLike: TypeAlias = Array | np.ndarray | np.bool_ | np.number | bool | int | float | complex
"""What functions of arrays take: arrays of sagax and of NumPy, and numbers."""

DTypeLike: TypeAlias = str | type[Any] | np.dtype
"""What a dtype may be given as. None, which NumPy takes for float64, is not among them."""

__all__ = ["ArrayLike", "DTypeLike"]
