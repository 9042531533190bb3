"""Convert numbers, nested lists and foreign arrays to arrays, and arrays to other dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.api.tracing_utils import device_put
from sagax._src.core import dtypes
from sagax._src.core.value import Array, not_an_array, sockets
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.shaping import stack
from sagax._src.primitives.structural import convert, convert_given, expand_dims
from sagax._src.runtime.array import ConcreteArray, from_host
from sagax.numpy._base import as_operand

_SCALARS = frozenset((bool, int, float, complex))


def requested(dtype: Any, function: str) -> Any:
    return None if dtype is None else dtypes.requested_dtype(dtype, function)


def on_device(x: Any, device: Any) -> Any:
    """Put `x` on the requested device, if there is one."""
    return x if device is None else device_put(x, device)


def array(
    object: Any,
    dtype: Any = None,
    copy: bool | None = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Create an array from `object`: a number, an array, or nested lists and tuples of these.

    A Python number gives a weakly typed array. The elements of lists are promoted to a common dtype.
    `dtype` converts. `ndmin` adds leading dimensions of size 1. Raises ArgumentValueError, naming
    the position, for lists whose parts differ in shape.

    >>> snp.array([[1, 2], [3, 4.5]])
    Array([[1. , 2. ],
           [3. , 4.5]], dtype=float32)
    """
    out = _array("array", object, dtype, order, ndmin, device, out_sharding)
    return copied(out) if copy and out is object else out


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Convert `a` to an array.

    Arrays are returned as they are; numbers, NumPy arrays and nested lists as in `array`.

    >>> snp.asarray([1, 2, 3])
    Array([1, 2, 3], dtype=int32)
    """
    if dtype is None and device is None and order is None and out_sharding is None and not copy:
        if isinstance(a, Array):
            return a
        kind = type(a)
        if kind in _SCALARS or kind is np.ndarray:
            return sockets.concrete(a)
    out = _array("asarray", a, dtype, order, 0, device, out_sharding)
    return copied(out) if copy and out is a else out


def copied(x: Any) -> Any:
    """Copy the buffer of `x`; in a traced function, where nothing is deleted, return `x`."""
    return x.copied() if type(x) is ConcreteArray else x


def _array(
    function: str, x: Any, dtype: Any, order: Any, ndmin: int, device: Any, out_sharding: Any
) -> Array:
    if order not in (None, "K", "C", "A"):
        raise ArgumentValueError(
            function=function,
            argument="order",
            got=repr(order),
            expected="None, 'K' or 'C': the layout of arrays in memory is not for the program to choose",
        )
    if out_sharding is not None:

        def within() -> Array:
            return _array(function, x, dtype, order, ndmin, device, None)

        return with_out_sharding(function, within, (), out_sharding)
    dtype = requested(dtype, function)
    out = _as_array(function, x, dtype)
    if ndmin and out.ndim < ndmin:
        out = expand_dims(out, tuple(range(ndmin - out.ndim)))
    return on_device(out, device)


def _as_array(function: str, x: Any, dtype: Any) -> Array:
    """Convert any value to an array, of the canonical dtype `dtype` if that is not None."""
    if isinstance(x, Array):
        if dtype is None:
            return x
        return convert_given(x, dtype)
    kind = type(x)
    if kind in _SCALARS or isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)):
        if kind in _SCALARS and dtype is not None:
            return _of_numpy(python_number(x, kind, dtype), dtype)
        if isinstance(x, (np.generic, np.ndarray)):
            if not dtypes.is_numeric_dtype(x.dtype) and x.dtype != dtypes.float0:
                raise not_an_array(x).attach(function=function)
            if dtype is not None and x.dtype != dtype:
                dtypes.warn_of_lost_imaginary_part(x.dtype, dtype)
                x = dtypes.convert_data(x, dtype)
            return _of_numpy(x, dtype)
        return sockets.concrete(x)
    if isinstance(x, (list, tuple)):
        return _from_list(function, x, dtype)
    for method in ("__jax_array__", "__array__"):
        if hasattr(x, method):
            return _as_array(function, getattr(x, method)(), dtype)
    if x is None:
        raise ArgumentValueError(
            f"None is not a valid value for {function}",
            function=function,
            expected="a number, an array, or nested lists of them",
            fix="for an array that is filled later, start from zeros(shape)",
        )
    return _from_buffer(function, x, dtype)


def python_number(x: Any, kind: type, dtype: Any) -> Any:
    """Convert a Python number to a NumPy scalar of a dtype, which may be of another kind."""
    if kind is complex:
        _check_real(x, dtype)
    if dtypes.kind(dtype) in "iu" and kind is not bool:
        dtypes.check_python_int(_integral(x), dtype)
    elif kind is int and abs(x) >= 1 << 63:
        x = float(x)
    return dtypes.convert_numpy(np.asarray(x), dtype)[()]


def _check_real(x: complex, dtype: Any) -> None:
    """Refuse to convert a complex number to a real dtype."""
    if dtypes.kind(dtype) not in "cb":
        raise ArgumentError(
            f"the complex number {x} does not fit {dtypes.name(dtype)}",
            fix="take its real part, x.real, or give a complex dtype",
        )


def _integral(x: Any) -> int:
    """Truncate a Python number to an int; raise for NaN and infinities."""
    if isinstance(x, complex):
        x = x.real
    try:
        return int(x)
    except (ValueError, OverflowError):
        raise ArgumentValueError(
            f"cannot convert float {x} to an integer",
            fix="give dtype=float, or choose a number for it",
        ) from None


def _from_buffer(function: str, x: Any, dtype: Any) -> Array:
    """Create an array from a buffer (bytearray, memoryview) or another sequence of numbers."""
    if not isinstance(x, (str, bytes, dict)):
        try:
            found = np.asarray(memoryview(x))
        except TypeError:
            found = list(x) if hasattr(x, "__getitem__") and hasattr(x, "__len__") else None
        if found is not None:
            return _as_array(function, found, dtype)
    raise ArgumentError(
        f"Value {_shown(x)} of type {type(x).__name__} is not a valid JAX array type. "
        "Only arrays of numeric types are supported by JAX.",
        function=function,
        expected="a number, an array, or nested lists of them",
        fix="make a list of it first" if hasattr(x, "__iter__") else None,
    )


def _shown(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 60 else text[:57] + "..."


def _from_list(function: str, x: Any, dtype: Any) -> Array:
    """Create an array from nested lists: through NumPy if all items are numbers, else by stacking."""
    leaves: list[Any] = []
    shape = _list_shape(function, x, "", leaves)
    if all(type(leaf) in _SCALARS for leaf in leaves):
        return _of_numpy(_numbers(leaves, dtype).reshape(shape), dtype)
    if dtype is None:
        dtype, _ = _base.common_dtype(function, [_leaf(function, leaf) for leaf in leaves])
    if any(isinstance(leaf, Array) or hasattr(leaf, "__jax_array__") for leaf in leaves):
        return _stacked(function, x, dtype)
    return _of_numpy(_host(x, dtype).reshape(shape), dtype)


def _of_numpy(x: Any, dtype: Any) -> Array:
    """Convert NumPy data that has the dtype that was asked for, or None."""
    if dtype is not None and dtypes.canonicalize_given(dtype, _base.x64()) != dtype:
        return from_host(np.array(x))  # 64-bit types that are asked for stay
    return sockets.concrete(x if dtype is not None else _base.as_operand("asarray", x))


def _stacked(function: str, x: Any, dtype: Any) -> Array:
    """Stack nested lists that contain arrays or tracers, level by level."""
    if not isinstance(x, (list, tuple, range)):
        return _as_array(function, x, dtype)
    if all(type(part) in _SCALARS for part in x):
        return sockets.concrete(_numbers(list(x), dtype))
    return stack([_stacked(function, part, dtype) for part in x], 0)


def _host(x: Any, dtype: Any) -> np.ndarray:
    """Convert nested lists of numbers and NumPy arrays to one NumPy array."""
    if isinstance(x, (list, tuple, range)):
        return np.stack([_host(part, dtype) for part in x]) if len(x) else np.zeros(0, dtype)
    if type(x) in _SCALARS:
        return np.asarray(python_number(x, type(x), dtype))
    return dtypes.convert_data(x, dtype)


def _numbers(leaves: list, dtype: Any) -> np.ndarray:
    """Convert Python numbers to a NumPy array; ints must fit."""
    number_types = {type(leaf) for leaf in leaves}
    x64 = _base.x64()
    if dtype is None:
        for kind in (complex, float, int, bool):
            if kind in number_types:
                dtype = dtypes.canonicalize(kind, x64)
                break
        else:
            dtype = dtypes.default_float(x64)
    if complex in number_types:
        _check_real(next(x for x in leaves if type(x) is complex), dtype)
    if dtypes.kind(dtype) in "iu" and leaves:
        integers = leaves if number_types == {int} else [_integral(leaf) for leaf in leaves]
        for extreme in (min(integers), max(integers)):
            dtypes.check_python_int(extreme, dtype)
    try:
        host = np.array(leaves)
    except OverflowError:
        host = np.array([float(leaf) for leaf in leaves])
    if host.dtype == object or not leaves:  # ints beyond 64 bits; or none at all
        host = np.array(
            [complex(leaf) for leaf in leaves]
            if complex in number_types
            else [float(leaf) for leaf in leaves]
        )
    return host if host.dtype == dtype else dtypes.convert_data(host, dtype)


def _leaf(function: str, x: Any) -> Any:
    if isinstance(x, Array) or type(x) in _SCALARS or isinstance(x, (np.ndarray, np.generic)):
        return x
    return _as_array(function, x, None)


def _list_shape(function: str, x: Any, path: str, leaves: list) -> tuple:
    """Return the shape of nested lists, and append their leaves in order; raise for ragged lists."""
    if not isinstance(x, (list, tuple)):
        if x is None:
            raise ArgumentValueError(
                f"None is not a valid value for {function}",
                function=function,
                got=f"None at object{path}",
                expected="a number or an array",
            )
        if isinstance(x, (str, bytes, dict)):
            raise ArgumentError(
                f"Value {_shown(x)} of type {type(x).__name__} is not a valid JAX array type. "
                "Only arrays of numeric types are supported by JAX.",
                function=function,
                got=f"{_shown(x)} at object{path}",
                expected="a number or an array",
            )
        if isinstance(x, (range, bytearray, memoryview)):
            return _list_shape(function, list(x), path, leaves)
        leaves.append(x)
        return tuple(np.shape(x)) if not isinstance(x, Array) else x.shape
    inner: Any = None
    for i, part in enumerate(x):
        kind = type(part)
        if kind in _SCALARS:
            leaves.append(part)
            shape: tuple = ()
        else:
            shape = _list_shape(function, part, f"{path}[{i}]", leaves)
        if inner is None:
            inner = shape
        elif shape != inner:
            raise ArgumentValueError(
                "setting an array element with a sequence: the parts of the nested list differ in shape",
                function=function,
                got=f"shape {inner} at object{path}[0], but shape {shape} at object{path}[{i}]",
                expected="equal shapes",
                fix="pad the parts to one length, or keep them in a list (a pytree) of arrays",
            )
    return (len(x), *(inner or ()))


def copy(a: Any, order: str | None = None) -> Array:
    """Copy the elements of `a` into a new array: donating or deleting one leaves the other alone.

    >>> snp.copy(snp.arange(2))
    Array([0, 1], dtype=int32)
    """
    return copied(_array("copy", as_operand("copy", a), None, order, 0, None, None))


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Array:
    """Convert the elements of `x` to `dtype`.

    Floats lose their fraction when they become integers, and saturate; complex numbers lose their
    imaginary part; integers wrap around.

    >>> snp.astype(snp.array([1.7, -1.7]), int)
    Array([ 1, -1], dtype=int32)
    """
    given = x
    x = _base.as_array("astype", x)
    dtype = dtypes.default_float(_base.x64()) if dtype is None else requested(dtype, "astype")
    dtypes.warn_of_lost_imaginary_part(x.dtype, dtype, method=True)
    out = on_device(convert(x, dtype), device)
    return copied(out) if copy and out is given else out
