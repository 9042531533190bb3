"""Share memory with other array libraries through DLPack."""

from __future__ import annotations

from typing import Any

import sagax.numpy._interchange as _interchange
from sagax._src.core import dtypes
from sagax._src.core.value import Array

# the numbers that DLPack has codes for and that arrays here can be shared as
_SHARED = frozenset(
    dtypes.as_dtype(name)
    for name in (
        "bool",
        *[f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)],
        *("bfloat16", "float16", "float32", "float64", "complex64", "complex128"),
    )
)


def from_dlpack(external_array: Any, device: Any = None, copy: bool | None = None) -> Array:
    """Import an array of another library that supports DLPack, sharing its memory if possible.

    Args:
      external_array: what has the methods `__dlpack__` and `__dlpack_device__`, in the memory of
        the CPU or of a CUDA device.
      device: where the result shall lie; by default where the array lies. Elsewhere it is copied.
      copy: True copies in any case. While memory is shared, the other library must not write to it.

    With x64 off, 64-bit numbers become 32-bit ones, which copies too.

    Raises:
      ArgumentError: the argument does not support DLPack, or lies in memory of another kind.

    >>> import numpy as np
    >>> dlpack.from_dlpack(np.arange(3, dtype="int32"))
    Array([0, 1, 2], dtype=int32)
    """
    return _interchange.from_dlpack(external_array, device=device, copy=copy)


def is_supported_dtype(dtype: Any) -> bool:
    """Check if arrays of this dtype can be shared through DLPack.

    Raises DtypeError for what is no dtype.

    >>> dlpack.is_supported_dtype("float32"), dlpack.is_supported_dtype("int4")
    (True, False)
    """
    return dtypes.as_dtype(dtype) in _SHARED
