"""Implement PRNGs: seeding, splitting and drawing in terms of a key's numbers.

Four are counter based: bits are counters enciphered with the key, by the ciphers in random_ciphers.py. Two
draw bits from XLA's generator, which is faster on some devices, but gives other bits on others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims
from sagax._src.core.primitive import Primitive
from sagax._src.core.value import aval_of
from sagax._src.primitives.arithmetic import add, mul
from sagax._src.primitives.bitwise import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    shift_left,
    shift_right_logical,
)
from sagax._src.primitives.comparison import eq, lt
from sagax._src.primitives.makers import broadcast_to
from sagax._src.primitives.random_bits import (
    OF_WIDTH,
    PRNGImpl,
    RandomAlgorithm,
    first_of,
    implementation,
    implementation_names,
    register_impl,
    rng_bit_generator_p,
)
from sagax._src.primitives.random_ciphers import (
    philox2x32_p,
    philox4x32_p,
    threefry2x32_p,
    threefry4x32_p,
    wide,
)
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import concatenate, iota_p, stack, unstack
from sagax._src.primitives.slicing import slice as slice_
from sagax._src.primitives.structural import (
    broadcast_in_dim,
    convert,
    expand_dims,
    reshape,
    transpose,
)

_U32, _U64 = np.dtype(np.uint32), np.dtype(np.uint64)
_ZERO = np.uint32(0)


# words ------------------------------------------------------------------------------------------------


def _counters(shape: tuple) -> tuple[Any, Any]:
    """Return the row-major index of each element of an array, as high and low words."""
    if not dims.is_static(shape):
        flat = iota_p.bind(dtype=_U64, shape=(dims.size(shape),), dimension=0)
        return _halves(reshape(flat, shape))
    dtype = _U32 if math.prod(shape) <= 1 << 32 else _U64
    total: Any = None
    stride = 1
    # One term for each dimension, so that a sharded computation stays local.
    for axis in reversed(range(len(shape))):
        if shape[axis] != 1:
            term = iota_p.bind(dtype=dtype, shape=shape, dimension=axis)
            if stride != 1:
                term = mul(term, np.uint32(stride) if dtype == _U32 else wide(stride))
            total = term if total is None else add(total, term)
        stride *= shape[axis]
    if total is None:
        total = broadcast_in_dim(convert(_ZERO, dtype), shape)
    return (_ZERO, total) if dtype == _U32 else _halves(total)


def _halves(x: Any) -> tuple[Any, Any]:
    """Return the high and the low word of integers; for less than 64 bits the high one is 0."""
    if aval_of(x).dtype.itemsize < 8:
        return _ZERO, convert(x, _U32)
    bits = convert(x, _U64)
    return convert(shift_right_logical(bits, wide(32)), _U32), convert(bits, _U32)


def _key_words(data: Any, rank: int) -> list:
    """Return the words of each key, with `rank` further dimensions of size 1."""
    ndim = aval_of(data).ndim - 1
    words = list(unstack(data, ndim))
    if ndim and rank:
        new = tuple(range(ndim, ndim + rank))
        words = [expand_dims(word, new) for word in words]
    return words


def _beside_keys(words: list, data: Any) -> list:
    """Add leading dimensions of size 1, for the keys, to words of blocks."""
    ndim = aval_of(data).ndim - 1
    if not ndim:
        return words
    new = tuple(range(ndim))
    return [expand_dims(x, new) if aval_of(x).shape else x for x in words]


def _as_key(words: list, shape: tuple) -> Any:
    """Combine words to the numbers of keys; scalars broadcast over all keys."""
    full = [
        x if dims.same_shape(aval_of(x).shape, shape) else broadcast_in_dim(x, shape) for x in words
    ]
    return stack(full, len(shape))


# counter based ----------------------------------------------------------------------------------------


def _split(cipher: Primitive, key_words: int, block_words: int) -> Callable[..., Any]:
    def split(data: Any, shape: tuple) -> Any:
        block = [_ZERO] * (block_words - 2) + list(_counters(shape))
        out = cipher.bind(*_key_words(data, len(shape)), *_beside_keys(block, data))
        return _as_key(out[:key_words], (*aval_of(data).shape[:-1], *shape))

    return split


def _bits(cipher: Primitive, block_words: int, folded: bool = True) -> Callable[..., Any]:
    """Compute bits from enciphered counters. Up to 32 bits are the xor of all words of a block; 64 bits are
    its first two words, `folded` with the others or not."""

    of_counters = _bits_of_counters(cipher, block_words, folded)

    def random_bits(data: Any, bit_width: int, shape: tuple) -> Any:
        counters = _beside_keys(list(_counters(shape)), data)
        return of_counters(_key_words(data, len(shape)), bit_width, counters)

    return random_bits


def _bits_of_counters(
    cipher: Primitive, block_words: int, folded: bool = True
) -> Callable[..., Any]:
    def bits_of_counters(key: list, bit_width: int, counters: list) -> Any:
        words = cipher.bind(*key, *counters, *[_ZERO] * (block_words - 2))
        high, low = words[:2]
        if folded or bit_width < 64:
            for i in range(2, block_words, 2):
                high, low = bitwise_xor(high, words[i]), bitwise_xor(low, words[i + 1])
        if bit_width == 64:
            return bitwise_or(shift_left(convert(high, _U64), wide(32)), convert(low, _U64))
        return convert(bitwise_xor(high, low), OF_WIDTH[bit_width])

    return bits_of_counters


def _fold_in(cipher: Primitive, key_words: int, block_words: int) -> Callable[..., Any]:
    def fold_in(data: Any, numbers: Any) -> Any:
        out = cipher.bind(*_key_words(data, 0), *[_ZERO] * (block_words - 1), numbers)
        return _as_key(out[:key_words], aval_of(out[0]).shape)

    return fold_in


def _seed_enciphered(
    cipher: Primitive, key_words: int, before: int, after: int
) -> Callable[..., Any]:
    """Encipher seeds, with `before` zeros before their two words and `after` zeros after them."""

    def seed(seeds: Any) -> Any:
        out = cipher.bind(*[_ZERO] * before, *_halves(seeds), *[_ZERO] * after)
        return _as_key(out[:key_words], aval_of(seeds).shape)

    return seed


def _seed_as_key(seeds: Any) -> Any:
    return _as_key(list(_halves(seeds)), aval_of(seeds).shape)


# Each element of the result enciphers its own block and uses one of the two words: this compiles in half the time
# of two adjacent ciphers, and is vectorized. These numbers of keys are faster otherwise: few enough operations to
# run in the calling thread, or a loop that does (`_LOOPED` in random_ciphers.py).
_SIDE_BY_SIDE = range(4, 17)


def _threefry_split(data: Any, shape: tuple) -> Any:
    if config.current().threefry_partitionable:
        if dims.is_static(shape):
            count = math.prod(shape)
            if 1 < count < 1 << 31 and count not in _SIDE_BY_SIDE:
                return _threefry_elements(data, shape)
        return _threefry_pairs(data, shape)
    pairs = _enciphered_in_halves(data, 2 * math.prod(shape))
    return reshape(pairs, (*aval_of(data).shape[:-1], *shape, 2))


def _threefry_bits(data: Any, bit_width: int, shape: tuple) -> Any:
    if config.current().threefry_partitionable:
        return _threefry_folded(data, bit_width, shape)
    return _bits_in_halves(data, bit_width, shape)


def _threefry_elements(data: Any, shape: tuple) -> Any:
    """uint32[*keys, *shape, 2]: the word of each element, from its own block."""
    element = iota_p.bind(dtype=_U32, shape=(2 * math.prod(shape),), dimension=0)
    block, last = shift_right_logical(element, np.uint32(1)), bitwise_and(element, np.uint32(1))
    block, last = _beside_keys([block, last], data)
    words = threefry2x32_p.bind(*_key_words(data, 1), _ZERO, block)
    joint = aval_of(words[0]).shape
    chosen = select_n(broadcast_to(eq(last, np.uint32(1)), joint), *words)
    return reshape(chosen, (*aval_of(data).shape[:-1], *shape, 2))


_threefry_pairs = _split(threefry2x32_p, 2, 2)
_threefry_folded = _bits(threefry2x32_p, 2)
_threefry_fold_in = _fold_in(threefry2x32_p, 2, 2)


# The legacy order, under the option threefry_partitionable=False: a block holds the counters i and
# i + n / 2, so that an element depends on the size of the whole array.


def _enciphered_in_halves(data: Any, count: int) -> Any:
    """uint32[*keys, count]: the numbers below `count`, enciphered in blocks of one from each half."""
    half = (count + 1) // 2
    first = iota_p.bind(dtype=_U32, shape=(half,), dimension=0)
    second = add(first, np.uint32(half))
    if count % 2:  # pad an odd count with a 0
        second = select_n(
            lt(second, np.uint32(count)), broadcast_in_dim(np.uint32(0), (half,)), second
        )
    ndim = aval_of(data).ndim - 1
    if ndim:
        new = tuple(range(ndim))
        first, second = expand_dims(first, new), expand_dims(second, new)
    words = threefry2x32_p.bind(*_key_words(data, 1), first, second)
    joined = concatenate(words, ndim)
    if not count % 2:
        return joined
    shape = aval_of(joined).shape
    return slice_(joined, (0,) * (ndim + 1), (*shape[:-1], count))


def _bits_in_halves(data: Any, bit_width: int, shape: tuple) -> Any:
    keys = aval_of(data).shape[:-1]
    size = math.prod(shape)
    count = -(-size * bit_width // 32)
    words = _enciphered_in_halves(data, count)
    n = len(keys)
    if bit_width == 64:
        high, low = [
            convert(slice_(words, (*(0 for _ in keys), a), (*keys, a + size)), _U64)
            for a in (0, size)
        ]
        words = bitwise_or(shift_left(high, wide(32)), low)
    elif bit_width < 32:
        parts = 32 // bit_width
        distances = mul(iota_p.bind(dtype=_U32, shape=(parts,), dimension=0), np.uint32(bit_width))
        spread = expand_dims(words, (n + 1,))
        distances = expand_dims(distances, tuple(range(n + 1)))
        narrow = convert(shift_right_logical(spread, distances), OF_WIDTH[bit_width])
        flat = reshape(narrow, (*keys, count * parts))
        words = slice_(flat, (0,) * (n + 1), (*keys, size))
    return reshape(words, (*keys, *shape))


# by XLA's generator --------------------------------------------------------------------------------------


def _engine_bits(data: Any, bit_width: int, shape: tuple) -> Any:
    """Draw bits for each key; those of several keys all come from the first one."""
    keys = aval_of(data).shape[:-1]
    _, bits = rng_bit_generator_p.bind(
        first_of(data, 1) if keys else data,
        shape=(*keys, *shape),
        dtype=OF_WIDTH[bit_width],
        algorithm=RandomAlgorithm.RNG_DEFAULT,
    )
    return bits


def _doubled_seed(seeds: Any) -> Any:
    half = _seed_as_key(seeds)
    return concatenate([half, half], aval_of(half).ndim - 1)


def _half_keys(data: Any) -> Any:
    """Return uint32[*keys, 4] as two threefry keys each."""
    return reshape(data, (*aval_of(data).shape[:-1], 2, 2))


def _rbg_split(data: Any, shape: tuple) -> Any:
    keys = aval_of(data).ndim - 1
    parts = _threefry_split(_half_keys(data), shape)  # [*keys, 2, *shape, 2]
    last = keys + 1 + len(shape)
    order = (*range(keys), *range(keys + 1, last), keys, last)
    return reshape(transpose(parts, order), (*aval_of(data).shape[:-1], *shape, 4))


def _rbg_fold_in(data: Any, numbers: Any) -> Any:
    ndim = aval_of(numbers).ndim
    if ndim:  # both halves of a key take the same number
        numbers = expand_dims(numbers, (ndim,))
        if aval_of(data).ndim == 1:
            data = broadcast_in_dim(data, (*aval_of(numbers).shape[:-1], 4), (ndim,))
    halves = _threefry_fold_in(_half_keys(data), numbers)
    return reshape(halves, (*aval_of(halves).shape[:-2], 4))


_STRIDE = 10  # adjacent states are correlated: take every tenth


def _unsafe_split(data: Any, shape: tuple) -> Any:
    keys = aval_of(data).shape[:-1]
    count = math.prod(shape)
    bits = _engine_bits(data, 32, (_STRIDE * count, 4))
    n = len(keys)
    taken = slice_(bits, (0,) * (n + 2), aval_of(bits).shape, (*(1 for _ in keys), _STRIDE, 1))
    return reshape(taken, (*keys, *shape, 4))


def _unsafe_fold_in(data: Any, numbers: Any) -> Any:
    bits = _engine_bits(_doubled_seed(numbers), 32, (_STRIDE, 4))
    shape = aval_of(bits).shape
    n = len(shape) - 2
    last = slice_(bits, (*(0 for _ in range(n)), _STRIDE - 1, 0), shape)
    last = reshape(last, (*shape[:n], 4))
    # one key with many numbers, or many with one
    joint = max(aval_of(data).shape, aval_of(last).shape, key=len)
    full = [
        x
        if dims.same_shape(aval_of(x).shape, joint)
        else broadcast_in_dim(x, joint, (len(joint) - 1,))
        for x in (data, last)
    ]
    return bitwise_xor(*full)


# registration --------------------------------------------------------------------------------------------

threefry_prng_impl = register_impl(
    PRNGImpl(
        "threefry2x32",
        "fry",
        (2,),
        _seed_as_key,
        _threefry_split,
        _threefry_bits,
        _threefry_fold_in,
        _bits_of_counters(threefry2x32_p, 2),
    )
)
threefry4x32_prng_impl = register_impl(
    PRNGImpl(
        "threefry4x32",
        "fry4",
        (4,),
        _seed_enciphered(threefry4x32_p, 4, 0, 6),
        _split(threefry4x32_p, 4, 4),
        _bits(threefry4x32_p, 4),
        _fold_in(threefry4x32_p, 4, 4),
    )
)
philox2x32_prng_impl = register_impl(
    PRNGImpl(
        "philox2x32",
        "phx2",
        (1,),
        _seed_enciphered(philox2x32_p, 1, 1, 0),
        _split(philox2x32_p, 1, 2),
        _bits(philox2x32_p, 2),
        _fold_in(philox2x32_p, 1, 2),
    )
)
philox4x32_prng_impl = register_impl(
    PRNGImpl(
        "philox4x32",
        "phx4",
        (2,),
        _seed_enciphered(philox4x32_p, 2, 2, 2),
        _split(philox4x32_p, 2, 4),
        _bits(philox4x32_p, 4, folded=False),
        _fold_in(philox4x32_p, 2, 4),
    )
)
rbg_prng_impl = register_impl(
    PRNGImpl("rbg", "rbg", (4,), _doubled_seed, _rbg_split, _engine_bits, _rbg_fold_in)
)
unsafe_rbg_prng_impl = register_impl(
    PRNGImpl(
        "unsafe_rbg", "urbg", (4,), _doubled_seed, _unsafe_split, _engine_bits, _unsafe_fold_in
    )
)

__all__ = [
    "implementation",
    "implementation_names",
    "philox2x32_prng_impl",
    "philox4x32_prng_impl",
    "rbg_prng_impl",
    "threefry4x32_prng_impl",
    "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]
