"""Compare elementwise, and compute logical and bitwise operations."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import DtypeError
from sagax._src.primitives.arithmetic import abs_p
from sagax._src.primitives.bitwise import (
    and_p,
    not_p,
    or_p,
    population_count_p,
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
    xor_p,
)
from sagax._src.primitives.comparison import eq_p, ge_p, gt_p, le_p, lt_p, ne_p
from sagax._src.primitives.complex_numbers import imag_p
from sagax._src.primitives.structural import convert, real_p
from sagax.numpy._base import dtype_of, operands2, select
from sagax.numpy._fused import operation1, operation2

_BOOL = dtypes.bool_
_COMPLEX = frozenset((dtypes.complex64, dtypes.complex128))


# --- comparisons ---------------------------------------------------------------------------------


@operation2
def equal(x: Any, y: Any, /) -> Array:
    """Compare elementwise whether x == y. NaN equals nothing.

    >>> snp.equal(snp.arange(3), 1)
    Array([False,  True, False], dtype=bool)
    """
    x, y = operands2("equal", x, y)
    return eq_p.bind(x, y)


@operation2
def not_equal(x: Any, y: Any, /) -> Array:
    """Compare elementwise whether x != y. NaN differs from everything.

    >>> snp.not_equal(snp.arange(3), 1)
    Array([ True, False,  True], dtype=bool)
    """
    x, y = operands2("not_equal", x, y)
    return ne_p.bind(x, y)


def _ordered(function: str, compare: Any, x: Any, y: Any) -> Array:
    """Compare by order; complex numbers by real parts, and where those are equal by imaginary parts."""
    x, y = operands2(function, x, y)
    try:
        return compare.bind(x, y)
    except DtypeError:  # checking for complex dtypes first would slow down all others
        if dtype_of(x) not in _COMPLEX:
            raise
    rx, ry = real_p.bind(x), real_p.bind(y)
    by_imag = compare.bind(imag_p.bind(x), imag_p.bind(y))
    return select(eq_p.bind(rx, ry), by_imag, compare.bind(rx, ry))


@operation2
def less(x: Any, y: Any, /) -> Array:
    """Compare elementwise whether x < y; complex numbers by real, then imaginary parts.

    >>> snp.less(snp.arange(3), 1)
    Array([ True, False, False], dtype=bool)
    """
    return _ordered("less", lt_p, x, y)


@operation2
def less_equal(x: Any, y: Any, /) -> Array:
    """Compare elementwise whether x <= y; complex numbers by real, then imaginary parts.

    >>> snp.less_equal(snp.arange(3), 1)
    Array([ True,  True, False], dtype=bool)
    """
    return _ordered("less_equal", le_p, x, y)


@operation2
def greater(x: Any, y: Any, /) -> Array:
    """Compare elementwise whether x > y; complex numbers by real, then imaginary parts.

    >>> snp.greater(snp.arange(3), 1)
    Array([False, False,  True], dtype=bool)
    """
    return _ordered("greater", gt_p, x, y)


@operation2
def greater_equal(x: Any, y: Any, /) -> Array:
    """Compare elementwise whether x >= y; complex numbers by real, then imaginary parts.

    >>> snp.greater_equal(snp.arange(3), 1)
    Array([False,  True,  True], dtype=bool)
    """
    return _ordered("greater_equal", ge_p, x, y)


# --- logic ---------------------------------------------------------------------------------------


def truth(x: Any) -> Any:
    """Convert the operand to booleans: True where an element differs from zero."""
    dtype = dtype_of(x)
    return x if dtype == _BOOL else ne_p.bind(x, _zero(x))


def _zero(x: Any) -> Any:
    """Zero beside `x`, weakly typed only beside a scalar: an array compared to it is not weak."""
    return _base.number(0, int, dtype_of(x)) if _base.shape_of(x) else _base.zero_like(x)


def _truths(function: str, x: Any, y: Any) -> list:
    x, y = _base.as_operand(function, x), _base.as_operand(function, y, 1)
    dtype, weak = _base.common_dtype(function, (x, y))
    if weak and not _base.shape_of(x) and not _base.shape_of(y):  # so are both truths then
        x, y = _base.cast(x, dtype, weak), _base.cast(y, dtype, weak)
    return _base.align_ranks(function, (truth(x), truth(y)))


@operation2
def logical_and(x: Any, y: Any, /) -> Array:
    """Return elementwise whether both x and y differ from zero.

    >>> snp.logical_and(snp.arange(3), snp.array([1, 0, 1]))
    Array([False, False,  True], dtype=bool)
    """
    return and_p.bind(*_truths("logical_and", x, y))


@operation2
def logical_or(x: Any, y: Any, /) -> Array:
    """Return elementwise whether x or y or both differ from zero.

    >>> snp.logical_or(snp.arange(3), snp.array([1, 0, 1]))
    Array([ True,  True,  True], dtype=bool)
    """
    return or_p.bind(*_truths("logical_or", x, y))


@operation2
def logical_xor(x: Any, y: Any, /) -> Array:
    """Return elementwise whether exactly one of x and y differs from zero.

    >>> snp.logical_xor(snp.arange(3), snp.array([1, 0, 1]))
    Array([ True,  True, False], dtype=bool)
    """
    return xor_p.bind(*_truths("logical_xor", x, y))


@operation1
def logical_not(x: Any, /) -> Array:
    """Return elementwise whether x is zero.

    >>> snp.logical_not(snp.arange(3))
    Array([ True, False, False], dtype=bool)
    """
    x = _base.as_operand("logical_not", x)
    if dtype_of(x) == _BOOL:
        return not_p.bind(x)
    return eq_p.bind(x, _zero(x))


# --- bits ----------------------------------------------------------------------------------------


@operation2
def bitwise_and(x: Any, y: Any, /) -> Array:
    """Compute the bitwise and of x and y, integers or booleans.

    >>> snp.bitwise_and(snp.array([12, 7]), 10)
    Array([8, 2], dtype=int32)
    """
    return and_p.bind(*operands2("bitwise_and", x, y))


@operation2
def bitwise_or(x: Any, y: Any, /) -> Array:
    """Compute the bitwise or of x and y, integers or booleans.

    >>> snp.bitwise_or(snp.array([12, 7]), 10)
    Array([14, 15], dtype=int32)
    """
    return or_p.bind(*operands2("bitwise_or", x, y))


@operation2
def bitwise_xor(x: Any, y: Any, /) -> Array:
    """Compute the bitwise exclusive or of x and y, integers or booleans.

    >>> snp.bitwise_xor(snp.array([12, 7]), 10)
    Array([ 6, 13], dtype=int32)
    """
    return xor_p.bind(*operands2("bitwise_xor", x, y))


@operation1
def invert(x: Any, /) -> Array:
    """Invert every bit: -1 - x for signed integers, the negation of booleans.

    >>> snp.invert(snp.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """
    return not_p.bind(_base.as_operand("invert", x))


bitwise_not = bitwise_invert = invert


@operation1
def bitwise_count(x: Any, /) -> Array:
    """Count the bits set in the absolute value of each integer, as uint8.

    >>> snp.bitwise_count(snp.array([0, 7, -7]))
    Array([0, 3, 3], dtype=uint8)
    """
    x = _base.as_operand("bitwise_count", x)
    if dtype_of(x) == _BOOL:
        return convert(x, np.dtype(np.uint8))
    if dtypes.kind(dtype_of(x)) == "i":
        x = abs_p.bind(x)
    return convert(population_count_p.bind(x), np.dtype(np.uint8))


def _shift(function: str, x: Any, y: Any) -> tuple:
    x, y = operands2(function, x, y)
    if dtype_of(x) == _BOOL:
        dtype = dtypes.to_numeric(_BOOL)
        return _base.cast(x, dtype, False), _base.cast(y, dtype, False)
    return x, y


@operation2
def left_shift(x: Any, y: Any, /) -> Array:
    """Shift the bits of x up by y positions: x * 2**y, modulo the width.

    >>> snp.left_shift(1, snp.arange(4))
    Array([1, 2, 4, 8], dtype=int32)
    """
    return shift_left_p.bind(*_shift("left_shift", x, y))


bitwise_left_shift = left_shift


@operation2
def right_shift(x1: Any, x2: Any, /) -> Array:
    """Shift the bits of x1 down by x2 positions: floor(x1 / 2**x2).

    >>> snp.right_shift(snp.array([16, -16]), 2)
    Array([ 4, -4], dtype=int32)
    """
    x, y = _shift("right_shift", x1, x2)
    unsigned = dtypes.kind(dtype_of(x)) == "u"
    return (shift_right_logical_p if unsigned else shift_right_arithmetic_p).bind(x, y)


bitwise_right_shift = right_shift
