"""Sort by integers that hold the key and the position of each element.

XLA's CPU code calls a comparison for each pair of floats, or of elements of several arrays. A single array of
integers it sorts without calls, in a quarter of the time. So the bits of a key become the upper half of a
64-bit integer that sorts like it, and its position the lower half. Positions make keys distinct: the order
is that of the stable sort, bit for bit, and gathers by position bring each array into it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.value import aval_of
from sagax._src.primitives.bitwise import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    shift_left,
    shift_right_logical,
)
from sagax._src.primitives.casting import bitcast_convert_type_p
from sagax._src.primitives.comparison import eq, lt, ne
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import broadcasted_iota
from sagax._src.primitives.structural import broadcast, convert

_WORD, _PACKED = np.dtype(np.uint32), np.dtype(np.uint64)
_POSITIONS = 1 << 31


def is_packable(avals: Any, dimension: int, num_keys: int, least: int) -> bool:
    """Return whether packed keys give the order of these arrays, faster than comparisons."""
    key = avals[0]
    if num_keys != 1 or not dims.is_static(key.shape) or not key.shape:
        return False
    if key.size < least or key.shape[dimension] > _POSITIONS or key.dtype == np.bool_:
        return False
    is_float = dtype_predicates.is_floating(key.dtype)
    is_integer = dtype_predicates.is_integer(key.dtype)
    if not (is_float or is_integer) or dtypes.itemsize_bits(key.dtype) not in (8, 16, 32):
        return False
    if is_float and dtypes.itemsize_bits(key.dtype) == 8:
        return False
    return len(avals) > 1 or is_float


def with_positions(key: Any, dimension: int) -> Any:
    """Return 64-bit integers that sort like `key`, and hold the position along the dimension."""
    shape = aval_of(key).shape
    half = convert(broadcast(np.uint32(32), shape), _PACKED)
    upper = shift_left(convert(to_ordered(key), _PACKED), half)
    position = convert(broadcasted_iota(np.int32, shape, dimension), _PACKED)
    return optimization_barrier(bitwise_or(upper, position))


def positions(packed: Any) -> Any:
    """Return the positions that these integers hold, as int32."""
    return convert(convert(packed, _WORD), np.dtype(np.int32))


def to_ordered(x: Any) -> Any:
    """Return unsigned 32-bit integers that sort like `x`: zeros are equal, NaN is the greatest."""
    aval = aval_of(x)
    shape = aval.shape

    def word(value: int) -> Any:
        return broadcast(np.uint32(value), shape)

    if dtypes.kind(aval.dtype) == "u":
        return convert(x, _WORD)
    if dtype_predicates.is_integer(aval.dtype):
        bits = bitcast_convert_type_p.bind(convert(x, np.dtype(np.int32)), new_dtype=_WORD)
        return _with_flipped_sign(bits, shape)
    wide = convert(x, np.dtype(np.float32))
    bits = bitcast_convert_type_p.bind(wide, new_dtype=_WORD)
    negative = ne(shift_right_logical(bits, word(31)), word(0))
    ordered = select_n(negative, _with_flipped_sign(bits, shape), bitwise_not(bits))
    # zeros of both signs, as integers: the compiler may take subnormal floats for zero
    magnitude = bitwise_and(bits, word(0x7FFFFFFF))
    ordered = select_n(eq(magnitude, word(0)), ordered, word(1 << 31))
    return select_n(lt(word(0x7F800000), magnitude), ordered, word(0xFFFFFFFF))


def from_ordered(words: Any, dtype: Any) -> Any:
    """Return the numbers of type `dtype` that `to_ordered` made these integers from."""
    shape = words.aval.shape
    if dtypes.kind(dtype) == "u":
        return convert(words, dtype)
    flipped = _with_flipped_sign(words, shape)
    if dtype_predicates.is_integer(dtype):
        return convert(bitcast_convert_type_p.bind(flipped, new_dtype=np.dtype(np.int32)), dtype)
    top = broadcast(np.uint32(1 << 31), shape)
    bits = select_n(lt(words, top), flipped, bitwise_not(words))
    return convert(bitcast_convert_type_p.bind(bits, new_dtype=np.dtype(np.float32)), dtype)


def _with_flipped_sign(bits: Any, shape: tuple) -> Any:
    top = broadcast(np.uint32(1 << 31), shape)
    flipped = bitwise_or(bits, top)
    return select_n(eq(bitwise_and(bits, top), top), flipped, bitwise_and(bits, bitwise_not(top)))
