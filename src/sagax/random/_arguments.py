"""Check the arguments of samplers: keys, shapes, dtypes and parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.trace import evaluation, state
from sagax._src.core.value import Array, aval_of, is_operand
from sagax._src.diagnostics.errors import (
    ArgumentError,
    ArgumentValueError,
    DtypeError,
    SagaxError,
    TypePromotionError,
)
from sagax._src.diagnostics.wording import bilingual
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.random_bits import KeyDType, PRNGImpl, random_unwrap_p, random_wrap_p
from sagax._src.primitives.random_implementations import implementation, implementation_names
from sagax._src.primitives.structural import broadcast_in_dim, convert, reduce_sum, reshape
from sagax._src.runtime import eager
from sagax._src.runtime.array import ConcreteArray

if TYPE_CHECKING or lazy_imports():
    from sagax._src.runtime.key_reuse import watch


_thread = config.thread
_U32 = np.dtype(np.uint32)
_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_I32, _I64 = np.dtype(np.int32), np.dtype(np.int64)
_SCALARS = frozenset((bool, int, float, complex))


# keys -----------------------------------------------------------------------------------------------


def _relabeled(x: Any, aval: Any) -> ConcreteArray:
    """Reinterpret the buffer of an array as an array of another type with the same layout."""
    return ConcreteArray(aval, x._host, x._buffer, x._device)


def _wrap_now(data: Any, *, impl: PRNGImpl) -> ConcreteArray:
    data = concrete(data)
    keys = _relabeled(data, random_wrap_p.abstract_eval((data.aval,), {"impl": impl}))
    return watch.wrap_keys(data, keys) if _thread.settings.debug_key_reuse else keys


def _unwrap_now(keys: Any) -> ConcreteArray:
    data = _relabeled(keys, random_unwrap_p.abstract_eval((keys.aval,), {}))
    return watch.unwrap_keys(keys, data) if _thread.settings.debug_key_reuse else data


def implementation_of(function: str, spec: Any) -> PRNGImpl:
    """Resolve an `impl` argument: None (the default), a name or a key dtype."""
    if spec is None:
        spec = _thread.settings.prng_impl
    if isinstance(spec, str):
        found = implementation(spec)
        if found is None:
            import difflib  # 1 ms, for this message only

            names = implementation_names()
            close = difflib.get_close_matches(spec.lower(), names, len(names))
            meant = min(close or names, key=names.index)  # the commonest comes first
            raise ArgumentValueError(
                f"unrecognized PRNG implementation {spec!r}",
                function=function,
                argument="impl",
                got=repr(spec),
                expected=f"one of {', '.join(map(repr, names))}",
                fix=f"pass impl={meant!r}",
            )
        return found
    if isinstance(spec, KeyDType):
        return spec.impl
    if isinstance(spec, PRNGImpl):
        return spec
    raise ArgumentError(
        function=function,
        argument="impl",
        got=spec,
        expected="the name of a PRNG implementation, or a dtype of keys",
        fix="pass impl='threefry2x32', or leave it out",
    )


def typed_key(function: str, key: Any) -> Any:
    """Convert `key` to one typed key; raw uint32 data is a key of the default implementation.

    Raises TypeError if it is no key, ValueError for an array of keys.
    """
    aval = getattr(key, "aval", None)
    if aval is None and hasattr(key, "__jax_array__"):
        return typed_key(function, key.__jax_array__())
    if aval is None or type(aval.dtype) is not KeyDType:
        key = _wrapped(function, key, "key")
        aval = key.aval
    if aval.shape:
        raise ArgumentValueError(
            f"accepts a single key, but was given a key array of shape {aval.shape} != ()",
            function=function,
            argument="key",
            got=key,
            expected="a single key",
            fix=f"use vmap to draw with each of them: sagax.vmap(lambda key: sagax.random.{function}(key, ...))(keys)"
            if function not in ("split", "fold_in")
            else f"use vmap: sagax.vmap(sagax.random.{function})(keys)",
        )
    return key


def is_raw(key: Any) -> bool:
    """Return whether `key` is raw key data, so that results are raw, too."""
    aval = getattr(key, "aval", None)
    return aval is None or type(aval.dtype) is not KeyDType


def _wrapped(function: str, key: Any, argument: str) -> Any:
    """Wrap raw key data as (an array of) typed keys of the default implementation."""
    setting = _thread.settings.legacy_prng_key
    impl = implementation_of(function, None)
    data = raw_numbers(function, key, argument, impl)
    if setting != "allow":
        text = (
            f"{function} was given raw uint32 numbers as a key while the option legacy_prng_key is {setting!r}; "
            "make typed keys with random.key(seed), or of the numbers with random.wrap_key_data(numbers)"
        )
        if setting == "error":
            raise ArgumentValueError(text, function=function, argument=argument, got=key)
        warnings.warn(bilingual(text), stacklevel=dtypes.users_level())
    return random_wrap_p.bind(data, impl=impl)


def raw_numbers(function: str, data: Any, argument: str, impl: PRNGImpl) -> Any:
    """Check that `data` is raw key data of an implementation."""
    if not isinstance(data, (Array, np.ndarray)):
        raise no_key(function, data, argument)
    aval = aval_of(data)
    n = len(impl.key_shape)
    if aval.dtype != _U32 or aval.ndim < n or aval.shape[aval.ndim - n :] != impl.key_shape:
        sizes = ", ".join(map(str, impl.key_shape))
        raise ArgumentError(
            f"the array does not hold the numbers of a key of the implementation {impl.name!r}",
            function=function,
            argument=argument,
            got=data,
            expected=f"a key, or numbers of dtype uint32 and shape (..., {sizes})",
            fix="make a key with sagax.random.key(seed)",
        )
    return data


def no_key(function: str, value: Any, argument: str = "key") -> ArgumentError:
    """Build the error for a value that is no key: a seed, a shape, None."""
    fix = "make a key with sagax.random.key(seed), and pass it as the first argument"
    if isinstance(value, int) and not isinstance(value, bool):
        fix = f"make a key of the seed: sagax.random.key({value})"
    elif argument != "key" and isinstance(value, (tuple, list)):
        fix = f"make it an array: numpy.array({value!r}, 'uint32')"
    elif isinstance(value, (tuple, list)):
        fix = f"the key comes before the shape: sagax.random.{function}(sagax.random.key(seed), {value!r})"
    return ArgumentError(
        f"unexpected PRNG key type {type(value)}",
        function=function,
        argument=argument,
        got=repr(value) if isinstance(value, str) else value,
        expected="a PRNG key",
        fix=fix,
    )


# shapes and dtypes ----------------------------------------------------------------------------------


def shape_of(function: str, shape: Any, argument: str = "shape") -> tuple:
    """Check the `shape` argument; a single int means rank 1."""
    if type(shape) is tuple:
        for size in shape:
            if type(size) is not int or size < 0:
                break
        else:
            return shape
    if type(getattr(getattr(shape, "aval", None), "dtype", None)) is KeyDType:
        raise ArgumentError(
            function=function,
            argument=argument,
            got=shape,
            expected="a shape: an int or a tuple of ints",
            fix=f"the key comes first: {function}(key, {argument})",
        )
    try:
        return dims.canonical_shape(shape, argument)
    except SagaxError as error:
        raise error.attach(function=function) from None


def size_of(function: str, argument: str, size: Any) -> int:
    """Check an argument that is one size: an int, at least 0."""
    if isinstance(size, (int, np.integer)) and size >= 0:
        return int(size)
    kind = ArgumentValueError if isinstance(size, (int, np.integer)) else ArgumentError
    raise kind(
        function=function, argument=argument, got=size, expected="an int that is not negative"
    )


def full_shape(function: str, shape: Any, *params: Any) -> tuple:
    """Return the shape of a sample: `shape`, or the joint shape of the parameters, which broadcast."""
    shapes = [aval_of(p).shape for p in params]
    if shape is None or any(shapes):
        return batch_shape(function, shape, joint_shape(function, shapes))
    return shape_of(function, shape)


def batch_shape(function: str, shape: Any, batch: tuple) -> tuple:
    """Return the shape of a sample: `shape`, or `batch`, the shape of the parameters."""
    if shape is None:
        return batch
    shape = shape_of(function, shape)
    try:
        fits = joint_shape(function, [shape, batch]) == shape
    except ArgumentValueError:
        fits = False
    if not fits:
        raise ArgumentValueError(
            f"the parameters, of shape {batch}, do not broadcast to the shape {shape}",
            function=function,
            argument="shape",
            got=shape,
            expected=f"a shape that ends with {batch}",
            fix=f"pass shape={batch}, or one with further dimensions before it",
        )
    return shape


def joint_shape(function: str, shapes: Sequence[tuple]) -> tuple:
    """Compute the shape that all of `shapes` broadcast to."""
    rank = max([len(s) for s in shapes], default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    out = []
    for axis in range(rank):
        size = padded[0][axis]
        for s in padded[1:]:
            size = dims.broadcast_dim(size, s[axis]) if size is not None else None
        if size is None:
            raise ArgumentValueError(
                f"Incompatible shapes for broadcasting: {', '.join(map(str, shapes))}",
                function=function,
                argument="the shapes of the parameters",
                got=f"sizes {' and '.join(str(s[axis]) for s in padded)} along axis {axis - rank}",
                expected="equal sizes, or size 1",
            )
        out.append(size)
    return tuple(out)


def float_dtype(function: str, dtype: Any) -> Any:
    """Check the `dtype` argument of a floating point sampler; None means the default."""
    if dtype is None:
        return _F64 if _thread.settings.x64 else _F32
    found = dtypes.requested_dtype(dtype, function)
    if dtypes.kind(found) != "f":
        raise refused_dtype(function, found, "a float dtype")
    return found


def inexact_dtype(function: str, dtype: Any) -> Any:
    """Check a dtype as `float_dtype` does, and accept complex dtypes."""
    if dtype is None:
        return _F64 if _thread.settings.x64 else _F32
    found = dtypes.requested_dtype(dtype, function)
    if dtypes.kind(found) not in "fc":
        raise refused_dtype(function, found, "a float or complex dtype")
    return found


def integer_dtype(function: str, dtype: Any) -> Any:
    """Check the `dtype` argument of an integer sampler; None means the default."""
    if dtype is None:
        return _I64 if _thread.settings.x64 else _I32
    found = dtypes.requested_dtype(dtype, function)
    if dtypes.kind(found) not in "iu":
        raise refused_dtype(function, found, "an integer dtype", error=DtypeError)
    return found


def refused_dtype(
    function: str,
    dtype: Any,
    kind: str,
    expected: str | None = None,
    error: type[SagaxError] = ArgumentValueError,
) -> SagaxError:
    """Build the error for a dtype of another kind than a sampler draws."""
    return error(
        f"dtype argument to `{function}` must be {kind}, got {dtypes.name(dtype)}",
        function=function,
        argument="dtype",
        got=dtypes.name(dtype),
        expected=expected or kind,
    )


def default_float_of(function: str, *params: Any) -> Any:
    """Return the common float dtype of the parameters; the default one for integers."""
    x64 = _thread.settings.x64
    operands = tuple([(aval_of(p).dtype, aval_of(p).weak_type) for p in params])
    dtype, weak = dtypes.promote(operands, x64, _thread.settings.numpy_dtype_promotion)
    if dtypes.kind(dtype) != "f":
        return _F64 if x64 else _F32
    return (_F64 if x64 else _F32) if weak else dtype


# parameters -----------------------------------------------------------------------------------------


def concrete(x: np.ndarray | Any) -> Any:
    """Convert a NumPy array or scalar to an array; arrays and tracers pass through.

    Under tracing, scalars stay as they are: they become literals of the jaxpr.
    """
    if isinstance(x, Array) or (state.trace is not evaluation and not np.ndim(x)):
        return x
    host = np.array(x, order="C")
    host.flags.writeable = False
    return ConcreteArray(intern_aval(host.shape, host.dtype, False, None), host)


def parameter(function: str, argument: str, x: Any, dtype: Any) -> Any:
    """Convert a numeric parameter to an array (or tracer) of `dtype`."""
    if type(x) in _SCALARS:
        if type(x) is complex and dtypes.kind(dtype) != "c":
            raise ArgumentError.about(function, argument, x, "a real number")
        sign = math.copysign(1.0, x) if type(x) is float else 1.0
        try:
            number = _numbers.get((x, type(x), sign, dtype))
            if number is None:
                number = _new_number(x, dtype)
                eager.remember(_numbers, (x, type(x), sign, dtype), number)
        except dtypes.IntegerOverflow as error:
            raise error.attach(function=function, argument=argument) from None
        # under tracing, a scalar becomes a literal of the jaxpr
        return number if state.trace is evaluation else number.host()[()]
    aval = operand_aval(function, argument, x)
    if dtypes.kind(aval.dtype) == "c" and dtypes.kind(dtype) != "c":
        raise ArgumentError.about(function, argument, x, "real numbers")
    if aval.dtype == dtype and isinstance(x, Array):
        return x if not aval.weak_type else convert(x, dtype)
    if isinstance(x, (np.ndarray, np.generic)):
        return concrete(dtypes.convert_numpy(np.asarray(x), dtype))
    return convert(x, dtype)


# Python numbers as arrays, by their sign, too: 0.0 and -0.0 are equal. A transfer to the device takes longer than to
# draw a few numbers.
_numbers = eager.new_table()


def _new_number(x: Any, dtype: Any) -> ConcreteArray:
    if type(x) is int:
        dtypes.check_python_int(x, dtype)
    with np.errstate(over="ignore"):
        host = np.asarray(x).astype(dtype)
    host.flags.writeable = False
    return ConcreteArray(intern_aval((), dtype, False, None), host)


def checked_parameter(function: str, argument: str, x: Any, dtype: Any) -> Any:
    """Convert as `parameter` does, but refuse a dtype with more range or precision than `dtype`."""
    if type(x) not in _SCALARS:
        aval = operand_aval(function, argument, x)
        settings = _thread.settings
        given = ((aval.dtype, aval.weak_type), (dtype, False))
        if dtypes.promote(given, settings.x64, "standard")[0] != dtype:
            raise TypePromotionError(
                f"cannot safely cast argument of type {dtypes.name(aval.dtype)} to {dtypes.name(dtype)}",
                function=function,
                argument=argument,
                got=x,
                expected=f"a dtype that {dtypes.name(dtype)} can hold",
                fix=f"convert it: {argument}.astype({dtypes.name(dtype)!r}), or pass a wider dtype",
            )
    return parameter(function, argument, x, dtype)


def operand_aval(function: str, argument: str, x: Any) -> Any:
    """Return the aval of a parameter; errors name it unless it is an array or a number."""
    if isinstance(x, (list, tuple)) or not is_operand(x) or dtypes.is_extended(aval_of(x).dtype):
        raise ArgumentError(
            function=function,
            argument=argument,
            got=repr(x) if isinstance(x, str) else x,
            expected="an array or a number",
            fix="make it an array: sagax.numpy.asarray(...)"
            if isinstance(x, (list, tuple))
            else None,
        )
    return aval_of(x)


def scalar(value: Any, dtype: Any) -> Any:
    """Convert a Python number to a scalar of `dtype`, for use in traced functions."""
    return np.asarray(value).astype(dtype)[()]


def stretch(x: Any, shape: tuple) -> Any:
    """Broadcast `x` to `shape` by NumPy's rules."""
    aval = aval_of(x)
    if dims.same_shape(aval.shape, shape):
        return x
    return broadcast_in_dim(x, shape, tuple(range(len(shape) - aval.ndim, len(shape))))


def lift(x: Any, rank: int) -> Any:
    """Add leading dimensions of size 1 to `x`, up to `rank`; scalars pass through."""
    aval = aval_of(x)
    if not aval.ndim or aval.ndim == rank:
        return x
    return reshape(x, (*(1 for _ in range(rank - aval.ndim)), *aval.shape))


def total(x: Any, axis: int) -> Any:
    """Sum along an axis; narrow floats are accumulated in float32."""
    dtype = aval_of(x).dtype
    wide = _F32 if dtype_predicates.is_narrow_float(dtype) else dtype
    return convert(reduce_sum(convert(x, wide), (axis,)), dtype)


def method_of(function: str, method: Any) -> str:
    """Check the `method` argument of samplers that have an approximation."""
    if method not in ("exact", "approximate"):
        raise ArgumentValueError(
            f"method argument to `{function}` must be one of 'exact', 'approximate', got {method!r}",
            function=function,
            argument="method",
            got=repr(method),
            expected="'exact' or 'approximate'",
        )
    return method


random_wrap_p.impl = _wrap_now
random_unwrap_p.impl = _unwrap_now
