"""Pack bits into bytes, and unpack them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.primitives import structural
from sagax._src.primitives.arithmetic import sub
from sagax._src.primitives.bitwise import bitwise_and, shift_left
from sagax._src.primitives.comparison import ne
from sagax._src.primitives.reductions import reduce_sum_p
from sagax._src.primitives.shaping import broadcasted_iota
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import check_choice, one_axis, static_int, with_aval
from sagax.numpy._base import select
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._shaping import moveaxis, ravel

_BYTE = np.dtype(np.uint8)


def _check_order(function: str, bitorder: str) -> None:
    check_choice(function, "bitorder", bitorder, ("little", "big"), "'little' or 'big'")


def _line(function: str, a: Any, axis: Any) -> tuple[Any, int]:
    a, aval = with_aval(function, a)
    if axis is None:
        return ravel(a), 0
    return a, one_axis(function, axis, aval.ndim)


@fused_function(1)
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> Array:
    """Pack eight elements of `a` along `axis` into the bits of each byte: 1 where not zero.

    Without an axis `a` is flattened; zeros fill up the last byte. With `bitorder="big"` the first
    element is the highest bit. The dtype is uint8.

    >>> snp.packbits(snp.array([1, 0, 1, 1]))
    Array([176], dtype=uint8)
    """
    _check_order("packbits", bitorder)
    x, d = _line("packbits", a, axis)
    if dtypes.kind(aval_of(x).dtype) not in "biu":
        raise ArgumentError(
            "Expected an input array of integer or boolean data type",
            function="packbits",
            argument="a",
            got=a,
        )
    return _pack(x, axis=d, big=bitorder == "big")


def _bit_values(shape: tuple, big: bool) -> Array:
    """Create the values of eight bits along the last axis. XLA's code of a constant array would not be SIMD."""
    offsets = broadcasted_iota(_BYTE, shape, len(shape) - 1)
    return shift_left(np.uint8(1), sub(np.uint8(7), offsets) if big else offsets)


@fused
def _pack(x: Any, *, axis: int, big: bool) -> Array:
    bits = moveaxis(convert(x, np.dtype(bool)), axis, -1)
    *front, size = bits.aval.shape
    count = dims.ceil_div(size, 8)
    config = [(0, 0, 0)] * len(front) + [(0, 8 * count - size, 0)]
    octets = structural.reshape(pad(bits, np.False_, config), (*front, count, 8))
    values = _bit_values(octets.aval.shape, big)
    # a sum, since XLA has no disjunction of bytes over several devices
    packed = reduce_sum_p.bind(select(octets, values, np.uint8(0)), axes=(len(front) + 1,))
    return moveaxis(packed, -1, axis)


@fused_function(1)
def unpackbits(
    a: Any, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """Unpack the bits of the bytes in `a` (uint8) along `axis`, each 0 or 1 of dtype uint8.

    `count` says how many: more than there are gives zeros, a negative one leaves some out at the end.
    With `bitorder="big"` the highest bit comes first.

    >>> snp.unpackbits(snp.array([176], dtype=snp.uint8))
    Array([1, 0, 1, 1, 0, 0, 0, 0], dtype=uint8)
    """
    _check_order("unpackbits", bitorder)
    x, d = _line("unpackbits", a, axis)
    if aval_of(x).dtype != _BYTE:
        raise ArgumentError(
            "Expected an input array of unsigned byte data type",
            function="unpackbits",
            argument="a",
            got=a,
            fix="convert it: a.astype(numpy.uint8)",
        )
    if count is not None:
        count = static_int("unpackbits", "count", count)
    return _unpack(x, axis=d, count=count, big=bitorder == "big")


@fused
def _unpack(x: Any, *, axis: int, count: Any, big: bool) -> Array:
    x = moveaxis(x, axis, -1)
    shape = (*aval_of(x).shape, 8)
    octets = structural.broadcast_in_dim(x, shape, tuple(range(len(shape) - 1)))
    bits = convert(ne(bitwise_and(octets, _bit_values(shape, big)), np.uint8(0)), _BYTE)
    *front, size = shape[:-1]
    available = 8 * size
    bits = structural.reshape(bits, (*front, available))
    if count is not None:
        kept_size = count if count >= 0 else dims.non_negative(available + count)
        at = len(front)
        if kept_size <= available:
            bits = slice_in_dim(bits, 0, kept_size, 1, at)
        else:
            bits = pad(bits, np.uint8(0), [(0, 0, 0)] * at + [(0, kept_size - available, 0)])
    return moveaxis(bits, -1, axis)
