"""Define the dtypes of arrays and their promotion.

A dtype is a NumPy dtype (ml_dtypes supplies the narrow ones), or an `ExtendedDType`, whose elements
consist of several numbers, such as PRNG keys. `as_dtype` returns one canonical object for each.

Functions that depend on settings take `x64` or `mode` as an argument. Only the functions in the
last section, which implement public functions, read the settings themselves.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import sys
import warnings
from collections.abc import Iterable
from typing import Any, Final

import ml_dtypes
import numpy as np

from sagax._src import config
from sagax._src.diagnostics import errors, spans
from sagax._src.diagnostics.wording import bilingual
from sagax._src.frozen_class import record

# --- the types ---------------------------------------------------------------------------------

# Category -> names. bfloat16 comes first since all dtypes of ml_dtypes have the same hash:
# the first in a dict is found without a second comparison. An older ml_dtypes lacks the 1-bit integers.
_NAMES: Final = {
    "f": "bfloat16 float4_e2m1fn float6_e2m3fn float6_e3m2fn"
    " float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz"
    " float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"
    " float16 float32 float64",
    "i": "int1 int2 int4 int8 int16 int32 int64",
    "u": "uint1 uint2 uint4 uint8 uint16 uint32 uint64",
    "c": "complex64 complex128",
    "b": "bool",
}


def _find(name: str) -> np.dtype | None:
    scalar = getattr(ml_dtypes, name, None) or getattr(np, name, None)
    return None if scalar is None else np.dtype(scalar)


_KINDS: Final[dict[Any, str]] = {
    dtype: kind
    for kind, names in _NAMES.items()
    for dtype in map(_find, names.split())
    if dtype is not None
}

bool_: Final = np.dtype("bool")
int32: Final = np.dtype("int32")
int64: Final = np.dtype("int64")
uint32: Final = np.dtype("uint32")
uint64: Final = np.dtype("uint64")
bfloat16: Final = np.dtype(ml_dtypes.bfloat16)
float32: Final = np.dtype("float32")
float64: Final = np.dtype("float64")
complex64: Final = np.dtype("complex64")
complex128: Final = np.dtype("complex128")

# The dtype of tangents of integers, which take no memory.
float0: Final = np.dtype([("float0", np.void, 0)])

_NARROW: Final[dict[Any, np.dtype]] = {
    int64: int32,
    uint64: uint32,
    float64: float32,
    complex128: complex64,
}

# The dtypes of Python's number types; `canonicalize` narrows them unless x64 is on.
_PYTHON: Final[dict[type, np.dtype]] = {
    bool: bool_,
    int: int64,
    float: float64,
    complex: complex128,
}
_PYTHON_OF_KIND: Final[dict[str, type]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}


class extended(np.generic):
    """Base class of the scalar types of extended dtypes, for `issubdtype`."""


class prng_key(extended):
    """The scalar type of all dtypes of PRNG keys, for `issubdtype`."""


@record
class ExtendedDType:
    """Define a dtype whose elements are small arrays of numbers, but behave as scalars.

    `type` is its scalar type (a subclass of `extended`), `name` its printed form in jaxprs. An element
    is stored as an array of `physical_shape` and `physical_dtype`. Equal by value; subclasses add
    fields, as dataclasses do.
    """

    name: str
    type: type
    physical_shape: tuple[int, ...]
    physical_dtype: np.dtype

    @property
    def kind(self) -> str:
        return "x"  # no NumPy dtype has this character

    @property
    def itemsize(self) -> int:
        """The number of bytes of one element."""
        return int(np.prod(self.physical_shape, dtype=int)) * self.physical_dtype.itemsize

    def __hash__(self) -> int:  # part of the keys of hot caches; a str caches its hash
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


DType = np.dtype | ExtendedDType

_ABSTRACT: Final = (
    np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger, np.inexact,
    np.floating, np.complexfloating, np.flexible, np.character, np.void,
)  # fmt: skip


def _is_abstract(x: Any) -> bool:
    return isinstance(x, type) and (x in _ABSTRACT or issubclass(x, extended))


# --- resolve dtype arguments -------------------------------------------------------------------

_KNOWN: Final[dict[Any, DType]] = {
    **{dtype: dtype for dtype in _KINDS},
    **{dtype.type: dtype for dtype in _KINDS},
    **{dtype.name: dtype for dtype in _KINDS},
    **_PYTHON,
    float0: float0,
}


def as_dtype(x: Any) -> Any:
    """Convert a dtype, scalar type, name, Python number type, or array to its canonical dtype.

    Python's int, float and complex mean 64-bit types here; `canonicalize` narrows them with x64
    off. Raises DtypeError if `x` denotes no dtype, or one without numbers.
    """
    try:
        return _KNOWN[x]
    except (KeyError, TypeError):  # TypeError: unhashable, as arrays are
        return _parsed(x)


def _parsed(x: Any) -> DType:
    given: Any = getattr(x, "dtype", x)
    if not isinstance(given, (np.dtype, ExtendedDType)):
        given = x  # `dtype` of NumPy's scalar types is a descriptor, not a dtype
    if isinstance(given, ExtendedDType):
        return given
    if not isinstance(given, (str, type, np.dtype)) or _is_abstract(given):
        raise _not_a_dtype(x)
    try:
        dtype: Any = np.dtype(given)
    except TypeError:
        raise _not_a_dtype(x) from None
    known = _KNOWN.get(dtype if dtype.isnative else dtype.newbyteorder("="))
    if known is None:
        raise errors.DtypeError(
            f"the elements of dtype {dtype} are not numbers of a kind that arrays can hold",
            fix="use bool, or int, uint, float or complex of some width, such as float32",
            dtype=dtype,
        )
    return known


def _not_a_dtype(x: Any) -> errors.DtypeError:
    return errors.DtypeError(
        f"{x!r}, of type {type(x).__name__}, does not name a dtype",
        fix="give a dtype such as 'float32', numpy.float32 or float",
    )


def canonicalize(dtype: Any, x64: bool) -> Any:
    """Narrow 64-bit dtypes to 32 bits if x64 is off.

    With x64 "explicit" or "allowed" only Python's int, float and complex, which specify no width, become 32-bit.
    """
    wide = as_dtype(dtype)
    if x64 or (x64 is not False and not _is_weak_type(dtype)):
        return wide
    return _NARROW.get(wide, wide)


def canonicalize_given(dtype: Any, x64: Any) -> Any:
    """Narrow the dtype of a NumPy array if x64 is off, or "allowed"."""
    return canonicalize(dtype, False if x64 is config.ALLOWED else x64)


def default_int(x64: bool) -> np.dtype:
    """Return the dtype of Python ints."""
    return int64 if x64 else int32


def default_float(x64: bool) -> np.dtype:
    """Return the dtype of Python floats."""
    return float64 if x64 else float32


def default_complex(x64: bool) -> np.dtype:
    """Return the dtype of Python complex numbers."""
    return complex128 if x64 else complex64


# --- dtype predicates and properties -----------------------------------------------------------


def kind(dtype: Any) -> str:
    """Return 'b', 'i', 'u', 'f' or 'c' for numbers of any width; 'V' for float0, 'x' for extended."""
    return _KINDS.get(dtype) or dtype.kind


def is_numeric_dtype(dtype: Any) -> bool:
    """Return whether arrays can hold this dtype of numbers (bool included)."""
    return dtype in _KINDS


def is_inexact(dtype: Any) -> bool:
    """Return whether the dtype is floating or complex, so that its values have derivatives."""
    return kind(dtype) in "fc"


def is_complex(dtype: Any) -> bool:
    return kind(dtype) == "c"


def is_narrow_float(dtype: Any) -> bool:
    """Return whether it is a floating dtype of fewer than 32 bits."""
    return kind(dtype) == "f" and dtype.itemsize < 4


def is_extended(dtype: Any) -> bool:
    return isinstance(dtype, ExtendedDType)


def itemsize(dtype: Any) -> int:
    """Return the bytes of one element on the host, where narrow types take a whole byte."""
    return dtype.itemsize


@functools.cache
def itemsize_bits(dtype: Any) -> int:
    """Return the bits of one element: 4 for int4. Raises DtypeError for dtypes without numbers."""
    dtype = as_dtype(dtype)
    match kind(dtype):
        case "i" | "u":
            return iinfo(dtype).bits
        case "f":
            return finfo(dtype).bits
        case "b" | "c":
            return 8 * dtype.itemsize
        case _:
            raise errors.DtypeError(f"the elements of dtype {name(dtype)} are not numbers")


def name(dtype: Any) -> str:
    """Return the full name: 'float32', 'bfloat16', 'key<fry>', 'float0'."""
    return "float0" if dtype == float0 else dtype.name


_LETTERS: Final = {"bfloat": "bf", "float": "f", "uint": "u", "int": "i", "complex": "c"}


@functools.cache
def short_name(dtype: Any) -> str:
    """Return the name in jaxprs: 'f32', 'bf16', 'i4', 'f8_e4m3fn', 'bool', 'key<fry>'."""
    full = name(dtype)
    if dtype in _KINDS:
        for word, letter in _LETTERS.items():
            if full.startswith(word):
                return letter + full.removeprefix(word)
    return full


def tangent_dtype(dtype: Any) -> Any:
    """Return the dtype of the tangents of such values: the same if inexact, else float0."""
    return dtype if kind(dtype) in "fc" else float0


def real_part_dtype(dtype: Any) -> Any:
    """Return the dtype of the real part: float32 for complex64; a real dtype is its own."""
    if kind(dtype) != "c":
        return dtype
    return float64 if dtype == complex128 else float32


def to_numeric(dtype: Any) -> Any:
    """Return the dtype in which such values are summed: int32 for bool, else the same."""
    return int32 if dtype == bool_ else dtype


def to_inexact(dtype: Any) -> Any:
    """Return the floating dtype for integers, 64 bits wide for 64; inexact dtypes are unchanged."""
    if kind(dtype) in "fc":
        return dtype
    return float64 if dtype.itemsize == 8 else float32


def to_complex(dtype: Any) -> Any:
    """Return the complex dtype for values of a dtype, with 64-bit parts for 64-bit types."""
    if kind(dtype) == "c":
        return dtype
    return complex128 if dtype.itemsize == 8 else complex64


def is_python_scalar(x: Any) -> bool:
    """Return whether it is a Python bool, int, float or complex (not a NumPy subclass)."""
    return type(x) in _PYTHON


def dtype_and_weak(x: Any, x64: bool) -> tuple[Any, bool]:
    """Return the dtype of a value, and whether it is weak as that of Python numbers is.

    Raises ArgumentError if the value is neither an array nor a number.
    """
    aval = getattr(x, "aval", None)
    if aval is not None:
        return aval.dtype, aval.weak_type
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, (np.dtype, ExtendedDType)):
        narrowed = canonicalize_given if isinstance(x, (np.ndarray, np.generic)) else canonicalize
        return narrowed(dtype, x64), bool(getattr(x, "weak_type", False))
    for python in _PYTHON:  # isinstance accepts IntEnum and the like; bool comes before int
        if isinstance(x, python):
            return canonicalize(python, x64), python is not bool
    raise errors.ArgumentError(got=x, expected="an array or a number")


# --- promotion ---------------------------------------------------------------------------------
# The promoted dtype is the least upper bound in a partial order. The weak types of Python numbers
# are nodes of their own, low in the order, so that they yield to array types. Narrow types are dead
# ends: they promote with Python numbers only, to avoid accidental widening.

_INT, _FLOAT, _COMPLEX = "int*", "float*", "complex*"
_WEAK: Final = {"i": _INT, "u": _INT, "f": _FLOAT, "c": _COMPLEX}  # kind -> node
_DEFAULTS: Final = {_INT: default_int, _FLOAT: default_float, _COMPLEX: default_complex}
_Node = np.dtype | str

_STANDARD: Final = {  # node -> the nodes directly above it
    "bool": _INT,
    _INT: "uint1 uint2 uint4 uint8 int1 int2 int4 int8",
    "uint8": "uint16 int16",
    "uint16": "uint32 int32",
    "uint32": "uint64 int64",
    "int8": "int16",
    "int16": "int32",
    "int32": "int64",
    "uint64": _FLOAT,
    "int64": _FLOAT,
    _FLOAT: f"{_COMPLEX} {_NAMES['f'].removesuffix(' float32 float64')}",
    "bfloat16": "float32",
    "float16": "float32",
    "float32": "float64 complex64",
    "float64": "complex128",
    _COMPLEX: "complex64",
    "complex64": "complex128",
}
_STRICT: Final = {  # only Python numbers are converted, and only upwards
    _INT: f"{_FLOAT} {_NAMES['i']} {_NAMES['u']}",
    _FLOAT: f"{_COMPLEX} {_NAMES['f']}",
    _COMPLEX: _NAMES["c"],
}


@functools.cache
def _upper_bounds(mode: str) -> dict[Any, frozenset[Any]]:
    """Map each node to itself and all nodes above it."""
    above = _STANDARD if mode == "standard" else _STRICT
    nodes: dict[str, _Node | None] = {name: name for name in _DEFAULTS}
    nodes |= {name: _find(name) for names in _NAMES.values() for name in names.split()}

    @functools.cache
    def closure(name: str) -> frozenset[str]:
        return frozenset({name}).union(*map(closure, above.get(name, "").split()))

    return {
        node: frozenset(up for n in closure(name) if (up := nodes[n]) is not None)
        for name, node in nodes.items()
        if node is not None
    }


@functools.cache
def _join(nodes: frozenset[Any], mode: str) -> _Node | None:
    """Return the least upper bound; None if there is none."""
    bounds = _upper_bounds(mode)
    common: frozenset[Any] = frozenset[Any].intersection(*(bounds[node] for node in nodes))
    return next((node for node in common if common <= bounds[node]), None)


@functools.lru_cache(maxsize=8192)
def promote(
    operands: tuple[tuple[Any, bool], ...], x64: bool, mode: str = "standard"
) -> tuple[Any, bool]:
    """Return the common (dtype, weak) of operands of these (dtype, weak).

    `mode` is the option numpy_dtype_promotion. Raises TypePromotionError if they have no common
    dtype, or if `mode` is "strict" and an operand other than a Python number would be converted.
    """
    dtypes = {dtype for dtype, _ in operands}
    weak = all(weak for _, weak in operands)
    keep_widths = (weak and mode == "standard") or len(operands) == 1
    if len(dtypes) == 1 and float0 not in dtypes and (keep_widths or not weak):
        (dtype,) = dtypes
        return dtype, weak and dtype != bool_
    if not dtypes <= _KINDS.keys():
        raise errors.TypePromotionError(no_numbers(operands), operands=operands)
    if keep_widths:
        node = _join(frozenset(dtypes), mode)
    else:
        node = _join(frozenset(_WEAK.get(_KINDS[d], d) if w else d for d, w in operands), mode)
        weak = node in _DEFAULTS
    if node is None:
        raise _no_common(operands, x64, mode)
    if isinstance(node, str):
        return _DEFAULTS[node](x64), True
    # With x64 off, 64-bit operands were requested explicitly; the join made this one 64 bits.
    widened = not x64 and _NARROW.keys().isdisjoint(dtypes)
    return _NARROW.get(node, node) if widened else node, weak


def _shown(operands: Iterable[tuple[Any, bool]]) -> str:
    words = [
        f"a Python {_PYTHON_OF_KIND[kind(dtype)].__name__}" if weak else name(dtype)
        for dtype, weak in operands
    ]
    return " and ".join(dict.fromkeys(words))


def no_numbers(operands: tuple[tuple[Any, bool], ...]) -> str:
    """Say which of the (dtype, weak) has elements that are not numbers."""
    dtype = next(dtype for dtype, _ in operands if dtype not in _KINDS)
    why = f"the elements of {name(dtype)} are not numbers"
    if dtype == float0:
        why = "float0 is the dtype of derivatives of integers, and holds no numbers"
    return f"{_shown(operands)}: no common dtype, since {why}"


def _no_common(
    operands: tuple[tuple[Any, bool], ...], x64: bool, mode: str
) -> errors.TypePromotionError:
    target = max((dtype for dtype, _ in operands), key=itemsize_bits)
    also = ""
    if mode == "strict":
        why = "are not combined implicitly, since numpy_dtype_promotion is 'strict'"
        with contextlib.suppress(errors.TypePromotionError):
            target, _ = promote(operands, x64)
        also = ", or sagax.config.update('numpy_dtype_promotion', 'standard')"
    else:
        why = (
            "have no common dtype: floats of 8 bits and fewer, and integers of fewer than 8,"
            " are converted only explicitly"
        )
    return errors.TypePromotionError(
        f"{_shown(operands)} {why}",
        fix=f"convert first, for example x.astype({name(target)!r}){also}",
        operands=operands,
    )


# --- type hierarchy ----------------------------------------------------------------------------

_CATEGORY: Final = {
    "b": np.bool_,
    "i": np.signedinteger,
    "u": np.unsignedinteger,
    "f": np.floating,
    "c": np.complexfloating,
    "V": np.void,
}


def issubdtype(a: Any, b: Any) -> bool:
    """Return whether the dtype or type `a` is `b` or a subtype of it.

    Narrow types belong to NumPy's categories: bfloat16 is a floating, int4 a signedinteger.

    >>> issubdtype("bfloat16", np.floating)
    True
    """
    # None names NumPy's default dtype, as for NumPy
    a, b = (x if isinstance(x, type) else _any_dtype(float64 if x is None else x) for x in (a, b))
    return _issubdtype(a, b)


def _any_dtype(x: Any) -> Any:
    """Resolve a dtype as `as_dtype` does, but accept text, dates and structured dtypes too."""
    try:
        return as_dtype(x)
    except errors.DtypeError:
        given: Any = getattr(x, "dtype", x)
        if isinstance(given, (np.dtype, str, type)):
            with contextlib.suppress(TypeError):
                return np.dtype(given)
        raise


@functools.lru_cache(maxsize=1024)
def _issubdtype(a: Any, b: Any) -> bool:
    if not _is_abstract(a):
        a = _any_dtype(a)
    if not _is_abstract(b):
        return a == _any_dtype(b)
    if not isinstance(a, type):
        a = _CATEGORY[_KINDS[a]] if a in _KINDS else a.type
    return issubclass(a, b)


_ISDTYPE: Final = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


def isdtype(dtype: Any, kind: Any) -> bool:
    """Return whether a dtype belongs to a kind: a dtype, an array API kind, or a tuple of them.

    Raises ArgumentValueError for an unknown kind, ArgumentError for an argument of another type.

    >>> isdtype("bfloat16", ("bool", "real floating"))
    True
    """
    dtype = as_dtype(dtype)
    kinds: tuple[Any, ...] = kind if isinstance(kind, tuple) else (kind,)
    return any([_is_of_kind(dtype, k) for k in kinds])  # noqa: C419  (so that all are checked)


def _is_of_kind(dtype: Any, category: Any) -> bool:
    if isinstance(category, str) and category in _ISDTYPE:
        return kind(dtype) in _ISDTYPE[category]
    if not _is_abstract(category):
        with contextlib.suppress(errors.DtypeError):
            return dtype == as_dtype(category)
    error = errors.ArgumentValueError if isinstance(category, str) else errors.ArgumentError
    raise error(
        function="isdtype",
        argument="kind",
        expected=f"a dtype, one of {', '.join(map(repr, _ISDTYPE))}, or a tuple of these",
        got=repr(category),
    )


_CASTINGS: Final = ("no", "equiv", "safe", "same_kind", "unsafe")


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether NumPy's casting rules allow the conversion from one dtype to another.

    >>> can_cast("int4", "int8"), can_cast("float32", "int8")
    (True, False)
    """
    if is_python_scalar(from_):
        raise errors.ArgumentError(
            function="can_cast",
            argument="from_",
            expected="a dtype or an array, since whether a Python number fits is up to its value",
            got=from_,
        )
    if casting not in _CASTINGS:
        expected = f"one of {', '.join(map(repr, _CASTINGS))}"
        raise errors.ArgumentValueError(
            function="can_cast", argument="casting", expected=expected, got=repr(casting)
        )
    from_, to = as_dtype(from_), as_dtype(to)
    if is_extended(from_) or is_extended(to):
        return from_ == to
    return np.can_cast(from_, to, casting)  # type: ignore[call-overload]


def finfo(dtype: Any) -> Any:
    """Return the limits of a floating dtype (or of complex parts): bits, eps, max, min, tiny.

    Raises ArgumentValueError for other dtypes.

    >>> finfo("bfloat16").bits
    16
    """
    dtype = real_part_dtype(as_dtype(dtype))
    if kind(dtype) != "f":
        raise _not_of("finfo", dtype, "a floating or complex dtype", "iinfo")
    limits: Any = ml_dtypes.finfo(dtype)
    return limits


def iinfo(dtype: Any) -> Any:
    """Return the limits of an integer dtype: bits, min, max.

    Raises ArgumentValueError for other dtypes.

    >>> iinfo("int4").max
    7
    """
    dtype = as_dtype(dtype)
    if kind(dtype) not in "iu":
        raise _not_of("iinfo", dtype, "an integer dtype", "finfo")
    return ml_dtypes.iinfo(dtype)


def _not_of(function: str, dtype: Any, expected: str, other: str) -> errors.ArgumentValueError:
    return errors.ArgumentValueError(
        function=function,
        argument="dtype",
        expected=expected,
        got=name(dtype),
        fix=f"use {other}" if kind(dtype) in "iufc" else None,
    )


def scalar_type_of(x: Any) -> type:
    """Return the Python type for such values (bool, int, float or complex). `x`: a value or a dtype.

    >>> scalar_type_of("bfloat16")
    <class 'float'>
    """
    if isinstance(x, tuple(_PYTHON)):
        return next(python for python in _PYTHON if isinstance(x, python))
    dtype = as_dtype(x)
    if dtype not in _KINDS:
        raise errors.DtypeError(f"the elements of dtype {name(dtype)} are not numbers")
    return _PYTHON_OF_KIND[_KINDS[dtype]]


# --- values ------------------------------------------------------------------------------------


class IntegerOverflow(errors.SagaxError, OverflowError):
    """A Python int, or an integer in an array, does not fit its target dtype."""


def check_python_int(value: int, dtype: Any, what: str = "Python int") -> None:
    """Raise IntegerOverflow (an OverflowError) if an int does not fit an integer dtype.

    Ints of 2 and 4 bits wrap around, as they do where NumPy converts to them.
    """
    if kind(dtype) not in "iu" or itemsize_bits(dtype) < 8:
        return
    low, high = _range(dtype)
    if not low <= value <= high:
        shown = f"the {what} {value}" if abs(value) < 1 << 128 else f"a {what}"
        raise IntegerOverflow(
            f"{shown} does not fit {name(dtype)}, which holds {low} to {high}",
            fix=_fitting(value, dtype),
            value=value,
            dtype=dtype,
        )


def check_integers(x: np.ndarray, dtype: Any) -> None:
    """Raise IntegerOverflow unless all elements of an integer array fit an integer dtype."""
    # NumPy converts Python ints of more than 64 bits to an object array.
    if (x.dtype == object or kind(x.dtype) in "iu") and x.size:
        for value in (np.minimum.reduce(x, None), np.maximum.reduce(x, None)):
            check_python_int(int(value), dtype, "integer")


@functools.cache
def _range(dtype: Any) -> tuple[int, int]:
    info = ml_dtypes.iinfo(dtype)
    return int(info.min), int(info.max)


def _fitting(value: int, dtype: Any) -> str:
    names = _NAMES["i"] if value < 0 or kind(dtype) == "i" else _NAMES["u"]
    for wider in names.split()[3:]:
        low, high = _range(np.dtype(wider))
        if low <= value <= high:
            switch = " (64-bit types need sagax.config.update('x64', True))" * wider.endswith("64")
            return f"use dtype {wider}{switch}, or a float"
    return "use a float: 1.0 * value"


def convert_numpy(x: Any, dtype: np.dtype) -> np.ndarray:
    """Convert a NumPy array to another numeric dtype as XLA does.

    This is NumPy's astype without undefined cases and warnings: complex numbers lose their imaginary
    part. Floats that an integer type cannot hold become its nearest value, and NaN becomes 0.
    """
    x = np.asarray(x)
    source, target = kind(x.dtype), kind(dtype)
    if source in "biu" and (target in "iu" or target == "f" and dtype.itemsize > 2):
        return _astype(x, dtype)  # never warns
    if source == "f" and target in "iu":
        return _saturated(x, dtype)
    with np.errstate(all="ignore"):
        if target == "b":
            return x.astype(bool) if source != "f" else x.astype(np.float64) != 0
        if source == "c" and target != "c":
            x = x.real
            return _saturated(x, dtype) if target in "iu" else x.astype(dtype)
        return _astype(x, dtype)


def convert_data(x: Any, dtype: np.dtype) -> np.ndarray:
    """Convert a user's NumPy array as `convert_numpy` does; warn at the user's line where floats overflow."""
    x = np.asarray(x)
    if kind(x.dtype) != kind(dtype) or kind(dtype) not in "fc":
        return convert_numpy(x, dtype)
    try:
        try:
            return _raising_overflow(_astype, x, dtype)
        except RuntimeError:  # another thread is in the context
            with np.errstate(all="ignore", over="raise"):
                return _astype(x, dtype)
    except FloatingPointError:  # NumPy itself would name a line of sagax
        if np.geterr()["over"] != "ignore":
            message = f"overflow encountered in cast from {name(x.dtype)} to {name(dtype)}"
            warnings.warn(bilingual(message), RuntimeWarning, stacklevel=users_level())
    return convert_numpy(x, dtype)


# Much cheaper than `np.errstate`.
_raising_overflow = contextvars.Context().run
_raising_overflow(np.seterr, all="ignore", over="raise")


def _astype(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    try:
        return x.astype(dtype)
    except TypeError:  # NumPy lacks casts between some pairs of narrow types
        integers = kind(x.dtype) in "iu" and kind(dtype) in "iu"
        return x.astype(np.int8 if integers else np.float32).astype(dtype)


# NumPy casts float32 to int32 and float64 to int64 with one machine instruction.
_ONE_STEP = {np.dtype(np.int32): float32, np.dtype(np.int64): float64}


def convert_quietly(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert as `convert_numpy` does, faster; requires NumPy's floating point warnings to be off."""
    if _ONE_STEP.get(dtype) is x.dtype and x.size:
        # On overflow some processors return the least integer; others saturate, as required.
        found = x.astype(dtype)
        if np.minimum.reduce(found, None) != _range(dtype)[0]:
            return found
    return convert_numpy(x, dtype)


def _saturated(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    low, high = _range(dtype)
    x = x.astype(np.float64)
    if x.size and low < np.minimum.reduce(x, None) and np.maximum.reduce(x, None) < high:
        return x.astype(dtype)
    # float(high) may be high + 1, and values between the two do not exist in float64 either.
    above, below = x >= float(high), x <= float(low)
    wide = np.zeros(x.shape, np.int64 if low else np.uint64)
    np.copyto(wide, x, casting="unsafe", where=~(above | below | np.isnan(x)))
    wide[above], wide[below] = high, low
    return wide.astype(dtype)


# --- functions that read the settings ----------------------------------------------------------


class DtypeTruncationWarning(UserWarning):
    """A 64-bit dtype was requested, and x64 is off."""


def requested_dtype(dtype: Any, function: str) -> Any:
    """Resolve the dtype that a user passed to `function`.

    With x64 off, a 64-bit type requested by name narrows to 32 bits, with a warning at the user's line
    (or as the option explicit_x64_dtypes says). Python's int, float and complex denote 32-bit types.
    Raises DtypeError, naming `function`, for invalid dtypes.
    """
    settings = config.current()
    if type(dtype).__hash__ is None and hasattr(dtype, "dtype"):
        raise errors.DtypeError(
            "Passing an array as a dtype argument is no longer supported; instead of dtype=arr use dtype=arr.dtype.",
            function=function,
            argument="dtype",
            got=dtype,
        )
    try:
        wide = as_dtype(dtype)
    except errors.DtypeError as error:
        error.attach(function=function)
        raise
    if settings.x64 or wide not in _NARROW:
        return wide
    narrow = _NARROW[wide]
    if _is_weak_type(dtype):
        return narrow
    if settings.x64 is not False:  # explicit, or allowed
        return wide
    message = f"Explicitly requested dtype {wide} in {function} is not available"
    fix = (
        "sagax.config.update('x64', True), at the start of the program, allows 64-bit types, "
        "'explicit' those that are asked for"
    )
    if settings.explicit_x64_dtypes == "error":
        raise errors.ArgumentValueError(f"{message} while x64 is off", fix=fix, dtype=wide)
    text = f"{message} and will be truncated to {narrow}, since x64 is off. {fix}; dtype={narrow} says that {narrow} is meant"
    warnings.warn(bilingual(text), DtypeTruncationWarning, stacklevel=users_level())
    return narrow


def warn_of_lost_imaginary_part(given: Any, wanted: Any, method: bool = False) -> None:
    """Warn at the user's line if a conversion from dtype `given` to `wanted` drops an imaginary part."""
    if kind(given) != "c" or kind(wanted) in "cb":
        return
    if method:
        message = (
            "Casting from complex to real dtypes will soon raise a ValueError. Please first use jnp.real"
            " or jnp.imag to take the real/imaginary component of your input."
        )
        warnings.warn(bilingual(message), DeprecationWarning, stacklevel=users_level())
    else:
        message = "Casting complex values to real discards the imaginary part"
        warnings.warn(bilingual(message), np.exceptions.ComplexWarning, stacklevel=users_level())


def users_level() -> int:
    """Return the stacklevel, relative to the caller, of the innermost frame of user code."""
    level, frame = 1, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and not spans.is_user_file(frame.f_code.co_filename):
        level, frame = level + 1, frame.f_back
    return level


def _is_weak_type(x: Any) -> bool:
    return x is int or x is float or x is complex


def promote_types(a: Any, b: Any) -> Any:
    """Return the common dtype of two dtypes; Python's int, float and complex yield to array types.

    Raises TypePromotionError if there is none.

    >>> promote_types("bfloat16", "float16"), promote_types("int8", float)
    (dtype('float32'), dtype('float64'))
    """
    settings = config.current()
    given = [float64 if x is None else x for x in (a, b)]  # NumPy's default dtype
    operands = tuple((as_dtype(x), _is_weak_type(x)) for x in given)
    dtype, _ = promote(operands, True, settings.numpy_dtype_promotion)
    widened = not settings.x64 and not any(given in _NARROW for given, _ in operands)
    return _NARROW.get(dtype, dtype) if widened else dtype


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Return the common dtype of arrays, numbers and dtypes; with the flag, (dtype, weak).

    Raises TypePromotionError if there is none.

    >>> result_type(np.zeros(3, "int8"), 2), result_type("int8", 1.5)
    (dtype('int8'), dtype('float32'))
    """
    if not args:
        raise errors.ArgumentValueError(
            function="result_type", argument="args", expected="at least one array or dtype"
        )
    settings = config.current()
    x64 = settings.x64
    operands = tuple(_operand(x, x64) for x in args)
    dtype, weak = promote(operands, x64, settings.numpy_dtype_promotion)
    if weak:
        dtype = _DEFAULTS[_WEAK[kind(dtype)]](x64)
    return (dtype, weak) if return_weak_type_flag else dtype


def dtype_of(x: Any) -> Any:
    """Return the dtype of an array or a number, or that of arrays made of a dtype.

    Raises ArgumentError if `x` is none of these.

    >>> dtype_of(1.5), dtype_of(np.zeros(3, "int8")), dtype_of("int16")
    (dtype('float32'), dtype('int8'), dtype('int16'))
    """
    if x is None:
        raise errors.ArgumentValueError(
            function="dtype", argument="x", got=x, expected="an array, a number or a dtype"
        )
    try:
        return _operand(x, config.current().x64)[0]
    except errors.ArgumentError as error:
        raise error.attach(function="dtype", argument="x") from None


def _operand(x: Any, x64: bool) -> tuple[Any, bool]:
    """Return the (dtype, weak) of a value or of a dtype."""
    if x is None:
        return default_float(x64), False  # as in NumPy
    if isinstance(x, (type, str, np.dtype, ExtendedDType)):
        return canonicalize(x, x64), _is_weak_type(x)
    try:
        return dtype_and_weak(x, x64)
    except errors.ArgumentError as error:
        error.attach(function="result_type", argument="args")
        raise
