"""Draw permutations, choices and categories."""

from __future__ import annotations

import functools
import math
import operator
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src import config, tuning
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.arithmetic import add, min, mul, sub
from sagax._src.primitives.bitwise import bitwise_and, bitwise_or, shift_left
from sagax._src.primitives.comparison import ge, le, lt
from sagax._src.primitives.cumulative import cumsum
from sagax._src.primitives.gathering import GatherDimensionNumbers, gather
from sagax._src.primitives.random_ciphers import wide
from sagax._src.primitives.reductions import argmax
from sagax._src.primitives.resharding import takes_out_sharding
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import iota_p, size_as_value, stack
from sagax._src.primitives.slicing import slice_in_dim
from sagax._src.primitives.sorting import sort, top_k
from sagax._src.primitives.structural import convert, expand_dims, moveaxis, reshape
from sagax._src.primitives.transcendental import log
from sagax._src.runtime.array import ConcreteArray, from_host
from sagax.random._arguments import (
    batch_shape,
    default_float_of,
    lift,
    operand_aval,
    parameter,
    scalar,
    shape_of,
    stretch,
    typed_key,
)
from sagax.random._basic import draw_bits, integers, subkeys, unit
from sagax.random._continuous import draw_gumbel, gumbel_mode
from sagax.random._sampler import cached_jit

_thread = config.thread
_U64 = np.dtype(np.uint64)
_I32 = np.dtype(np.int32)


def take(x: Any, indices: Any, axis: int) -> Any:
    """Take slices of `x` at indices along `axis`; their dimensions replace that axis.

    All indices must lie in the array.
    """
    shape, ndim = aval_of(x).shape, aval_of(indices).ndim
    inner = tuple(range(axis)) + tuple(range(axis + ndim, len(shape) - 1 + ndim))
    numbers = GatherDimensionNumbers(
        offset_dims=inner, collapsed_slice_dims=(axis,), start_index_map=(axis,)
    )
    sizes = (*shape[:axis], 1, *shape[axis + 1 :])
    return gather(x, expand_dims(indices, (ndim,)), numbers, sizes, mode="promise_in_bounds")


# permutations ---------------------------------------------------------------------------------------


def _sort_count(size: Any) -> int:
    """Return the number of sorts by random 32-bit keys after which ties do not matter.

    For a symbolic size, that of its upper bound.
    """
    if dims.is_dim(size):
        most = dims.bounds(size)[1]
        size = np.iinfo(np.int32).max if most is None else most
    return math.ceil(3 * math.log(max(1, size)) / math.log(np.iinfo(np.uint32).max))


def _after_sorts(found: list, size: Any) -> Any:
    """Select, of the results after 0, 1, ... sorts, the one for `size` elements."""
    if not dims.is_dim(size):
        return found[-1]
    value = convert(size_as_value(size), _I32)
    out = found[0]
    for k, later in enumerate(found[1:], 1):
        least = _least_size(k)  # that takes `k` sorts
        out = select_n(ge(value, np.int32(least)), out, later)
    return out


@functools.cache
def _least_size(sorts: int) -> int:
    """Return the least size that takes this many sorts."""
    low, high = 0, 2**31 - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _sort_count(middle) >= sorts else (middle + 1, high)
    return low


def _sort_keys(key: Any, n: int) -> list:
    """For each sort, 64-bit integers: random bits above, positions below.

    Their order is that of a stable sort by the random bits alone.
    """
    positions = iota_p.bind(dtype=_U64, shape=(n,), dimension=0)
    found = []
    for _ in range(_sort_count(n)):
        key, part = subkeys(key, 2)
        bits = convert(draw_bits(part, (n,), 32), _U64)
        found.append(bitwise_or(shift_left(bits, wide(32)), positions))
    return found


def random_order(key: Any, n: int, dtype: Any) -> Any:
    """Draw a random order of the numbers below `n`, in a traced function."""
    found: list = []
    for keys in _sort_keys(key, n):
        positions = convert(sort(keys, 0, is_stable=False), np.dtype(np.uint32))
        step = convert(positions, dtype)
        found.append(take(found[-1], step, 0) if found else step)
    if not found or dims.is_dim(n):
        found.insert(0, iota_p.bind(dtype=dtype, shape=(n,), dimension=0))
    return _after_sorts(found, n)


@cached_jit
def _packed_sort_keys(n: int) -> Callable[..., Any]:
    return lambda key: stack(_sort_keys(key, n))


@cached_jit
def _permuted_range(n: int, dtype: Any) -> Callable[..., Any]:
    return lambda key: random_order(key, n, dtype)


def _order(key: Any, n: int, dtype: Any) -> Any:
    """Draw the numbers below `n` in random order."""
    concrete = state.trace is evaluation and isinstance(key, ConcreteArray)
    if concrete and n >= tuning.PERMUTATION_MIN_ELEMENTS_ON_HOST:
        if key._where().platform == "cpu":
            return _order_on_host(key, n, dtype)
    return _permuted_range(n, dtype)(key)


def _order_on_host(key: ConcreteArray, n: int, dtype: Any) -> ConcreteArray:
    order = None
    order_of = _by_comparing if _comparing_is_faster() else _by_counting
    for keys in _packed_sort_keys(n)(key).host():
        step = order_of(keys)
        order = step if order is None else order[step]
    assert order is not None
    host = order.astype(dtype)
    host.flags.writeable = False
    found = from_host(host)
    return found if key._device is None else ConcreteArray(found.aval, host, None, key._device)


def _by_comparing(keys: np.ndarray) -> np.ndarray:
    """Sort the keys themselves; their positions are the order."""
    return np.sort(keys).astype(np.uint32)


def _by_counting(keys: np.ndarray) -> np.ndarray:
    """Sort by the upper half of the keys, 16 bits at a time: a radix sort of NumPy's."""
    lower, upper = (
        (keys >> _U64.type(32)).astype(np.uint16),
        (keys >> _U64.type(48)).astype(np.uint16),
    )
    return np.lexsort((lower, upper))


@functools.cache
def _comparing_is_faster() -> bool:
    """Return whether NumPy sorts 64-bit integers on this host in less than twice the time of a radix sort.

    On AMD's Zen 4 a million integers take 12 to 16 ms with AVX2, and 53 to 59 ms with AVX-512, which
    NumPy prefers; a radix sort takes 22 to 33 ms. Measured once, in some milliseconds. The order is the
    same.
    """
    positions = np.arange(1 << 14, dtype=_U64)
    numbers = (positions * _U64.type(2654435761)) & _U64.type(0xFFFFFFFF)  # far apart, as if random
    keys = (numbers << _U64.type(32)) | positions

    def seconds(order_of: Callable[[np.ndarray], np.ndarray]) -> float:
        return sorted(timeit.repeat(lambda: order_of(keys), number=1, repeat=3))[0]

    return seconds(_by_comparing) < 2 * seconds(_by_counting)


@cached_jit
def _shuffle(axis: int) -> Callable[..., Any]:
    def draw(key: Any, x: Any) -> Any:
        shape = aval_of(x).shape
        found = [x]
        for _ in range(_sort_count(math.prod(shape))):
            key, part = subkeys(key, 2)
            _, x = sort((draw_bits(part, shape, 32), x), axis)
            found.append(x)
        return _after_sorts(found, math.prod(shape))

    return draw


@cached_jit
def _taken(axis: int) -> Callable[..., Any]:
    return lambda x, indices: take(x, indices, axis)


@takes_out_sharding
def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Array:
    """Permute the slices of `x` along `axis`; for an int, the numbers below it.

    With `independent`, permute each vector along the axis by itself.

    Raises TypeError if `key` is no key or a scalar that is no integer, ValueError for an array of
    keys or an axis that `x` does not have.

    >>> random.permutation(random.key(0), 5).shape
    (5,)
    """
    name = "permutation"
    typed = typed_key(name, key)
    aval = _population_aval(name, "x", x)
    axis = canonical_axis(axis, aval.ndim or 1, name)
    if not aval.ndim:
        n = max(_size(name, "x", x), 0)
        return _order(typed, n, dtypes.default_int(_thread.settings.x64))
    if not isinstance(x, Array):
        x = parameter(name, "x", x, aval.dtype)
    if independent and aval.ndim > 1:
        return _shuffle(axis)(typed, x)
    n = aval.shape[axis]
    if dims.is_static(aval.shape) and (n < 2 or not math.prod(aval.shape)):
        return x
    return _taken(axis)(x, _order(typed, n, _I32))


def _population_aval(function: str, argument: str, x: Any) -> Any:
    """Return the aval of a population: an int, or an array of any dtype."""
    if isinstance(x, Array):  # keys are allowed, too
        return x.aval
    return operand_aval(function, argument, x)


def _size(function: str, argument: str, x: Any) -> int:
    """Convert a scalar to the size of a population."""
    if dtypes.kind(aval_of(x).dtype) not in "iu":
        raise ArgumentError(
            f"{argument} must be an integer or at least 1-dimensional",
            function=function,
            argument=argument,
            got=x,
            expected="an int, or an array with at least one dimension",
        )
    return operator.index(x)


# choices --------------------------------------------------------------------------------------------


def _count(n: Any, shape: tuple) -> Any:
    """Convert a size to int32, for arithmetic with arrays of this shape."""
    if dims.is_dim(n):
        return stretch(convert(size_as_value(n), _I32), shape)
    return np.int32(n)


def count_below(ascending: Any, x: Any) -> Any:
    """Count the elements of an ascending vector below each element of `x`, by bisection."""
    n = aval_of(ascending).shape[0]
    found = stretch(np.int32(0), aval_of(x).shape)
    # `found` elements lie below; try to go on by ever smaller powers of two
    count, bits = _count(n, aval_of(x).shape), 31 if dims.is_dim(n) else n.bit_length()
    for bit in reversed(range(bits)):
        target_rank = add(found, np.int32(1 << bit))
        last_index = sub(min(target_rank, count), np.int32(1))
        below = bitwise_and(le(target_rank, count), lt(take(ascending, last_index, 0), x))
        found = select_n(below, found, target_rank)
    return found


@cached_jit
def _weighted(shape: tuple, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, p: Any) -> Any:
        # the inverse of the distribution function at uniform numbers
        weights, n = aval_of(p).dtype, aval_of(p).shape[0]
        sums = cumsum(p, 0)
        total = reshape(slice_in_dim(sums, n - 1, n), ())
        u = sub(scalar(1, weights), unit(key, shape, weights))
        return convert(count_below(sums, mul(total, u)), dtype)

    return draw


@cached_jit
def _weighted_distinct(count: int, mode: str, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, p: Any) -> Any:
        # the greatest of logarithmic weights with Gumbel noise: W. Kool, H. van Hoof, M. Welling,
        # "Stochastic beams and where to find them", ICML 2019
        noise = draw_gumbel(key, aval_of(p).shape, aval_of(p).dtype, mode)
        return convert(top_k(add(noise, log(p)), count)[1], dtype)

    return draw


@cached_jit
def _uniform_indices(shape: tuple, n: int, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any) -> Any:
        high = convert(size_as_value(n), dtype) if dims.is_dim(n) else scalar(n, dtype)
        return integers(key, shape, dtype, scalar(0, dtype), high)

    return draw


@cached_jit
def _first(count: int) -> Callable[..., Any]:
    return lambda x: slice_in_dim(x, 0, count)


@cached_jit
def _reshaped(shape: tuple) -> Callable[..., Any]:
    return lambda x: reshape(x, shape)


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: Any = None,
) -> Array:
    """Choose random slices of `a` along an axis (for an int: numbers below it), `shape` of them.

    The dimensions of `shape` replace that axis.

    Args:
      replace: whether a slice may be chosen several times.
      p: the weights of the slices, a vector. Default: uniform.
      mode: the precision of the noise for `p` without replacement, as in `gumbel`.

    Raises:
      TypeError: `key` is no key, `a` no int and no array.
      ValueError: `a` is empty, more choices than slices without replacement, a vector `p` of the wrong
        length, an array of keys.

    >>> random.choice(random.key(0), 10, (3,), replace=False).shape
    (3,)
    """
    name = "choice"
    typed = typed_key(name, key)
    shape = shape_of(name, shape)
    aval = _population_aval(name, "a", a)
    axis = canonical_axis(axis, aval.ndim, name) if aval.ndim else 0  # numbers have no axis
    n = aval.shape[axis] if aval.ndim else _size(name, "a", a)
    count = math.prod(shape)
    if n < 1 and count:
        raise ArgumentValueError(
            "a must be greater than 0 unless no samples are taken",
            function=name,
            argument="a",
            got=a if aval.ndim else n,
            expected="something to pick from",
        )
    if not replace and count > n:
        raise ArgumentValueError(
            f"Cannot take a larger sample (size {count}) than population (size {n}) when 'replace=False'",
            function=name,
            argument="shape",
            got=shape,
            expected=f"at most {n} picks",
            fix="pass replace=True",
        )
    if p is not None:
        p = _weights(p, n)
    # the width of the positions decides what is drawn
    dtype = dtypes.default_int(_thread.settings.x64)
    indices = _indices(typed, n, shape, count, bool(replace), p, mode, dtype)
    if not aval.ndim:
        return indices
    if not isinstance(a, Array):
        a = parameter(name, "a", a, aval.dtype)
    return _taken(axis)(a, indices)


def _indices(
    key: Any, n: int, shape: tuple, count: int, replace: bool, p: Any, mode: Any, dtype: Any
) -> Any:
    if not count:
        return _zeros(shape, dtype)()
    if replace:
        return (
            _uniform_indices(shape, n, dtype)(key) if p is None else _weighted(shape, dtype)(key, p)
        )
    if p is None:
        found = _order(key, n, dtype)
        found = found if dims.same(count, n) else _first(count)(found)
    else:
        found = _weighted_distinct(count, gumbel_mode("choice", mode), dtype)(key, p)
    return found if dims.same_shape(shape, (count,)) else _reshaped(shape)(found)


@cached_jit
def _zeros(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda: stretch(scalar(0, dtype), shape)


def _weights(p: Any, n: int) -> Any:
    aval = operand_aval("choice", "p", p)
    if aval.shape != (n,):
        raise ArgumentValueError(
            f"p must be None or a 1D vector with the same size as a.shape[axis]. "
            f"p has shape {aval.shape} and a.shape[axis] is {n}.",
            function="choice",
            argument="p",
            got=p,
            expected=f"a probability for each of the {n} slices: shape ({n},)",
        )
    return parameter("choice", "p", p, default_float_of("choice", p))


# categories -----------------------------------------------------------------------------------------


@cached_jit
def _categorical(noise_shape: tuple, axis: int, mode: str, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, logits: Any) -> Any:
        noise = draw_gumbel(key, noise_shape, aval_of(logits).dtype, mode)
        return argmax(add(noise, lift(logits, len(noise_shape))), axis, dtype)

    return draw


@cached_jit
def _distinct_categories(shape: tuple, count: int, axis: int, mode: str) -> Callable[..., Any]:
    def draw(key: Any, logits: Any) -> Any:
        noise = draw_gumbel(key, aval_of(logits).shape, aval_of(logits).dtype, mode)
        found = top_k(add(noise, logits), count, axis=axis)[1]
        return reshape(moveaxis(found, axis, 0), shape)

    return draw


@takes_out_sharding
def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw indices along an axis of `logits`, with probabilities in proportion to exp(logits).

    The result has the shape of `logits` without that axis; or `shape`, which must end with it: its
    leading dimensions are for several draws from each distribution, distinct without `replace`. `mode` is that of `gumbel`.

    Raises TypeError if `key` is no key, or logits that are no array; ValueError for an array of
    keys, integer logits, a shape or axis that does not fit, or more draws without replacement than
    categories.

    >>> random.categorical(random.key(0), np.log([0.1, 0.0001, 0.9])).shape
    ()
    """
    name = "categorical"
    typed = typed_key(name, key)
    aval = operand_aval(name, "logits", logits)
    if dtypes.kind(aval.dtype) != "f":
        raise ArgumentValueError(
            function=name,
            argument="logits",
            got=logits,
            expected="logarithms of probabilities, in a float dtype",
            fix="convert them with astype(float)",
        )
    axis = canonical_axis(axis, aval.ndim, name)
    if not aval.shape[axis]:
        raise ArgumentValueError.about(name, "logits", logits, "at least one category")
    mode = gumbel_mode(name, mode)
    batch = (*aval.shape[:axis], *aval.shape[axis + 1 :])
    shape = batch_shape(name, shape, batch)
    logits = parameter(name, "logits", logits, aval.dtype)
    prefix = shape[: len(shape) - len(batch)]
    dtype = dtypes.default_int(_thread.settings.x64)
    if replace:
        inner = shape[len(prefix) :]
        noise_shape = (*prefix, *inner[:axis], aval.shape[axis], *inner[axis:])
        return _categorical(noise_shape, len(prefix) + axis, mode, dtype)(typed, logits)
    count = math.prod(prefix)
    if count > aval.shape[axis]:
        raise ArgumentValueError(
            f"Number of samples without replacement ({count}) cannot exceed number of categories ({aval.shape[axis]}).",
            function=name,
            argument="shape",
            got=shape,
            expected=f"at most {aval.shape[axis]} draws from each distribution",
            fix="pass replace=True",
        )
    return _distinct_categories(shape, count, axis, mode)(typed, logits)
