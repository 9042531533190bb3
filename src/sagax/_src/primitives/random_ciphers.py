"""Define the block ciphers of random bits: threefry and philox.

They are those of J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011,
on 2 or 4 words of 32 bits. A block depends only on the key and on the enciphered words, so that devices can
compute shards of a random array independently.

Each cipher is a primitive. Its operands are the words of the key and of the block: uint32 scalars, or arrays of
one rank whose sizes are equal or 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src.core import dims
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import FORMULA, WHOLE, Recompute
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, u32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import set_zero_derivative
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import DtypeError
from sagax._src.primitives.arithmetic import add, mul
from sagax._src.primitives.bitwise import bitwise_or, bitwise_xor, shift_left, shift_right_logical
from sagax._src.primitives.makers import elementwise_shape
from sagax._src.primitives.structural import convert, expand_dims, moveaxis

_I32, _U32, _U64 = np.dtype(np.int32), np.dtype(np.uint32), np.dtype(np.uint64)


def wide(value: int) -> Any:
    """Return an int as a uint64 scalar, also where literals have at most 32 bits."""
    low = convert(np.uint32(value & 0xFFFFFFFF), _U64)
    if value < 1 << 32:
        return low
    return bitwise_or(shift_left(convert(np.uint32(value >> 32), _U64), wide(32)), low)


# the ciphers, in terms of the operations of `ops` ------------------------------------------------------

Words = list[Any]

_PARITY = 0x1BD11BDA
# for each of eight rounds, the rotation of each pair of words
_ROTATIONS = {
    2: ((13,), (15,), (26,), (6,), (17,), (29,), (16,), (24,)),
    4: ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)),
}


def _threefry(key: Words, block: Words, ops: Any) -> Words:
    """Run 20 rounds of adding, rotating and xor; after each four add the key, rotated by a word."""
    n = len(block)
    parity = functools.reduce(ops.xor, key, ops.word(_PARITY))
    schedule = [*key, parity]
    x = [ops.add(b, k) for b, k in zip(block, key, strict=True)]
    for i in range(20):
        for pair, distance in enumerate(_ROTATIONS[n][i % 8]):
            left, right = 2 * pair, 2 * pair + 1
            x[left] = ops.add(x[left], x[right])
            x[right] = ops.xor(x[left], ops.rotate(x[right], distance))
        if n == 4:
            x[1], x[3] = x[3], x[1]
        if i % 4 == 3:
            s = i // 4 + 1
            subkey = [schedule[(s + j) % (n + 1)] for j in range(n)]
            subkey[-1] = ops.add(subkey[-1], ops.word(s))
            x = [ops.add(w, k) for w, k in zip(x, subkey, strict=True)]
    return x


_MULTIPLIERS = {2: (0xD256D193,), 4: (0xD2511F53, 0xCD9E8D57)}
_STEPS = (0x9E3779B9, 0xBB67AE85)


def _philox(key: Words, block: Words, ops: Any) -> Words:
    """Run 10 rounds of long multiplication, whose halves spread over the block; the key is incremented."""
    x, key = list(block), list(key)
    for i in range(10):
        if i:
            key = [ops.add(k, ops.word(s)) for k, s in zip(key, _STEPS, strict=False)]
        products = [ops.multiply(x[2 * j], m) for j, m in enumerate(_MULTIPLIERS[len(x)])]
        turned = products[1:] + products[:1]
        out = []
        for j, (high, low) in enumerate(turned):
            out += [ops.xor(ops.xor(high, x[2 * j + 1]), key[j]), low]
        x = out
    return x


class _Lax:
    """Implement the operations of the ciphers on traced values."""

    word = np.uint32
    add = staticmethod(add)
    xor = staticmethod(bitwise_xor)

    @staticmethod
    def rotate(x: Any, distance: int) -> Any:
        right = shift_right_logical(x, np.uint32(32 - distance))
        return bitwise_or(shift_left(x, np.uint32(distance)), right)

    @staticmethod
    def multiply(x: Any, factor: int) -> tuple[Any, Any]:
        product = mul(convert(x, _U64), wide(factor))
        return convert(shift_right_logical(product, wide(32)), _U32), convert(product, _U32)


class _Numpy:
    """Implement the operations of the ciphers on NumPy arrays."""

    word = np.uint32
    add = staticmethod(np.add)
    xor = staticmethod(np.bitwise_xor)

    @staticmethod
    def rotate(x: Any, distance: int) -> Any:
        return (x << np.uint32(distance)) | (x >> np.uint32(32 - distance))

    @staticmethod
    def multiply(x: Any, factor: int) -> tuple[Any, Any]:
        product = x.astype(np.uint64) * np.uint64(factor)
        return (product >> np.uint64(32)).astype(np.uint32), product.astype(np.uint32)


class _Hlo:
    """Implement the operations of the ciphers on arrays of one type in a module under construction."""

    def __init__(self, b: Any, aval: ShapedArray) -> None:
        self.b, self.aval = b, aval

    def word(self, value: int) -> Any:
        return self.b.full(value, self.aval)

    def add(self, x: Any, y: Any) -> Any:
        return self.b.op("add", [x, y], self.aval)

    def xor(self, x: Any, y: Any) -> Any:
        return self.b.op("xor", [x, y], self.aval)

    def rotate(self, x: Any, distance: Any) -> Any:
        rest = self.b.op("subtract", [self.word(32), distance], self.aval)
        left = self.b.op("shift_left", [x, distance], self.aval)
        right = self.b.op("shift_right_logical", [x, rest], self.aval)
        return self.b.op("or", [left, right], self.aval)


# XLA for the CPU runs an executable in the calling thread if it estimates fewer than 1,000 operations. It
# counts a loop as one iteration: a loop thus keeps small draws in the calling thread, which is faster.
_LOOPED = range(7, 17)  # blocks; fewer pass unrolled, more exceed the limit either way


def _threefry_loop(b: Any, key: Words, block: Words, shape: tuple) -> Words:
    """Compute threefry of two words in a loop of five iterations: four rounds and an addition of the key."""
    scalar, number = intern_aval((), _U32, False, None), intern_aval((), _I32, False, None)
    on_scalars = _Hlo(b, scalar)
    parity = functools.reduce(on_scalars.xor, key, on_scalars.word(_PARITY))
    schedule = [*key, parity]
    turns = range(1, 6)
    added = [
        *[schedule[s % 3] for s in turns],
        *[on_scalars.add(schedule[(s + 1) % 3], on_scalars.word(s)) for s in turns],
    ]
    table = b.concatenate([b.reshape(x, (1,)) for x in added], 0)
    distances = b.constant(
        np.array([[_ROTATIONS[2][(4 * t + j) % 8][0] for t in range(5)] for j in range(4)], _U32)
    )
    distances = b.reshape(distances, (20,))
    out = intern_aval(shape, _U32, False, None)
    ops = _Hlo(b, out)
    one = intern_aval((1,), _U32, False, None)

    def iteration_word(words: Any, offset: int, iteration: Any) -> Any:
        at = b.op("add", [iteration, b.constant(5 * offset, _I32)], number)
        found = b.op("dynamic_slice", [words, at], one, slice_sizes=b.ints((1,)))
        return b.stretch(b.reshape(found, ()), shape)

    def body(iteration: Any, x: Any, y: Any) -> list:
        for j in range(4):
            x = ops.add(x, y)
            y = ops.xor(x, ops.rotate(y, iteration_word(distances, j, iteration)))
        x, y = [ops.add(w, iteration_word(table, i, iteration)) for i, w in enumerate((x, y))]
        return [b.op("add", [iteration, b.constant(1, _I32)], number), x, y]

    first = [
        b.stretch(on_scalars.add(w, k), shape)
        if not w.aval.shape
        else ops.add(b.stretch(w, shape), b.stretch(k, shape))
        for w, k in zip(block, key, strict=True)
    ]
    limit = b.constant(5, _I32)
    start = b.constant(0, _I32)
    return b.while_loop([start, *first], lambda t, *_: b.compare("LT", t, limit), body)[1:]


# as primitives --------------------------------------------------------------------------------------------


def _cipher(
    name: str,
    key_words: int,
    block_words: int,
    cipher: Callable[[Words, Words, Any], Words],
    loop: Callable[[Any, Words, Words, tuple], Words] | None = None,
) -> Primitive:
    p = Primitive(
        name, multiple_results=True, exact=True,
        family=FORMULA, latency=100, recomputes=Recompute.REPEATEDLY, mask_rule=WHOLE.answers["mask_rule"],
    )  # fmt: skip
    count = key_words + block_words

    def apply(operands: Sequence[Any], ops: Any) -> Words:
        return cipher(list(operands[:key_words]), list(operands[key_words:]), ops)

    @functools.lru_cache(maxsize=1024)
    def unrolled(avals: tuple) -> Jaxpr:
        # XLA fuses it with the computation of counters and with consumers
        return stage(lambda *xs: apply(xs, _Lax), avals)[0]

    @p.abstract
    def _(*avals: ShapedArray) -> list:
        if len(avals) != count or any(a.dtype != _U32 for a in avals):
            raise DtypeError(
                function=name,
                got=", ".join(a.str_short(short_dtypes=True) for a in avals),
                expected=f"{count} operands of dtype uint32",
            )
        shape = elementwise_shape(name, [a.shape for a in avals])
        return [intern_aval(shape, _U32, False, None)] * block_words

    @p.reference
    def _(*operands: np.ndarray) -> list:
        shape = np.broadcast_shapes(*[x.shape for x in operands])
        with np.errstate(over="ignore"):
            return [np.broadcast_to(x, shape) for x in apply(operands, _Numpy)]

    set_zero_derivative(p)

    @p.batch
    def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any]) -> tuple:
        ndims = [aval_of(x).ndim - (d is not None) for x, d in zip(args, in_dims, strict=True)]
        rank = max(ndims)
        aligned = []
        for x, d, ndim in zip(args, in_dims, ndims, strict=True):
            if d is not None:
                x = moveaxis(x, d, 0)
                if ndim < rank:  # a scalar of each example
                    x = expand_dims(x, tuple(range(1, rank + 1)))
            elif ndim:
                x = expand_dims(x, (0,))
            aligned.append(x)
        return p.bind(*aligned), [0] * block_words

    @p.lower
    def _(b: Any, *operands: Any) -> list:
        shape = b.outs[0].shape
        key, block = list(operands[:key_words]), list(operands[key_words:])
        if loop is not None and b.module.platform == "cpu" and _one_key_for_few(key, shape):
            return loop(b, key, block, shape)
        outs = b.call(unrolled(tuple([x.aval for x in operands])), operands, name)
        return [b.stretch(x, shape) for x in outs]

    p.samples = [
        Sample(*[u32()] * key_words, *[u32(10)] * block_words),
        Sample(*[u32(2, 1)] * key_words, u32(1, 3), *[u32()] * (block_words - 1)),
    ]
    return p


def _one_key_for_few(key: Words, shape: tuple) -> bool:
    """Return whether a loop is faster: one key enciphers a number of blocks in `_LOOPED`."""
    one_key = not any(x.aval.shape for x in key)
    return one_key and dims.is_static(shape) and math.prod(shape) in _LOOPED


threefry2x32_p = _cipher("threefry2x32", 2, 2, _threefry, _threefry_loop)
threefry4x32_p = _cipher("threefry4x32", 4, 4, _threefry)
philox2x32_p = _cipher("philox2x32", 1, 2, _philox)
philox4x32_p = _cipher("philox4x32", 2, 4, _philox)
