"""Create arrays: filled, ranges, identity matrices."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.api.tracing_utils import device_put
from sagax._src.argument_checks.checks import canonical_axis
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.shardings import Sharding, sharding_of_struct
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, aval_of, sockets
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ConcretizationTypeError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.arithmetic import add_p, div_p, mul_p, sub_p
from sagax._src.primitives.comparison import eq_p, ge_p, ne_p
from sagax._src.primitives.mesh_axes import vary_like
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.selection import select_n_p
from sagax._src.primitives.shaping import concatenate, iota_p, size_as_value
from sagax._src.primitives.structural import (
    broadcast_in_dim_p,
    convert,
    convert_given,
    expand_dims,
    moveaxis,
    reshape,
)
from sagax.numpy._arguments import static_int
from sagax.numpy._arithmetic import power, sign
from sagax.numpy._base import as_operand, number
from sagax.numpy._conversion import on_device, python_number, requested
from sagax.numpy._fused import fused

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import slicing
    from sagax.numpy import _elementary, _floats


_SCALARS = frozenset((bool, int, float, complex))


# --- filled arrays -------------------------------------------------------------------------------


def _fill(function: str, shape: Any, value: Any, device: Any = None) -> Array:
    """Create an array of `shape` filled with a scalar that has its dtype already."""
    if type(shape) is int and shape >= 0:
        shape = (shape,)
    else:
        shape = dims.canonical_shape(shape, f"{function}: argument shape")
    out = broadcast_in_dim_p.bind(value, shape=shape, broadcast_dimensions=())
    return out if device is None else device_put(out, device)


def _filling_dtype(function: str, dtype: Any) -> Any:
    if dtype is None:
        return dtypes.default_float(_base.x64())
    return dtypes.requested_dtype(dtype, function)


def _constant(
    function: str, shape: Any, value: int, dtype: Any, device: Any, out_sharding: Any
) -> Array:
    """Create an array of `shape` filled with the number `value`, of floats unless `dtype` is given."""
    if out_sharding is not None:
        fill = functools.partial(_constant, function, shape, value, dtype, device, None)
        return with_out_sharding(function, fill, (), out_sharding)
    dtype = _filling_dtype(function, dtype)
    scalar = dtype.element(value) if dtypes.is_extended(dtype) else number(value, int, dtype)
    return _fill(function, shape, scalar, device)


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Create an array of zeros.

    `shape` is an int or a sequence of ints, the default `dtype` floating point.

    >>> snp.zeros((2, 2), int)
    Array([[0, 0],
           [0, 0]], dtype=int32)
    """
    return _constant("zeros", shape, 0, dtype, device, out_sharding)


def ones(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Create an array of ones.

    `shape` is an int or a sequence of ints, the default `dtype` floating point.

    >>> snp.ones(3)
    Array([1., 1., 1.], dtype=float32)
    """
    return _constant("ones", shape, 1, dtype, device, out_sharding)


def empty(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """Create an array of `shape` with arbitrary contents: zeros, so that results are deterministic.

    >>> snp.empty(2)
    Array([0., 0.], dtype=float32)
    """
    return _constant("empty", shape, 0, dtype, device, out_sharding)


def full(
    shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Create an array of `shape` full of `fill_value`, a number or an array that broadcasts.

    >>> snp.full((2, 2), snp.arange(2))
    Array([[0, 1],
           [0, 1]], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(
            "full", lambda: full(shape, fill_value, dtype, device=device), (), out_sharding
        )
    dtype = requested(dtype, "full")
    return _full("full", shape, fill_value, dtype, False, device)


def _full(function: str, shape: Any, value: Any, dtype: Any, weak: bool, device: Any) -> Array:
    value = as_operand(function, value, 1)
    kind = type(value)
    if kind in _SCALARS:
        if kind is int and dtype is not None and dtypes.is_extended(dtype):
            value = dtype.element(value)
        elif dtype is not None and weak:
            value = convert(sockets.concrete(value), dtype, True)
        elif dtype is not None:
            if kind is complex and not (dtypes.is_complex(dtype) or dtypes.is_extended(dtype)):
                raise ArgumentError(
                    function=function,
                    argument="fill_value",
                    got=value,
                    expected=f"a real number, to be a {dtypes.name(dtype)}",
                    fix=f"pass {value.real}, or a complex dtype",
                )
            simple = kind is int or kind is float and dtypes.is_inexact(dtype)
            value = (number if simple else python_number)(value, kind, dtype)
        return _fill(function, shape, value, device)
    if dtype is not None:
        value = convert_given(value, dtype, weak)
    if value.ndim == 0:
        return _fill(function, shape, value, device)
    shape = dims.canonical_shape(shape, f"{function}: argument shape")
    return on_device(_base.broadcast_to(_base.as_array(function, value), shape), device)


def _like(function: str, x: Any, dtype: Any, shape: Any) -> tuple:
    """Return dtype, weakness and shape for an array like `x`, except for what is given."""
    if isinstance(x, Array):
        aval = x.aval
    elif (
        hasattr(x, "shape") and hasattr(x, "dtype") and not isinstance(x, (np.ndarray, np.generic))
    ):
        aval = x  # a description of an array, such as ShapeDtypeStruct
    else:
        aval = aval_of(as_operand(function, x))
    shape = (
        aval.shape if shape is None else dims.canonical_shape(shape, f"{function}: argument shape")
    )
    if dtype is None:
        found = dtypes.canonicalize(aval.dtype, _base.x64())
        return found, bool(getattr(aval, "weak_type", False)), shape
    return dtypes.requested_dtype(dtype, function), False, shape


def _filled_like(function: str, x: Any, value: Any, dtype: Any, shape: Any, device: Any) -> Array:
    dtype, weak, shape = _like(function, x, dtype, shape)
    weak = weak and not getattr(value, "ndim", 0)
    return _varying_as(_full(function, shape, value, dtype, weak, device), x)


def _varying_as(out: Any, x: Any) -> Any:
    """Cast a new array, inside `shard_map`, to vary along the axes along which `x` does."""
    vma = x.aval.vma if isinstance(x, Tracer) else None
    return vary_like(out, vma) if vma else out


def _device_like(x: Any, shape: Any, device: Any) -> Any:
    """Return the default device of an array like `x`: the devices that `x` is committed to."""
    if device is not None or (shape is not None and not _is_shape_of(x, shape)):
        return device
    if not isinstance(x, Array):
        return sharding_of_struct(x)
    bound = getattr(x, "_device", None)
    shown = x.aval.explicit_sharding
    if shown is not None and shown.mesh.manual_axes and not shown.spec.used_axes():
        shown = None  # what each device has of its own is no place
    return shown if bound is None else bound


def _is_shape_of(x: Any, shape: Any) -> bool:
    own = getattr(x, "shape", None)
    return (
        own is not None
        and isinstance(shape, (tuple, list))
        and dims.same_shape(tuple(shape), tuple(own))
    )


def zeros_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Create zeros in the shape and dtype of `a`, except where `dtype` or `shape` say otherwise.

    >>> snp.zeros_like(snp.arange(3))
    Array([0, 0, 0], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(
            "zeros_like", lambda: zeros_like(a, dtype, shape, device=device), (), out_sharding
        )
    device = _device_like(a, shape, device)
    if isinstance(a, Array) and dtype is None and shape is None:
        zero = (
            a.aval.dtype.element(0) if dtypes.is_extended(a.aval.dtype) else _base.number_like(0, a)
        )
        return _varying_as(_fill("zeros_like", a.aval.shape, zero, device), a)
    return _filled_like("zeros_like", a, 0, dtype, shape, device)


def ones_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Create ones in the shape and dtype of `a`, except where `dtype` or `shape` say otherwise.

    >>> snp.ones_like(snp.arange(3))
    Array([1, 1, 1], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(
            "ones_like", lambda: ones_like(a, dtype, shape, device=device), (), out_sharding
        )
    device = _device_like(a, shape, device)
    if isinstance(a, Array) and dtype is None and shape is None:
        return _varying_as(_fill("ones_like", a.aval.shape, _base.number_like(1, a), device), a)
    return _filled_like("ones_like", a, 1, dtype, shape, device)


def empty_like(
    prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """Create an array like `prototype` with arbitrary contents: zeros.

    >>> snp.empty_like(snp.arange(2))
    Array([0, 0], dtype=int32)
    """
    device = _device_like(prototype, shape, device)
    return _filled_like("empty_like", prototype, 0, dtype, shape, device)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Create an array like `a` in shape and dtype (unless given), filled with `fill_value`.

    >>> snp.full_like(snp.arange(3), 7)
    Array([7, 7, 7], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(
            "full_like",
            lambda: full_like(a, fill_value, dtype, shape, device=device),
            (),
            out_sharding,
        )
    device = _device_like(a, shape, device)
    return _filled_like("full_like", a, fill_value, dtype, shape, device)


# --- ranges --------------------------------------------------------------------------------------


def _concrete_number(function: str, argument: str, x: Any) -> Any:
    """Convert a bound of a range to a concrete number (or symbolic size)."""
    if type(x) in _SCALARS or dims.is_dim(x):
        return x
    if isinstance(x, Tracer):
        value = x.concrete()
        if value is None:
            raise ConcretizationTypeError(
                x,
                f"It arose in the `{argument}` argument of numpy.{function}, which decides the shape of the result.",
            )
        x = value
    if isinstance(x, (list, tuple)) or x is None or not hasattr(x, "dtype"):
        x = as_operand(function, x)
    host = np.asarray(x)
    if host.ndim:
        raise ArgumentError.about(function, argument, x, "a number, not an array")
    return host[()]


def arange(
    start: Any,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Create the numbers from `start` (default 0) up to but without `stop`, by `step`.

    The bounds must be known while tracing. With a fractional step prefer `linspace`, whose length
    does not depend on rounding.

    >>> snp.arange(2, 10, 3)
    Array([2, 5, 8], dtype=int32)
    """
    if out_sharding is not None:
        return with_out_sharding(
            "arange", lambda: arange(start, stop, step, dtype, device=device), (), out_sharding
        )
    if type(start) is int and stop is None and step is None and dtype is None:
        dtypes.check_python_int(start, dtypes.default_int(_base.x64()))
        return on_device(_iota(dtypes.default_int(_base.x64()), max(start, 0)), device)
    if start is None:
        raise ArgumentError.about("arange", "start", start, "a number")
    named = [("start", start), ("stop", stop), ("step", step)]
    given = [(name, _concrete_number("arange", name, x)) for name, x in named if x is not None]
    if dtype is None:
        x64 = _base.x64()
        typed = tuple([_base.number_type(x, x64) for _, x in named if x is not None])
        dtype, _ = _base.common_of("arange", typed)
        if dtypes.is_complex(dtype):
            raise ArgumentValueError(
                function="arange", got="complex bounds", expected="real numbers", fix="use linspace"
            )
    else:
        dtype = dtypes.requested_dtype(dtype, "arange")
        if any(dtypes.is_complex(aval_of(x).dtype) for _, x in given if not dims.is_dim(x)):
            raise ArgumentValueError(
                function="arange", got="complex bounds", expected="real numbers", fix="use linspace"
            )
    if dtype == dtypes.bool_:
        raise ArgumentError(
            "a range of booleans has no meaning",
            function="arange",
            expected="numbers",
            fix="give dtype=int, and convert with astype(bool)",
        )
    values = dict(given)
    step = values.get("step", 1)
    if stop is None:
        start, stop = 0, values["start"]
    else:
        start, stop = values["start"], values["stop"]
    if not dims.is_dim(step) and step == 0:
        raise ArgumentValueError.about("arange", "step", 0, "not zero")
    out = _iota(dtype, _steps(start, stop, step))
    if not (type(step) is int and step == 1):
        out = mul_p.bind(_scalar_of(step, dtype), out)
    if dims.is_dim(start) or start != 0:
        out = add_p.bind(_scalar_of(start, dtype), out)
    return on_device(out, device)


def _scalar_of(x: Any, dtype: Any) -> Any:
    if dims.is_dim(x):
        return convert(size_as_value(x), dtype)
    if type(x) in _SCALARS:
        return python_number(x, type(x), dtype)
    return dtypes.convert_numpy(np.asarray(x), dtype)[()]


def _steps(start: Any, stop: Any, step: Any) -> Any:
    """Count the numbers from start by step up to stop."""
    if any(dims.is_dim(x) for x in (start, stop, step)):
        start, stop, step = (_integer_bound(x) for x in (start, stop, step))
        return dims.non_negative(dims.ceil_div(stop - start, step))
    start, stop, step = (x if type(x) in _SCALARS else x.item() for x in (start, stop, step))
    if all(isinstance(x, int) for x in (start, stop, step)):
        return max(0, -((start - stop) // step))
    length = (stop - start) / step
    if not math.isfinite(length):
        raise ArgumentValueError(
            "the number of elements of arange is not finite",
            function="arange",
            got=f"start={start}, stop={stop}, step={step}",
        )
    length = math.ceil(length)
    return max(0, length)


def _integer_bound(x: Any) -> dims.Size:
    """Convert a bound of a range to an integer, where another bound is symbolic."""
    if dims.is_dim(x):
        return x
    value = x if type(x) in _SCALARS else x.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return int(value)
    raise ArgumentError(
        "beside symbolic sizes the bounds of a range are integers",
        function="arange",
        got=x,
        fix="use linspace, or arange of integers times the step",
    )


def _iota(dtype: Any, size: Any) -> Array:
    return iota_p.bind(dtype=dtype, shape=(size,), dimension=0)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Create `num` numbers from `start` to `stop` in equal steps, `stop` included if `endpoint`.

    The bounds may be arrays: the numbers then run along the new dimension `axis`. With `retstep` the
    result is (numbers, step). Integer dtypes round down.

    >>> snp.linspace(0, 1, 5)
    Array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if retstep:
        out, step = _linspace("linspace", start, stop, num, endpoint, dtype, axis, True)
        return on_device(out, device), step
    return on_device(_linspace("linspace", start, stop, num, endpoint, dtype, axis), device)


def _linspace(
    function: str,
    start: Any,
    stop: Any,
    num: Any,
    endpoint: bool,
    dtype: Any,
    axis: int,
    with_step: bool = False,
) -> Any:
    """Create the numbers; return also the step, if requested."""
    num = static_int(function, "num", num)
    if not dims.is_dim(num) and num < 0:
        raise ArgumentValueError(
            f"Number of samples, {num}, must be non-negative.", function=function
        )
    if dtype is not None:
        dtype = dtypes.requested_dtype(dtype, function)
    axis = static_int(function, "axis", axis)
    return _spaced(
        start,
        stop,
        function=function,
        num=num,
        endpoint=bool(endpoint),
        dtype=dtype,
        axis=axis,
        with_step=with_step,
    )


@fused
def _spaced(
    start: Any,
    stop: Any,
    *,
    function: str,
    num: Any,
    endpoint: bool,
    dtype: Any,
    axis: int,
    with_step: bool,
) -> Any:
    start, stop = as_operand(function, start), as_operand(function, stop, 1)
    computed, _ = _base.common_dtype(function, (start, stop))
    if dtype is not None:
        if dtypes.is_complex(computed) and not dtypes.is_complex(dtype):
            raise ArgumentError.about(
                function, "dtype", dtypes.name(dtype), "a complex dtype, since a bound is complex"
            )
        computed = dtype  # in which the numbers are computed already
    if not dtypes.is_inexact(computed):
        computed = _base.inexact(computed)
    dtype = computed if dtype is None else dtype
    start, stop = (_base.cast(x, computed, False) for x in (start, stop))
    start, stop = (convert(_base.as_array(function, x), computed) for x in (start, stop))
    bounds = _base.broadcast_shapes(function, [start.shape, stop.shape])
    start, stop = (_base.broadcast_to(x, bounds) for x in (start, stop))
    out, step = _between(start, stop, num=num, endpoint=endpoint)
    out = moveaxis(out, 0, canonical_axis(axis, len(bounds) + 1, function))
    if dtypes.kind(dtype) in "iu" and dtypes.is_inexact(computed):
        out = _floats.floor(out)
    out = convert(out, dtype)
    return (out, step) if with_step else out


def _between(start: Any, stop: Any, *, num: Any, endpoint: bool) -> tuple:
    """Create `num` numbers from start to stop along a new first dimension, and the step."""
    computed, bounds = start.dtype, start.shape
    count = num - 1 if endpoint else num
    if dims.is_dim(count) or count > 0:
        if dims.is_dim(count):
            divisor = convert(size_as_value(count), computed)
        else:
            divisor = number(count, int, computed)
        step = div_p.bind(sub_p.bind(stop, start), divisor)
        part = iota_p.bind(
            dtype=dtype_predicates.real_part_dtype(computed), shape=(count,), dimension=0
        )
        part = convert(part, computed)
        along = reshape(part, (count, *(1,) * len(bounds))) if bounds else part
        low, high = (expand_dims(x, (0,)) if bounds else x for x in (start, stop))
        # a weighted mean of the ends
        one, upper = number(1, int, computed), div_p.bind(high, divisor)
        lower = mul_p.bind(low, sub_p.bind(one, div_p.bind(along, divisor)))
        out = add_p.bind(lower, mul_p.bind(upper, along))
        last = stop
        if dims.compare(count, ">", 0) is None:  # a single number is the first one, without a step
            size = size_as_value(count)  # 64 bits wide under x64
            alone = eq_p.bind(size, number(0, int, aval_of(size).dtype))
            last = select_n_p.bind(alone, stop, start)
            step = select_n_p.bind(alone, step, _no_step(computed, bounds))
        if endpoint:
            out = concatenate([out, expand_dims(last, (0,))], 0)
    else:
        step = _no_step(computed, bounds)
        out = _base.broadcast_to(expand_dims(start, (0,)), (num, *bounds))
    return out, step


def _no_step(dtype: Any, shape: tuple) -> Any:
    nan = number(math.nan, float, dtype)
    return broadcast_in_dim_p.bind(nan, shape=shape, broadcast_dimensions=())


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    """Create `num` numbers from base**start to base**stop, in equal steps of the exponent.

    >>> snp.logspace(0, 2, 3)
    Array([  1.,  10., 100.], dtype=float32)
    """
    dtype = requested(dtype, "logspace")
    base = as_operand("logspace", base)
    num, axis = static_int("logspace", "num", num), static_int("logspace", "axis", axis)
    out = _powers(start, stop, base, num=num, endpoint=bool(endpoint), axis=axis)
    return out if dtype is None else convert_given(out, dtype)


@fused
def _powers(start: Any, stop: Any, base: Any, *, num: int, endpoint: bool, axis: int) -> Array:
    return power(base, _linspace("logspace", start, stop, num, endpoint, None, axis))


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Array:
    """Create `num` numbers from `start` to `stop`, each the same multiple of the one before.

    >>> snp.geomspace(1, 1000, 4)
    Array([   1.,   10.,  100., 1000.], dtype=float32)
    """
    dtype = requested(dtype, "geomspace")
    num, axis = static_int("geomspace", "num", num), static_int("geomspace", "axis", axis)
    return _geometric(start, stop, num=num, endpoint=bool(endpoint), dtype=dtype, axis=axis)


@fused
def _geometric(start: Any, stop: Any, *, num: int, endpoint: bool, dtype: Any, axis: int) -> Array:
    ends = _base.promote_inexact(
        "geomspace", as_operand("geomspace", start), as_operand("geomspace", stop, 1)
    )
    computed = _base.dtype_of(ends[0])
    dtype = computed if dtype is None else dtype
    start, stop = (convert(_base.as_array("geomspace", x), computed) for x in ends)
    bounds = _base.broadcast_shapes("geomspace", [start.shape, stop.shape])
    start, stop = (_base.broadcast_to(x, bounds) for x in (start, stop))
    # the logarithms of the bounds divided by the sign (or phase) of the start
    phase = sign(start)
    low, high = (_elementary.log10(div_p.bind(x, phase)) for x in (start, stop))
    exponents = _linspace("geomspace", low, high, num, endpoint, None, 0)
    out = power(10.0, exponents)
    count = out.shape[0]
    if not dims.is_dim(count) and count > 0:  # the ends are met exactly
        pieces = [_end(start, phase, add_p.bind(low, high))]
        if count > 1:
            pieces.append(slicing.slice_in_dim(out, 1, count - 1 if endpoint else count))
            if endpoint:
                pieces.append(_end(stop, phase, add_p.bind(low, high)))
        out = concatenate(pieces, 0)
    out = mul_p.bind(out, expand_dims(phase, (0,)))
    rank = len(bounds) + 1
    out = moveaxis(out, 0, canonical_axis(axis, rank, "geomspace"))
    if dtypes.kind(dtype) in "iu":
        whole = _floats.rint(out)  # which rounding errors have missed
        out = _base.select(abs(out - whole) < 1e-5 * abs(whole), whole, out)
    return convert_given(out, dtype)


def _end(x: Any, phase: Any, log_sum: Any) -> Any:
    """Return an end of a geometric range, as one item; NaN where the sum of the logarithms is."""
    value = _base.select(ne_p.bind(log_sum, log_sum), log_sum, div_p.bind(x, phase))
    return expand_dims(value, (0,))


# --- matrices of zeros and ones ------------------------------------------------------------------


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = None, *, device: Any = None) -> Array:
    """Create the N by M matrix (default M = N) with ones on the diagonal `k` right of the main one.

    >>> snp.eye(2, 3, 1)
    Array([[0., 1., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    dtype = _filling_dtype("eye", dtype)
    rows, columns = matrix_indices("eye", N, M, k)
    return on_device(convert(eq_p.bind(rows, columns), dtype), device)


def matrix_indices(function: str, n: Any, m: Any, k: Any) -> tuple:
    """Return, for each element of an n by m matrix, its row index plus k, and its column index."""
    n = static_int(function, "N", n)
    m = n if m is None else static_int(function, "M", m)
    shape = dims.canonical_shape((n, m), f"{function}: arguments N and M")
    index = dtypes.int32
    rows = iota_p.bind(dtype=index, shape=shape, dimension=0)
    columns = iota_p.bind(dtype=index, shape=shape, dimension=1)
    if type(k) in _SCALARS or isinstance(k, np.integer):
        offset = static_int(function, "k", k)
        if isinstance(n, int) and isinstance(m, int):
            # A diagonal further out is outside as well, and its sum with a row may not fit int32.
            offset = max(-n, min(offset, m))
        return (add_p.bind(rows, number(offset, int, index)) if offset else rows), columns
    return add_p.bind(rows, convert(_base.as_array(function, k), index)), columns


def identity(n: Any, dtype: Any = None) -> Array:
    """Create the n by n matrix with ones on the diagonal and zeros elsewhere.

    >>> snp.identity(2)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    dtype = _filling_dtype("identity", dtype)
    rows, columns = matrix_indices("identity", n, None, 0)
    return convert(eq_p.bind(rows, columns), dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Array:
    """Create the N by M matrix with ones on and below the diagonal `k` right of the main one.

    >>> snp.tri(2, 3, 1)
    Array([[1., 1., 0.],
           [1., 1., 1.]], dtype=float32)
    """
    dtype = _filling_dtype("tri", dtype)
    rows, columns = matrix_indices("tri", N, M, k)
    return convert(ge_p.bind(rows, columns), dtype)
