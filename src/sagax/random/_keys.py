"""Make PRNG keys from seeds, and derive more keys from one."""

from __future__ import annotations

import operator
from typing import Any, NewType

import numpy as np

from sagax._src import config
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.arithmetic import add
from sagax._src.primitives.random_bits import (
    KeyDType,
    PRNGImpl,
    is_key_dtype,
    random_clone_p,
    random_fold_in_p,
    random_seed_p,
    random_split,
    random_unwrap_p,
    random_wrap_p,
)
from sagax._src.primitives.random_bits import key_dtype as dtype_of_keys
from sagax._src.primitives.random_implementations import implementation
from sagax._src.primitives.structural import convert
from sagax.numpy._base import as_array
from sagax.random._arguments import (
    concrete,
    implementation_of,
    is_raw,
    no_key,
    raw_numbers,
    shape_of,
    typed_key,
)

_thread = config.thread
# the type of PRNG keys in annotations; keys are arrays
Key = NewType("Key", Array)
_I32, _I64, _U32 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32)


def _integer_seed(function: str, seed: Any) -> Any:
    """Convert `seed` to an integer scalar; ints beyond the default dtype keep their lowest bits."""
    kind = type(seed)
    if kind is int or kind is bool:
        seed = _checked_int(function, int(seed))
    elif not is_operand(seed) or isinstance(seed, (str, bytes)):
        raise _no_seed(function, seed)
    aval = aval_of(seed)
    if dtypes.kind(aval.dtype) not in "iub":
        raise _no_seed(function, seed)
    if aval.shape:
        raise ArgumentError(
            f"accepts a scalar seed, but was given an array of shape {aval.shape} != ()",
            function=function,
            argument="seed",
            got=seed,
            expected="a scalar",
            fix=f"use vmap for several seeds: sagax.vmap(sagax.random.{function})(seeds)",
        )
    if aval.dtype == np.bool_:
        seed = convert(seed, _I32)
    offset = _thread.settings.random_seed_offset
    if offset:
        seed = add(seed, np.asarray(offset).astype(aval_of(seed).dtype)[()])
    return seed


def _checked_int(function: str, seed: int) -> Any:
    if -(1 << 31) <= seed < 1 << 31:
        return seed
    if not -(1 << 63) <= seed < 1 << 63:
        raise dtypes.IntegerOverflow(
            function=function,
            argument="seed",
            got=f"a number of {seed.bit_length()} bits",
            expected="an int of at most 64 bits",
            fix="pass seed % 2**32",
        )
    return seed if _thread.settings.x64 else np.array(seed, _I64).astype(_I32)[()]


def _no_seed(function: str, seed: Any) -> ArgumentError:
    fix = "pass an int"
    if isinstance(seed, float):
        fix = f"pass an int: {function}({int(seed)})" if seed == seed and abs(seed) < 2**63 else fix
    elif isinstance(seed, (tuple, list)):
        fix = f"pass an int, such as {function}(0), and the shape to the sampler"
    elif getattr(getattr(seed, "aval", None), "dtype", None) is not None and is_key_dtype(
        seed.aval.dtype
    ):
        fix = "this is a key already: use it as it is, or random.fold_in(key, number)"
    return ArgumentError(
        "PRNG key seed must be an integer",
        function=function,
        argument="seed",
        got=repr(seed) if isinstance(seed, str) else seed,
        expected="an integer",
        fix=fix,
    )


def _chosen_impl(function: str, impl: Any, dtype: Any) -> PRNGImpl:
    if dtype is None:
        return implementation_of(function, impl)
    if impl is not None:
        raise ArgumentValueError.about(
            function, "dtype", dtype, "nothing when impl is given: it says the same thing"
        )
    if not is_key_dtype(dtype):
        raise ArgumentError(
            function=function,
            argument="dtype",
            got=dtype,
            expected="a dtype of keys",
            fix="use sagax.random.key_dtype('threefry2x32')",
        )
    return dtype.impl


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Make a key from an integer seed: an array of shape () and a key dtype.

    Args:
      seed: an int, or an integer scalar (which may be traced). Ints beyond 32 bits lose their upper
        bits unless x64 is on.
      impl: the generator: 'threefry2x32' (default; the option default_prng_impl), 'rbg',
        'unsafe_rbg'.
      dtype: the same as a dtype of keys.

    Raises:
      TypeError: the seed is no integer, or no scalar.
      ValueError: an unknown implementation.

    >>> random.key(0)
    Array((), dtype=key<fry>) overlaying:
    [0 0]
    """
    chosen = _chosen_impl("key", impl, dtype)
    return random_seed_p.bind(_integer_seed("key", seed), impl=chosen)


def PRNGKey(seed: Any, *, impl: Any = None) -> Array:
    """Make a raw key from an integer seed: uint32 numbers, two for the default implementation.

    All functions here take raw keys as well; but only typed ones, made by `key`, know their
    generator, and cannot be mistaken for data. With the option enable_custom_prng the result is
    typed.

    Raises TypeError if the seed is no integer scalar, ValueError for an unknown implementation.

    >>> random.PRNGKey(7)
    Array([0, 7], dtype=uint32)
    """
    typed = random_seed_p.bind(
        _integer_seed("PRNGKey", seed), impl=implementation_of("PRNGKey", impl)
    )
    return typed if _thread.settings.enable_custom_prng else random_unwrap_p.bind(typed)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Array:
    """Wrap raw key data as typed keys: the inverse of `key_data`.

    The last dimension (for all implementations here) of the uint32 array holds a key's numbers, two
    for threefry2x32, four for rbg and unsafe_rbg; the others are the shape of the result.

    Raises TypeError if shape or dtype do not fit the implementation.

    >>> random.wrap_key_data(np.zeros((3, 2), np.uint32)).shape
    (3,)
    """
    chosen = _chosen_impl("wrap_key_data", impl, dtype)
    data = raw_numbers("wrap_key_data", key_bits_array, "key_bits_array", chosen)
    return random_wrap_p.bind(data, impl=chosen)


def _typed_keys(function: str, keys: Any) -> Any:
    """Convert to typed keys of any shape; raw key data is wrapped."""
    if not is_raw(keys):
        return keys
    impl = implementation_of(function, None)
    return random_wrap_p.bind(raw_numbers(function, keys, "keys", impl), impl=impl)


def key_data(keys: Any) -> Array:
    """Return the raw data of keys: uint32 numbers along a further last axis.

    Raises TypeError if it is no key.

    >>> random.key_data(random.key(3))
    Array([0, 3], dtype=uint32)
    """
    return random_unwrap_p.bind(_typed_keys("key_data", keys))


def key_impl(keys: Any) -> Any:
    """Return the implementation of keys: its name where `key` knows one.

    >>> random.key_impl(random.key(0))
    'threefry2x32'
    """
    impl = aval_of(_typed_keys("key_impl", keys)).dtype.impl
    return impl.name if implementation(impl.name) is impl else impl


def key_dtype(impl_spec: Any = None) -> KeyDType:
    """Return the key dtype of an implementation (default: the one that `key` uses).

    >>> random.key_dtype("rbg")
    key<rbg>
    """
    return dtype_of_keys(implementation_of("key_dtype", impl_spec))


def split(key: Any, num: Any = 2) -> Array:
    """Split a key into `num` new keys (an int, or a shape): an array of keys of that shape.

    The new keys are independent of one another and of `key`, which should not be used again. Raw
    keys give raw keys: uint32 of shape (*num, 2).

    Raises TypeError or ValueError if `key` is not one key, or `num` no size.

    >>> key, part = random.split(random.key(0))
    >>> random.split(key, (2, 3)).shape
    (2, 3)
    """
    typed = typed_key("split", key)
    if type(num) is int and num >= 0:
        shape = (num,)
    else:
        shape = _split_shape(num)
    out = random_split(typed, shape)
    return out if typed is key else random_unwrap_p.bind(out)


def _split_shape(num: Any) -> tuple:
    if hasattr(num, "aval") and num.shape == ():
        num = operator.index(num)
    return shape_of("split", num, "num")


def fold_in(key: Any, data: Any) -> Array:
    """Fold an integer into a key: a new key, different for each integer.

    `data` is a scalar, taken modulo 2**32 if it is an array; it may be traced.

    Raises:
      TypeError: `key` is no key, `data` no integer scalar.
      ValueError: an array of keys (use vmap).
      OverflowError: an int that does not fit uint32.

    >>> key = random.key(0)
    >>> bool(random.fold_in(key, 1) == random.fold_in(key, 2))
    False
    """
    typed = typed_key("fold_in", key)
    out = random_fold_in_p.bind(typed, _folded("fold_in", data))
    return out if typed is key else random_unwrap_p.bind(out)


def _folded(function: str, data: Any) -> Any:
    kind = type(data)
    if kind is int or kind is bool:
        if not 0 <= data < 1 << 32:
            raise dtypes.IntegerOverflow(
                function=function,
                argument="data",
                got=data,
                expected="an int from 0 to 2**32 - 1",
                fix="pass data % 2**32",
            )
        return np.uint32(data)
    if not is_operand(data) or dtypes.kind(aval_of(data).dtype) not in "iub":
        raise ArgumentError(
            function=function,
            argument="data",
            got=repr(data) if isinstance(data, str) else data,
            expected="an integer",
            fix=f"pass int(data): {int(data)}"
            if isinstance(data, float) and data == data and abs(data) < 2**32
            else "convert it to an integer, or make one of it with hash functions of the standard library",
        )
    aval = aval_of(data)
    if aval.shape:
        raise ArgumentError(
            f"accepts a scalar, but was given an array of shape {aval.shape} != ()",
            function=function,
            argument="data",
            got=data,
            expected="a scalar",
            fix="use vmap for several: sagax.vmap(sagax.random.fold_in, in_axes=(None, 0))(key, data)",
        )
    if isinstance(data, (np.ndarray, np.generic)):
        return concrete(np.asarray(data).astype(_U32))
    return convert(data, _U32)


def clone(key: Any) -> Array:
    """Copy keys, to use them again: the copy gives the same numbers.

    For the rare case that the same numbers are wanted twice while `debug_key_reuse` is on. Any other
    array is returned as it is.

    >>> key = random.key(0)
    >>> bool(random.clone(key) == key)
    True
    """
    if not is_raw(key):
        return random_clone_p.bind(key)
    if not isinstance(key, (Array, np.ndarray)):
        raise no_key("clone", key)
    if aval_of(key).dtype != _U32:  # no numbers of keys
        return as_array("clone", key)
    return random_clone_p.bind(key)


def _clone_now(keys: Any) -> Any:
    return type(keys)(keys.aval, keys._host, keys._buffer, keys._device)


random_clone_p.impl = _clone_now
