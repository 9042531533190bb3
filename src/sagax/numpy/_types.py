"""Define scalar types and constants, and query dtypes.

A scalar type such as `float32` names a dtype wherever a dtype is expected, and creates arrays when called.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from sagax._src.core import dtypes
from sagax._src.core.dtypes import (
    can_cast,
    finfo,
    iinfo,
    isdtype,
    issubdtype,
    promote_types,
    result_type,
)
from sagax._src.core.value import Array
from sagax.numpy._conversion import asarray


class _ScalarType(type):
    """The class of scalar types: equal to its dtype and to NumPy's scalar type, whose hash it has, called to make arrays."""

    dtype: np.dtype

    def __call__(cls, x: Any = 0, /) -> Array:  # type: ignore[override]
        return asarray(x, dtype=cls.dtype)

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> Any:
        # Not `cls.dtype == other`: NumPy makes a dtype of `other` first, and float64 of None.
        same = cls is other or cls.dtype.type is other
        return same or (isinstance(other, np.dtype) and cls.dtype == other)

    def __ne__(cls, other: object) -> Any:
        return not cls == other

    def __instancecheck__(cls, x: Any) -> Any:
        return isinstance(x, cls.dtype.type)

    def __reduce__(cls) -> str:
        return cls.__name__


def _scalar_type(name: str) -> Any:
    dtype = np.dtype(getattr(ml_dtypes, name, None) or getattr(np, name, None) or name)
    text = f"The dtype {name}: names it, and called with a value makes an array of it."
    body = {"dtype": dtype, "__doc__": text, "__module__": "sagax.numpy"}
    return _ScalarType(name, (), body)


bool = bool_ = _scalar_type("bool")
int2, int4, int8, int16, int32, int64 = map(
    _scalar_type, ("int2", "int4", "int8", "int16", "int32", "int64")
)
uint2, uint4, uint8, uint16, uint32, uint64 = map(
    _scalar_type, ("uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
)
bfloat16, float16, float32, float64 = map(
    _scalar_type, ("bfloat16", "float16", "float32", "float64")
)
complex64, complex128 = map(_scalar_type, ("complex64", "complex128"))
float4_e2m1fn = _scalar_type("float4_e2m1fn")
float8_e3m4 = _scalar_type("float8_e3m4")
float8_e4m3 = _scalar_type("float8_e4m3")
float8_e4m3b11fnuz = _scalar_type("float8_e4m3b11fnuz")
float8_e4m3fn = _scalar_type("float8_e4m3fn")
float8_e4m3fnuz = _scalar_type("float8_e4m3fnuz")
float8_e5m2 = _scalar_type("float8_e5m2")
float8_e5m2fnuz = _scalar_type("float8_e5m2fnuz")
float8_e8m0fnu = _scalar_type("float8_e8m0fnu")
single, double, csingle, cdouble = float32, float64, complex64, complex128
int_, uint, float_, complex_ = int64, uint64, float64, complex128

# NumPy's classes of scalar types, for issubdtype
generic, number, integer, signedinteger, unsignedinteger = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger,
)  # fmt: skip
inexact, floating, complexfloating, flexible, character, object_ = (
    np.inexact, np.floating, np.complexfloating, np.flexible, np.character, np.object_,
)  # fmt: skip
dtype = np.dtype
ndarray = Array
ComplexWarning = np.exceptions.ComplexWarning

pi: float = np.pi
e: float = np.e
euler_gamma: float = np.euler_gamma
inf: float = np.inf
nan: float = np.nan
newaxis = None


def iscomplexobj(x: Any) -> Any:
    """Return whether the dtype of `x`, an array or a number or nested lists of them, is complex.

    >>> snp.iscomplexobj(snp.array([1 + 0j]))
    True
    """
    if x is None:
        return False
    given = getattr(x, "dtype", None)
    if given is None:
        given = asarray(x).dtype
    return dtypes.is_complex(given)


def isrealobj(x: Any) -> Any:
    """Return whether the dtype of `x`, an array or a number or nested lists of them, is not complex.

    >>> snp.isrealobj(snp.array([1 + 0j]))
    False
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> Any:
    """Return whether `element` is a number, a string or an array of shape ().

    >>> snp.isscalar(snp.float32(3)), snp.isscalar(snp.ones(1))
    (True, False)
    """
    if isinstance(element, (Array, np.ndarray)):
        return element.ndim == 0
    if hasattr(element, "__jax_array__"):
        return isscalar(element.__jax_array__())
    return np.isscalar(element)


def iterable(y: Any) -> Any:
    """Return whether one can iterate over `y`.

    >>> snp.iterable(snp.ones(2)), snp.iterable(3)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True
