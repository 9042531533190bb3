"""Define key dtypes, the primitives on keys, and XLA's generators.

The dtype of a key array is an `ExtendedDType` with its implementation. The operations on keys (`random_bits`,
`random_split`, ...) are primitives, so that jaxprs show the use of keys. The implementation
(random_implementations.py) defines their results, in terms of the numbers of a key (`random_unwrap`).
"""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.dtypes import ExtendedDType, prng_key
from sagax._src.core.families import FORMULA, KEYS, WHOLE, Recompute, shard_as_first
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import set_zero_derivative
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from sagax._src.frozen_class import record
from sagax._src.languages.choice import worded
from sagax._src.primitives.makers import (
    Accepts,
    broadcast_to,
    elementwise,
    elementwise_shape,
    integer,
)
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.shaping import concatenate, full
from sagax._src.primitives.slicing import slice as slice_
from sagax._src.primitives.structural import convert, expand_dims, moveaxis, reshape

_U8, _U16, _U32, _U64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
OF_WIDTH = {8: _U8, 16: _U16, 32: _U32, 64: _U64}


# implementations and dtypes -------------------------------------------------------------------------


@record(eq=False)
class PRNGImpl:
    """Define a PRNG implementation by functions on the numbers of its keys.

    The functions take the numbers of an array of keys, uint32[*keys, *key_shape]:

        seed(seeds: int[*keys])                  -> uint32[*keys, *key_shape]
        split(data, shape)                       -> uint32[*keys, *shape, *key_shape]
        random_bits(data, bit_width, shape)      -> uint<bit_width>[*keys, *shape]
        fold_in(data, numbers: uint32[*keys])    -> uint32[*keys, *key_shape]

    In `fold_in` one of the two may be for a single key (or number), which broadcasts over the other. `name`
    selects it, `tag` is its name in dtypes. Implementations are compared by identity.
    """

    name: str
    tag: str
    key_shape: tuple[int, ...]
    seed: Callable[..., Any]
    split: Callable[..., Any]
    random_bits: Callable[..., Any]
    fold_in: Callable[..., Any]
    # (uint32[*keys] for each word, bit_width, counters) -> bits, for counter-based implementations
    bits_of_counters: Callable[..., Any] | None = None

    def __str__(self) -> str:
        return self.tag

    def __repr__(self) -> str:
        return f"PRNGImpl({self.name!r})"


@record
class KeyDType(ExtendedDType):
    """A dtype of keys of one implementation; created by `key_dtype`."""

    impl: PRNGImpl

    __hash__ = ExtendedDType.__hash__
    __repr__ = ExtendedDType.__repr__

    def element(self, number: int) -> Any:
        """Return the key with this number in every word: the element of arrays of zeros or ones."""
        return random_wrap_p.bind(full(self.physical_shape, number, _U32), impl=self.impl)

    def __reduce__(self) -> tuple:
        return _named_dtype, (self.impl.name,)


@functools.cache
def key_dtype(impl: PRNGImpl) -> KeyDType:
    """Return the dtype of keys of an implementation."""
    return KeyDType(f"key<{impl.tag}>", prng_key, impl.key_shape, _U32, impl)


# `register_impl` adds implementations; later code looks them up by name.
_implementations: dict[str, PRNGImpl] = {}


def register_impl(impl: PRNGImpl) -> PRNGImpl:
    """Register `impl` under its name."""
    if impl.name in _implementations:
        raise ArgumentValueError.about(
            "register_impl", "impl", repr(impl.name), "a name that is not taken yet"
        )
    _implementations[impl.name] = impl
    return impl


def implementations() -> tuple[PRNGImpl, ...]:
    """Return all registered implementations."""
    return tuple(_implementations.values())


def implementation(name: str) -> PRNGImpl | None:
    """Return the implementation registered under a name, or None."""
    return _implementations.get(name)


def implementation_names() -> list[str]:
    """Return the names of all registered implementations."""
    return list(_implementations)


def _named_dtype(name: str) -> KeyDType:
    if name not in _implementations:  # a pickle may be read before anything has made a key
        importlib.import_module("sagax._src.primitives.random_implementations")
    return key_dtype(_implementations[name])


def is_key_dtype(dtype: Any) -> bool:
    """Return whether it is a dtype of PRNG keys."""
    return isinstance(dtype, KeyDType)


# operations on keys ---------------------------------------------------------------------------------

_keys = Accepts("PRNG keys", is_key_dtype)


def _check_keys(name: str, keys: ShapedArray) -> KeyDType:
    if not is_key_dtype(keys.dtype):
        raise DtypeError(
            function=name,
            argument="keys",
            got=keys,
            expected="an array of PRNG keys",
            fix="make keys with random.key(seed), or of raw numbers with random.wrap_key_data",
        )
    return keys.dtype


def _on_keys(name: str, **answers: Any) -> Primitive:
    """Define a primitive without derivatives whose first operand has one element for each key."""
    p = Primitive(name, family=KEYS, **answers)

    def batch(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
        (x,), (d,) = args, in_dims
        return p.bind(moveaxis(x, d, 0), **params), 0

    p.batch_rule = batch
    set_zero_derivative(p)
    return p


def _shard_keys(call: Any) -> list:
    """Shard results as the keys; the further dimensions of each key are unsharded."""
    cuts = call.cuts[0]
    return [(*cuts, *((),) * (o.ndim - len(cuts))) for o in call.outs]


random_seed_p = _on_keys("random_seed", shard_rule=shard_as_first)


@random_seed_p.abstract
def _(seeds: ShapedArray, *, impl: PRNGImpl) -> ShapedArray:
    if not dtype_predicates.is_integer(seeds.dtype):
        raise DtypeError.about("random_seed", "seeds", seeds, "an array of integers")
    return intern_aval(seeds.shape, key_dtype(impl), False, None)


@random_seed_p.composite
def _(seeds: Any, *, impl: PRNGImpl) -> Any:
    return random_wrap_p.bind(impl.seed(seeds), impl=impl)


def legacy_order() -> dict:
    """Return the parameter that records `threefry_partitionable=False`, else none.

    Formulas are written out when a jaxpr is lowered, outside the block that set the option.
    """
    return {} if config.thread.settings.threefry_partitionable else {"partitionable": False}


@contextlib.contextmanager
def in_order(partitionable: bool) -> Iterator[None]:
    """Set the order of bits with which a primitive was bound."""
    if config.thread.settings.threefry_partitionable == partitionable:
        yield
    else:
        with config.threefry_partitionable(partitionable):
            yield


def random_split(keys: Any, shape: tuple) -> Any:
    """Split each key into keys of this shape, in the order of bits that is set."""
    return random_split_p.bind(keys, shape=shape, **legacy_order())


def random_bits(keys: Any, bit_width: int, shape: tuple) -> Any:
    """Draw unsigned integers of this shape for each key, in the order of bits that is set."""
    return random_bits_p.bind(keys, bit_width=bit_width, shape=shape, **legacy_order())


def folds_like_splits(impl: PRNGImpl) -> bool:
    """Return whether key number i of a split is the key with i folded in, in the order of bits that is set."""
    return impl.bits_of_counters is not None and config.thread.settings.threefry_partitionable


_DRAWN = {"latency": 100, "recomputes": Recompute.REPEATEDLY, "shard_rule": _shard_keys}
random_split_p = _on_keys("random_split", **_DRAWN)


@random_split_p.abstract
def _(keys: ShapedArray, *, shape: tuple, partitionable: bool = True) -> ShapedArray:
    dtype = _check_keys("random_split", keys)
    return intern_aval((*keys.shape, *shape), dtype, False, None)


@random_split_p.composite
def _(keys: Any, *, shape: tuple, partitionable: bool = True) -> Any:
    impl = aval_of(keys).dtype.impl
    with in_order(partitionable):
        return random_wrap_p.bind(impl.split(random_unwrap_p.bind(keys), shape), impl=impl)


random_bits_p = _on_keys("random_bits", **_DRAWN)


@random_bits_p.abstract
def _(
    keys: ShapedArray, *, bit_width: int, shape: tuple, partitionable: bool = True
) -> ShapedArray:
    _check_keys("random_bits", keys)
    dtype = OF_WIDTH.get(bit_width)
    if dtype is None:
        raise ArgumentValueError.about("random_bits", "bit_width", bit_width, "8, 16, 32 or 64")
    return intern_aval((*keys.shape, *shape), dtype, False, None)


@random_bits_p.composite
def _(keys: Any, *, bit_width: int, shape: tuple, partitionable: bool = True) -> Any:
    impl = aval_of(keys).dtype.impl
    with in_order(partitionable):
        return impl.random_bits(random_unwrap_p.bind(keys), bit_width, shape)


def _no_numpy(*_: Any, **__: Any) -> Any:
    raise worded(NotImplementedError("NumPy has no arrays of keys"))


random_fold_in_p = elementwise(
    "random_fold_in",
    2,
    family=FORMULA,
    latency=100,
    recomputes=Recompute.REPEATEDLY,
    handles_keys=True,
    numpy=_no_numpy,
    accepts=(_keys, integer),
    same_dtype=False,
)
random_fold_in_p.reference_rule = None


@random_fold_in_p.composite
def _(keys: Any, numbers: Any) -> Any:
    aval, number_aval = aval_of(keys), aval_of(numbers)
    if aval.ndim and number_aval.ndim:
        shape = elementwise_shape("random_fold_in", [aval.shape, number_aval.shape])
        keys, numbers = broadcast_to(keys, shape), broadcast_to(numbers, shape)
    impl = aval.dtype.impl
    data = impl.fold_in(random_unwrap_p.bind(keys), convert(numbers, _U32))
    return random_wrap_p.bind(data, impl=impl)


random_clone_p = _on_keys("random_clone", shard_rule=shard_as_first)


@random_clone_p.abstract
def _(keys: ShapedArray) -> ShapedArray:
    if keys.dtype != _U32:  # clone the numbers of raw keys too
        _check_keys("random_clone", keys)
    return keys


@random_clone_p.lower
def _(b: Any, keys: Any) -> Any:
    return keys


def shared(x: Any) -> Any:
    """Return `x`, and allow examples or branches to share its keys.

    With `debug_key_reuse` they count as other keys.
    """
    if config.thread.settings.debug_key_reuse:
        dtype = aval_of(x).dtype
        if is_key_dtype(dtype) or dtype == _U32:
            return random_clone_p.bind(x)
    return x


# convert keys to their numbers and back: the same values under another type ------------------------

random_wrap_p = _on_keys("random_wrap")


@random_wrap_p.abstract
def _(data: ShapedArray, *, impl: PRNGImpl) -> ShapedArray:
    split = data.ndim - len(impl.key_shape)
    if data.dtype != _U32 or split < 0 or data.shape[split:] != impl.key_shape:
        raise ShapeError(
            function="random_wrap",
            argument="key_data",
            got=data,
            expected=f"uint32 numbers of shape (..., {', '.join(map(str, impl.key_shape))})",
            fix=f"the implementation {impl.name!r} stores a key so; give the one the numbers come from as impl",
        )
    return intern_aval(data.shape[:split], key_dtype(impl), False, None)


@random_wrap_p.shard
def _(call: Any) -> list:
    ndim = call.outs[0].ndim
    call.check_unsharded(range(ndim, call.avals[0].ndim), "part of each key")
    return [call.cuts[0][:ndim]]


@random_wrap_p.lower
def _(b: Any, data: Any, *, impl: PRNGImpl) -> Any:
    return b.view(data, b.out)


random_unwrap_p = _on_keys("random_unwrap", shard_rule=_shard_keys)


@random_unwrap_p.abstract
def _(keys: ShapedArray) -> ShapedArray:
    dtype = _check_keys("random_unwrap", keys)
    return intern_aval((*keys.shape, *dtype.physical_shape), dtype.physical_dtype, False, None)


@random_unwrap_p.lower
def _(b: Any, keys: Any) -> Any:
    return b.view(keys, b.out)


for _p in (random_seed_p, random_wrap_p):
    _p.show_rule = lambda *, impl: {"impl": impl.tag}


# XLA's generators -----------------------------------------------------------------------------------


class RandomAlgorithm(enum.IntEnum):
    """Select the generator of `rng_bit_generator`."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2

    def __str__(self) -> str:
        return self.name


_ALGORITHMS = {
    RandomAlgorithm.RNG_DEFAULT: "DEFAULT",
    RandomAlgorithm.RNG_THREE_FRY: "THREE_FRY",
    RandomAlgorithm.RNG_PHILOX: "PHILOX",
}

rng_bit_generator_p = Primitive("rng_bit_generator", family=WHOLE, multiple_results=True)


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = np.uint32,
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: Any = None,
) -> tuple[Any, Any]:
    """Return the next state of `key`, and random unsigned integers of the given shape.

    `key` is uint32[4] or, depending on the algorithm, uint64[2] (uint64[3] for PHILOX). The bits may differ
    between devices and versions of XLA; `out_sharding` shards them.

    >>> lax.rng_bit_generator(np.zeros(4, np.uint32), (3,))[1].dtype
    dtype('uint32')
    """
    try:
        algorithm = RandomAlgorithm(algorithm)
    except ValueError:
        raise ArgumentValueError.about(
            "rng_bit_generator", "algorithm", repr(algorithm), "a member of lax.RandomAlgorithm"
        ) from None
    dtype = dtypes.requested_dtype(dtype, "rng_bit_generator")
    if dtype not in OF_WIDTH.values():
        raise DtypeError.about(
            "rng_bit_generator", "dtype", dtypes.name(dtype), "uint8, uint16, uint32 or uint64"
        )
    sizes = dims.canonical_shape(shape, "shape")
    state, bits = rng_bit_generator_p.bind(key, shape=sizes, dtype=dtype, algorithm=algorithm)
    return state, with_out_sharding("rng_bit_generator", lambda x: x, (bits,), out_sharding)


@rng_bit_generator_p.abstract
def _(key: ShapedArray, *, shape: tuple, dtype: Any, algorithm: RandomAlgorithm) -> list:
    accepted = ((4,),) if key.dtype == _U32 else ((2,), (3,)) if key.dtype == _U64 else ()
    if key.shape not in accepted:
        raise ShapeError(
            function="rng_bit_generator",
            argument="key",
            got=key,
            expected="uint32[4], or uint64[2] or uint64[3]",
            fix="random.bits takes keys made by random.key",
        )
    return [key.strip_weak_type(), intern_aval(shape, dtype, False, None)]


set_zero_derivative(rng_bit_generator_p)


def first_of(arrays: Any, ndim: int) -> Any:
    """Return the first of the arrays with `ndim` dimensions that an array consists of."""
    shape = aval_of(arrays).shape
    trailing = shape[len(shape) - ndim :]
    limit = (*(1 for _ in shape[: len(shape) - ndim]), *trailing)
    return reshape(slice_(arrays, (0,) * len(shape), limit), trailing)


@rng_bit_generator_p.batch
def _(
    axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, shape: tuple, **params: Any
) -> tuple:
    # The state of the first example generates the bits of all: they are still independent of each other.
    states = moveaxis(args[0], in_dims[0], 0)
    count = aval_of(states).shape[0]
    first = first_of(states, 1)
    state, bits = rng_bit_generator_p.bind(first, shape=(count, *shape), **params)
    size = aval_of(states).shape[1]
    others = slice_(states, (1, 0), (count, size))
    return [concatenate([expand_dims(state, (0,)), others], 0), bits], [0, 0]


@rng_bit_generator_p.lower
def _(b: Any, key: Any, *, shape: tuple, dtype: Any, algorithm: RandomAlgorithm) -> list:
    narrow = key.dtype == _U32
    state = key
    if narrow:  # XLA takes pairs of words as 64-bit numbers
        pairs = b.reshape(key, (2, 2))
        state = b.op("bitcast_convert", [pairs], intern_aval((2,), _U64, False, None))
    attribute = f"#stablehlo<rng_algorithm {_ALGORITHMS[algorithm]}>"
    outs = [state.aval, intern_aval(shape, dtype, False, None)]
    state, bits = b.op("rng_bit_generator", [state], outs, rng_algorithm=attribute)
    if narrow:
        pairs = b.op("bitcast_convert", [state], intern_aval((2, 2), _U32, False, None))
        state = b.reshape(pairs, (4,))
    return [state, bits]


rng_uniform_p = Primitive("rng_uniform", family=WHOLE)


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Draw uniform numbers in [a, b) from a stateful generator: they differ between runs.

    `a` and `b` are scalars of the dtype of the result. Use `sagax.random` for reproducible numbers from a key.

    >>> lax.rng_uniform(np.float32(0), np.float32(1), (3,)).shape
    (3,)
    """
    return rng_uniform_p.bind(a, b, shape=dims.canonical_shape(shape, "shape"))


@rng_uniform_p.abstract
def _(a: ShapedArray, b: ShapedArray, *, shape: tuple) -> ShapedArray:
    if a.shape or b.shape:
        raise ArgumentValueError(
            function="rng_uniform", got=f"shapes {a.shape} and {b.shape}", expected="scalar bounds"
        )
    if a.dtype != b.dtype or dtypes.is_extended(a.dtype):
        raise ArgumentError(
            function="rng_uniform",
            got=f"{dtypes.name(a.dtype)} and {dtypes.name(b.dtype)}",
            expected="bounds of one dtype of numbers",
        )
    return intern_aval(shape, a.dtype, False, None)


set_zero_derivative(rng_uniform_p)


@rng_uniform_p.lower
def _(b: Any, low: Any, high: Any, *, shape: tuple) -> Any:
    distribution = "#stablehlo<rng_distribution UNIFORM>"
    return b.op("rng", [low, high, b.shape_value(shape)], b.out, rng_distribution=distribution)
