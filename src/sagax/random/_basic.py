"""Draw bits, uniform and normal variates, integers and booleans.

The functions without a public name draw in a traced function; other samplers are written with them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src import config
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError
from sagax._src.primitives.arithmetic import add, div, max, min, mul, rem, sub
from sagax._src.primitives.bitwise import bitwise_and, bitwise_or, shift_right_logical
from sagax._src.primitives.casting import bitcast_convert_type
from sagax._src.primitives.comparison import gt, le, lt
from sagax._src.primitives.complex_numbers import complex
from sagax._src.primitives.random_bits import random_bits, random_split
from sagax._src.primitives.resharding import takes_out_sharding
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import unstack
from sagax._src.primitives.special.erf import erf_inv
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import check_choice
from sagax.random._arguments import (
    float_dtype,
    full_shape,
    inexact_dtype,
    integer_dtype,
    lift,
    operand_aval,
    parameter,
    refused_dtype,
    scalar,
    shape_of,
    stretch,
    typed_key,
)
from sagax.random._sampler import cached_jit, sampler

_thread = config.thread
_UNSIGNED = {
    1: np.dtype(np.uint8),
    2: np.dtype(np.uint16),
    4: np.dtype(np.uint32),
    8: np.dtype(np.uint64),
}


# in traced functions --------------------------------------------------------------------------------


def draw_bits(key: Any, shape: tuple, bit_width: int) -> Any:
    """Draw random bits as unsigned integers of `bit_width`."""
    return random_bits(key, bit_width, shape)


def subkeys(key: Any, count: int) -> tuple:
    """Split `key` into `count` keys."""
    return unstack(random_split(key, (count,)))


@functools.cache
def _float_layout(dtype: Any) -> tuple[int, int, Any, Any]:
    """The layout of numbers in [1, 2): random bits, bits to drop, the bits of 1.0, unsigned dtype."""
    info = ml_dtypes.finfo(dtype)
    if info.bits not in (8, 16, 32, 64):
        raise DtypeError.about(
            "uniform", "dtype", dtypes.name(dtype), "a float dtype of 8, 16, 32 or 64 bits"
        )
    unsigned = _UNSIGNED[dtype.itemsize]
    one = np.ones((), dtype).view(unsigned)[()]
    width = 8 if info.nmant < 8 else info.bits  # no more than the mantissa can hold
    return width, width - info.nmant, one, unsigned


def unit(key: Any, shape: tuple, dtype: Any) -> Any:
    """Draw uniform variates in [0, 1): random mantissas give [1, 2), minus 1."""
    width, cut, one, unsigned = _float_layout(dtype)
    bits = convert(draw_bits(key, shape, width), unsigned)
    if cut < width:
        bits = shift_right_logical(bits, unsigned.type(cut))
        floats = bitcast_convert_type(bitwise_or(bits, one), dtype)
    else:  # a dtype without a mantissa has one number in [1, 2)
        floats = bitcast_convert_type(bitwise_or(bitwise_and(bits, unsigned.type(0)), one), dtype)
    return sub(floats, scalar(1, dtype))


def between(key: Any, shape: tuple, dtype: Any, low: Any, high: Any) -> Any:
    """Draw uniform variates in [low, high); bounds are scalars, or broadcast to `shape`."""
    low, high = lift(low, len(shape)), lift(high, len(shape))
    return max(low, add(mul(unit(key, shape, dtype), sub(high, low)), low))


def standard_normal(key: Any, shape: tuple, dtype: Any) -> Any:
    """Draw normal variates, by the inverse distribution function of uniform ones in (-1, 1)."""
    if dtypes.kind(dtype) == "c":
        part = dtypes.real_part_dtype(dtype)
        re, im = [standard_normal(k, shape, part) for k in subkeys(key, 2)]
        return div(complex(re, im), scalar(np.sqrt(2), dtype))
    low = np.nextafter(scalar(-1, dtype), scalar(0, dtype)).astype(dtype)
    x = between(key, shape, dtype, low[()], scalar(1, dtype))
    return mul(scalar(np.sqrt(2), dtype), erf_inv(x))


def coin(key: Any, shape: tuple, p: Any) -> Any:
    """Draw True with probability `p`, which broadcasts to `shape`."""
    return lt(unit(key, shape, aval_of(p).dtype), lift(p, len(shape)))


# bits -----------------------------------------------------------------------------------------------


def _unsigned_dtype(function: str, dtype: Any) -> Any:
    if dtype is None:
        return _UNSIGNED[8 if _thread.settings.x64 else 4]
    dtype = dtypes.requested_dtype(dtype, function)
    if dtypes.kind(dtype) != "u":
        raise refused_dtype(
            function, dtype, "an unsigned int dtype", "uint8, uint16, uint32 or uint64"
        )
    return dtype


@sampler(dtype=_unsigned_dtype)
def bits(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw uniformly distributed unsigned integers: random bits.

    `dtype` is uint8, uint16, uint32 or uint64 (default: the unsigned integers of the default width).

    >>> random.bits(random.key(0), (2,), "uint8")
    Array([167, 146], dtype=uint8)
    """
    return draw_bits(key, shape, 8 * dtype.itemsize)


# uniform --------------------------------------------------------------------------------------------


@cached_jit
def _uniform(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key, low, high: between(key, shape, dtype, low, high)


@cached_jit
def _unit(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key: unit(key, shape, dtype)


@takes_out_sharding
def uniform(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    minval: Any = 0.0,
    maxval: Any = 1.0,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the uniform distribution on [minval, maxval).

    The bounds are numbers, or arrays that broadcast to `shape`.

    Raises TypeError if `key` is no key, ValueError for an array of keys, a dtype that is not
    floating, or bounds that do not broadcast.

    >>> random.uniform(random.key(0), (3,))
    Array([0.947667  , 0.9785799 , 0.33229148], dtype=float32)
    """
    typed = typed_key("uniform", key)
    dtype = float_dtype("uniform", dtype)
    shape = shape_of("uniform", shape)
    if type(minval) is float and type(maxval) is float and minval == 0.0 and maxval == 1.0:
        return _unit(shape, dtype)(typed)
    low = parameter("uniform", "minval", minval, dtype)
    high = parameter("uniform", "maxval", maxval, dtype)
    if low.shape or high.shape:
        full_shape("uniform", shape, low, high)
    return _uniform(shape, dtype)(typed, low, high)


# normal ---------------------------------------------------------------------------------------------


@cached_jit
def _normal(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key: standard_normal(key, shape, dtype)


@takes_out_sharding
def normal(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the normal distribution with mean 0 and variance 1, real or complex.

    Real and imaginary part of complex variates have variance 1/2.

    Raises TypeError if `key` is no key, ValueError for an array of keys or another dtype.

    >>> random.normal(random.key(0), (3,))
    Array([ 1.6226422 ,  2.0252647 , -0.43359444], dtype=float32)
    """
    return _normal(shape_of("normal", shape), inexact_dtype("normal", dtype))(
        typed_key("normal", key)
    )


# coin tosses ----------------------------------------------------------------------------------------


def _resolution(function: str, mode: Any) -> str:
    check_choice(function, "mode", mode, ("low", "high"), "'high' or 'low'")
    return mode


def _probability(function: str, argument: str, p: Any, _: Any) -> Any:
    aval = operand_aval(function, argument, p)
    if dtypes.kind(aval.dtype) != "f":
        raise ArgumentError(
            f"the probability `p` must have a floating dtype, got {dtypes.name(aval.dtype)}",
            function=function,
            argument=argument,
            got=p,
            expected="a probability as a float",
            fix=f"pass {float(p)}" if type(p) in (int, bool) else "convert it with astype(float)",
        )
    return parameter(function, argument, p, aval.dtype)


@sampler("p", convert=_probability, mode=_resolution)
def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Array:
    """Draw booleans that are True with probability `p`.

    `p` is a float, or a float array that broadcasts to `shape` (default: its shape). With
    `mode="high"` probabilities far below the spacing of floats near 1 are exact, at twice the cost.

    >>> random.bernoulli(random.key(0), 0.7, (3,))
    Array([False, False,  True], dtype=bool)
    """
    if mode == "low":
        return coin(key, shape, p)
    # u + v * eps of two uniform variates has twice as many bits
    dtype = aval_of(p).dtype
    u, v = unstack(unit(key, (2, *shape), dtype))
    eps = scalar(float(ml_dtypes.finfo(dtype).eps), dtype)
    return lt(mul(v, eps), sub(lift(p, len(shape)), u))


def signs(key: Any, shape: tuple, dtype: Any) -> Any:
    """Draw random signs, 1 or -1, in a traced function."""
    half = scalar(0.5, np.float64 if _thread.settings.x64 else np.float32)
    heads = convert(coin(key, shape, half), dtype)
    return sub(mul(scalar(2, dtype), heads), scalar(1, dtype))


@cached_jit
def _rademacher(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key: signs(key, shape, dtype)


@takes_out_sharding
def rademacher(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw 1 or -1, each with probability one half; of the default int dtype or `dtype`.

    Raises TypeError if `key` is no key, ValueError for an array of keys.

    >>> random.rademacher(random.key(0), (3,))
    Array([-1, -1,  1], dtype=int32)
    """
    dtype = dtypes.requested_dtype(int if dtype is None else dtype, "rademacher")
    if dtypes.kind(dtype) not in "ifc":
        raise ArgumentValueError(
            function="rademacher",
            argument="dtype",
            got=dtypes.name(dtype),
            expected="a dtype that holds -1: signed, floating or complex",
        )
    return _rademacher(shape_of("rademacher", shape), dtype)(typed_key("rademacher", key))


# integers -------------------------------------------------------------------------------------------


@cached_jit
def _randint(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key, low, high: integers(key, shape, dtype, low, high)


def integers(key: Any, shape: tuple, dtype: Any, low: Any, high: Any) -> Any:
    """Draw uniform integers in [low, high), in a traced function; bounds are integers of any dtype.

    `high` may be one more than `dtype` can hold. Two draws of bits are the digits of one long
    number, whose remainder modulo the number of values is almost unbiased.
    """
    unsigned = _UNSIGNED[dtype.itemsize]
    info = np.iinfo(dtype)
    bounds = aval_of(high).dtype
    full = gt(high, scalar(_within(int(info.max), bounds), bounds))
    low, high = [lift(_clipped(x, info, dtype), len(shape)) for x in (low, high)]
    full = lift(full, len(shape))
    upper, lower = [draw_bits(k, shape, 8 * dtype.itemsize) for k in subkeys(key, 2)]
    span = convert(sub(high, low), unsigned)
    empty = le(high, low)
    one = unsigned.type(1)
    span = select_n(empty, span, stretch(one, aval_of(span).shape))
    # every value of the dtype is possible: the span is 2**width, which is 0 modulo 2**width
    past = bitwise_and(full, gt(high, low))
    span = select_n(stretch(past, aval_of(span).shape), span, add(span, one))
    digit = rem(unsigned.type(1 << (4 * dtype.itemsize)), span)
    digit = rem(mul(digit, digit), span)
    offset = add(mul(rem(upper, span), digit), rem(lower, span))
    return add(low, convert(rem(offset, span), dtype))


def _within(value: int, dtype: Any) -> int:
    info = np.iinfo(dtype)
    return builtin_clip(value, int(info.min), int(info.max))


def builtin_clip(value: int, low: int, high: int) -> int:
    """Clip a Python int to [low, high]."""
    return low if value < low else high if value > high else value


def _clipped(x: Any, info: Any, dtype: Any) -> Any:
    bounds = aval_of(x).dtype
    low, high = _within(int(info.min), bounds), _within(int(info.max), bounds)
    return convert(min(max(scalar(low, bounds), x), scalar(high, bounds)), dtype)


@takes_out_sharding
def randint(
    key: Any, shape: Any, minval: Any, maxval: Any, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw integers uniformly from [minval, maxval).

    The bounds are integers, or integer arrays that broadcast to `shape`. Where maxval is not above
    minval the result is minval.

    Raises TypeError if `key` is no key or a dtype that is no integer, ValueError for an array of
    keys or bounds that do not broadcast, OverflowError for an int beyond the default dtype.

    >>> random.randint(random.key(0), (3,), 0, 10)
    Array([9, 0, 2], dtype=int32)
    """
    typed = typed_key("randint", key)
    dtype = integer_dtype("randint", dtype)
    shape = shape_of("randint", shape)
    low = _bound("minval", minval, dtype)
    high = _bound("maxval", maxval, dtype)
    if low.shape or high.shape:
        full_shape("randint", shape, low, high)
    if dtype.itemsize < 4:  # drawn as 32-bit integers, and narrowed
        return _narrow_randint(shape, dtype)(typed, low, high)
    return _randint(shape, dtype)(typed, low, high)


def _bound(argument: str, x: Any, dtype: Any) -> Any:
    if type(x) is int:
        x64 = _thread.settings.x64
        wide = np.dtype(np.int64 if x64 else np.int32)
        return parameter("randint", argument, x, wide)
    aval = operand_aval("randint", argument, x)
    if dtypes.kind(aval.dtype) in "iu" and not aval.weak_type:
        return parameter("randint", argument, x, aval.dtype)
    return parameter("randint", argument, x, dtypes.default_int(_thread.settings.x64))


@cached_jit
def _narrow_randint(shape: tuple, dtype: Any) -> Callable[..., Any]:
    wide = np.dtype(np.int32)
    info = dtypes.iinfo(dtype)

    def draw(key: Any, low: Any, high: Any) -> Any:
        low, high = convert(low, wide), convert(high, wide)
        least, most = scalar(int(info.min), wide), scalar(int(info.max), wide)
        low = min(max(least, low), most)
        high = min(max(least, high), add(most, np.int32(1)))
        return convert(integers(key, shape, wide, low, high), dtype)

    return draw
