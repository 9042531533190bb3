"""Define bitwise operations on integers and booleans, which have no derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src.core import dtypes
from sagax._src.core.families import EXACT
from sagax._src.core.samples import Sample, boolean, i8, i32, u8, u32
from sagax._src.primitives.makers import (
    elementwise,
    exact_in_bytes,
    integer,
    integer_or_bool,
    operands,
)

_BITS = [
    Sample(i32(2, 3), i32(2, 3)),
    Sample(i8(4), i8()),
    Sample(u8(2, 3), u8(2, 1)),
    Sample(boolean(4), boolean(4)),
]


def _unsigned(dtype: Any) -> np.dtype:
    """Return the NumPy dtype of unsigned integers with the storage width of `dtype`."""
    return np.dtype(f"u{dtype.itemsize}")


def _storage(dtype: Any) -> np.dtype:
    """Return `dtype`, or the NumPy integer dtype that stores a type of fewer than 8 bits."""
    return np.dtype(f"{dtypes.kind(dtype)}1") if dtypes.itemsize_bits(dtype) < 8 else dtype


def _raw(x: np.ndarray) -> np.ndarray:
    """Return the bits of integers as unsigned integers, without the padding of narrow types."""
    bits = np.asarray(x.astype(_storage(x.dtype), copy=False), order="C").view(_unsigned(x.dtype))
    width = dtypes.itemsize_bits(x.dtype)
    return bits if width >= 8 else bits & np.array((1 << width) - 1, bits.dtype)


def _on_storage(f: Callable[..., Any]) -> Callable[..., Any]:
    """Apply `f` to arrays of integers; cast types without NumPy bit operations to their storage."""

    def on_storage(*xs: np.ndarray) -> Any:
        storage = _storage(xs[0].dtype)
        return f(*[x.astype(storage, copy=False) for x in xs])

    return on_storage


not_p = elementwise(
    "not",
    family=EXACT,
    numpy=_on_storage(np.invert),
    accepts=integer_or_bool,
    hlo="not",
    exact=True,
    samples=[Sample(i32(2, 3)), Sample(u8(4)), Sample(boolean(3))],
)
and_p = elementwise(
    "and",
    2,
    family=EXACT,
    numpy=_on_storage(np.bitwise_and),
    in_numpy="bitwise_and",
    accepts=integer_or_bool,
    hlo="and",
    exact=True,
    samples=_BITS,
)
or_p = elementwise(
    "or",
    2,
    family=EXACT,
    numpy=_on_storage(np.bitwise_or),
    in_numpy="bitwise_or",
    accepts=integer_or_bool,
    hlo="or",
    exact=True,
    samples=_BITS,
)
xor_p = elementwise(
    "xor",
    2,
    family=EXACT,
    numpy=_on_storage(np.bitwise_xor),
    in_numpy="bitwise_xor",
    accepts=integer_or_bool,
    hlo="xor",
    exact=True,
    samples=_BITS,
)


def bitwise_not(x: Any) -> Any:
    """Invert every bit of `x`: -1 - x for integers, the negation of booleans.

    >>> lax.bitwise_not(np.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """
    return not_p.bind(x)


def bitwise_and(x: Any, y: Any) -> Any:
    """Return the bits set in both `x` and `y`, integers or booleans of the same dtype.

    >>> lax.bitwise_and(np.array([12, 7]), 10)
    Array([8, 2], dtype=int32)
    """
    return and_p.bind(*operands(x, y))


def bitwise_or(x: Any, y: Any) -> Any:
    """Return the bits set in `x`, in `y` or in both, integers or booleans of the same dtype.

    >>> lax.bitwise_or(np.array([12, 7]), 10)
    Array([14, 15], dtype=int32)
    """
    return or_p.bind(*operands(x, y))


def bitwise_xor(x: Any, y: Any) -> Any:
    """Return the bits set in exactly one of `x` and `y`, integers or booleans of the same dtype.

    >>> lax.bitwise_xor(np.array([12, 7]), 10)
    Array([ 6, 13], dtype=int32)
    """
    return xor_p.bind(*operands(x, y))


# Shifts: by the width or more, or by a negative amount, all bits are shifted out ------------------


# NumPy shifts likewise, for whole bytes. Narrower numbers are shifted in a byte; bits beyond their
# own width are masked at the end.


def _shift_left(x: np.ndarray, y: np.ndarray) -> Any:
    storage = _storage(x.dtype)
    return np.left_shift(x.astype(storage, copy=False), y.astype(storage, copy=False))


def _shift_right_logical(x: np.ndarray, y: np.ndarray) -> Any:
    return np.right_shift(_raw(x), _raw(y)).view(_storage(x.dtype))


def _shift_right_arithmetic(x: np.ndarray, y: np.ndarray) -> Any:
    signed = np.dtype(f"i{x.dtype.itemsize}")
    bits = _raw(x).view(signed)
    padding = 8 * x.dtype.itemsize - dtypes.itemsize_bits(x.dtype)
    if padding:  # extend the highest bit of the number to that of the byte
        bits = (bits << np.array(padding, signed)) >> np.array(padding, signed)
    return np.right_shift(bits, _raw(y).view(signed)).view(_storage(x.dtype))


_SHIFTS = [
    Sample(i32(2, 3), i32(2, 3, low=0, high=32)),
    Sample(i32(2, 3), i32(2, 3, low=-3, high=40)),
    Sample(u8(4), u8(4, low=0, high=12)),
    Sample(i8(4), i8(low=0, high=9)),
]
shift_left_p = elementwise(
    "shift_left",
    2,
    family=EXACT,
    wide_rule=lambda x, y: x * 2.0**y,
    numpy=_shift_left,
    in_numpy="left_shift",
    accepts=integer,
    hlo="shift_left",
    exact=True,
    samples=_SHIFTS,
)
shift_right_logical_p = elementwise(
    "shift_right_logical",
    2,
    family=EXACT,
    numpy=_shift_right_logical,
    accepts=integer,
    hlo="shift_right_logical",
    exact=True,
    samples=_SHIFTS,
)
shift_right_arithmetic_p = elementwise(
    "shift_right_arithmetic",
    2,
    family=EXACT,
    numpy=_shift_right_arithmetic,
    in_numpy="right_shift",
    accepts=integer,
    hlo="shift_right_arithmetic",
    exact=True,
    samples=_SHIFTS,
)


def shift_left(x: Any, y: Any) -> Any:
    """Shift the bits of `x` left by `y`, filling with zeros: x * 2**y modulo the width.

    The result is 0 where `y` is negative or not below the width in bits.

    >>> lax.shift_left(np.array([1, 3]), np.array([4, 40]))
    Array([16,  0], dtype=int32)
    """
    return shift_left_p.bind(*operands(x, y))


def shift_right_logical(x: Any, y: Any) -> Any:
    """Shift the bits of `x` right by `y`, filling with zeros, also for negative `x`.

    The result is 0 where `y` is negative or not below the width in bits.

    >>> lax.shift_right_logical(np.array([16, -1], np.int32), 4)
    Array([        1, 268435455], dtype=int32)
    """
    return shift_right_logical_p.bind(*operands(x, y))


def shift_right_arithmetic(x: Any, y: Any) -> Any:
    """Shift the bits of `x` right by `y`, filling with copies of the highest: floor(x / 2**y).

    If `y` is negative or not below the width, only copies of the highest bit remain (0 or -1).
    Unsigned numbers extend their highest bit too.

    >>> lax.shift_right_arithmetic(np.array([16, -16]), 4)
    Array([ 1, -1], dtype=int32)
    """
    return shift_right_arithmetic_p.bind(*operands(x, y))


# Counting -----------------------------------------------------------------------------------------


def _population_count(x: np.ndarray) -> Any:
    return np.bitwise_count(_raw(x)).astype(x.dtype)


def _leading_zeros(x: np.ndarray) -> Any:
    left, zeros = _raw(x), np.zeros(x.shape, np.uint8)
    for shift in (32, 16, 8, 4, 2, 1):  # the position of the highest bit, by bisection
        if shift < 8 * left.dtype.itemsize:
            high = left >> np.array(shift, left.dtype)
            zeros = zeros + np.where(high != 0, np.uint8(shift), np.uint8(0))
            left = np.where(high != 0, high, left)
    width = dtypes.itemsize_bits(x.dtype)
    return np.where(_raw(x) == 0, width, width - 1 - zeros.astype(np.int16)).astype(x.dtype)


_COUNTED = [
    Sample(i32(2, 3)),
    Sample(u8(4)),
    Sample(u32(4)),
    Sample(np.array([0, -1, 1, -(2**31), 2**31 - 1], np.int32)),
]
population_count_p = elementwise(
    "population_count",
    numpy=_population_count,
    accepts=integer,
    hlo="popcnt",
    exact=exact_in_bytes,
    samples=_COUNTED,
)
clz_p = elementwise(
    "clz",
    numpy=_leading_zeros,
    accepts=integer,
    hlo="count_leading_zeros",
    exact=False,  # NumPy takes several operations
    samples=_COUNTED,
)


def population_count(x: Any) -> Any:
    """Return the number of bits set in each element of `x`, in the dtype of `x`.

    >>> lax.population_count(np.array([0, 7, -1], np.int32))
    Array([ 0,  3, 32], dtype=int32)
    """
    return population_count_p.bind(x)


def clz(x: Any) -> Any:
    """Return the number of zero bits above the highest set bit of each element, in the dtype of `x`.

    >>> lax.clz(np.array([0, 1, -1], np.int32))
    Array([32, 31,  0], dtype=int32)
    """
    return clz_p.bind(x)
