"""Classify and promote dtypes; define those that NumPy does not have.

Standard names (`bfloat16`, `float0`, `prng_key`, `result_type`, ...) as in `jax.dtypes`.
"""

from __future__ import annotations

from typing import Any

from ml_dtypes import bfloat16

from sagax._src import config
from sagax._src.core import dtypes as _dtypes
from sagax._src.core.dtypes import (
    DtypeTruncationWarning,
    ExtendedDType,
    IntegerOverflow,
    extended,
    finfo,
    float0,
    iinfo,
    issubdtype,
    itemsize_bits,
    prng_key,
    result_type,
    scalar_type_of,
)
from sagax._src.diagnostics.errors import ArgumentValueError, TypePromotionError

__all__ = [
    "DtypeTruncationWarning",
    "ExtendedDType",
    "IntegerOverflow",
    "TypePromotionError",
    "bfloat16",
    "canonicalize_dtype",
    "extended",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "prng_key",
    "result_type",
    "scalar_type_of",
]


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> Any:
    """Return the dtype that arrays have where `dtype` is requested: with x64 off, 32 bits for 64.

    None stands for the default floating dtype. Raises DtypeError if `dtype` is no dtype, and
    ArgumentValueError if it is an extended one, unless those are allowed.

    >>> canonicalize_dtype(float)
    dtype('float32')
    """
    if dtype is None:
        return _dtypes.default_float(config.current().x64)
    if not allow_extended_dtype and (
        _dtypes.is_extended(dtype) or (isinstance(dtype, type) and issubclass(dtype, extended))
    ):
        raise ArgumentValueError(
            function="canonicalize_dtype",
            argument="dtype",
            expected="a dtype of numbers",
            got=dtype,
            fix="pass allow_extended_dtype=True to let extended dtypes through as they are",
        )
    return _dtypes.canonicalize(dtype, config.current().x64)
