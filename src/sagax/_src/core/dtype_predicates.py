"""Define dtype predicates, and look up related dtypes and their bounds."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from sagax._src.core import dtypes
from sagax._src.core.dtypes import convert_data as convert_data
from sagax._src.core.dtypes import convert_numpy as convert_numpy
from sagax._src.core.dtypes import is_complex as is_complex
from sagax._src.core.dtypes import is_narrow_float as is_narrow_float
from sagax._src.core.dtypes import real_part_dtype as real_part_dtype


def is_floating(dtype: Any) -> bool:
    return dtypes.kind(dtype) == "f"


def is_integer(dtype: Any) -> bool:
    return dtypes.kind(dtype) in "iu"


def is_signed(dtype: Any) -> bool:
    return dtypes.kind(dtype) == "i"


def is_unsigned(dtype: Any) -> bool:
    return dtypes.kind(dtype) == "u"


def complex_of(dtype: Any) -> Any:
    """Return the complex dtype whose parts have the floating dtype `dtype`."""
    return dtypes.complex128 if dtype == dtypes.float64 else dtypes.complex64


def requested(dtype: Any, function: str) -> Any:
    """Resolve a dtype argument; 64-bit dtypes narrow, with a warning, unless x64 is on."""
    return dtypes.requested_dtype(dtype, function)


def bounds(dtype: Any) -> tuple[Any, Any]:
    """Return the least and greatest value (maybe infinite) of a real dtype, as scalars of it."""
    kind = dtypes.kind(dtype)
    if kind == "b":
        return np.bool_(False), np.bool_(True)
    if kind in "iu":
        info = ml_dtypes.iinfo(dtype) if dtype.type.__module__ == "ml_dtypes" else np.iinfo(dtype)
        return np.asarray(info.min, dtype)[()], np.asarray(info.max, dtype)[()]
    inf = np.asarray(np.inf, dtype)
    if np.isinf(inf.astype(np.float64)):
        return (-inf)[()], inf[()]
    info = ml_dtypes.finfo(dtype)  # types without infinities
    return np.asarray(info.min, dtype)[()], np.asarray(info.max, dtype)[()]
