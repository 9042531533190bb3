"""Install methods, properties and operators on arrays."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._conversion as _conversion
import sagax.numpy._logic as _logic
import sagax.numpy._operators as _operators
import sagax.numpy._reductions as _reductions
import sagax.numpy._selection as _selection
import sagax.numpy._shaping as _shaping
from sagax._src.api.tracing_utils import device_put
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import LazyMethod, lazy_imports
from sagax._src.primitives.shaping import unstack
from sagax.numpy._arguments import UnsupportedArgumentError
from sagax.numpy._array_api import __array_api_version__
from sagax.numpy._foreign_names import METHODS as FOREIGN

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives import casting
    from sagax.numpy import (
        _choosing,
        _contraction,
        _cumulative,
        _elementary,
        _floats,
        _indexing,
        _joining,
        _nonzero,
        _repeating,
        _sorting,
    )


def _reshape(self: Any, *args: Any, order: str = "C", out_sharding: Any = None) -> Array:
    """Reshape the array to a shape, given as one tuple or as several sizes; one may be -1.

    >>> snp.arange(6).reshape(2, -1)
    Array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    if out_sharding is None:
        return _shaping.reshape(self, args[0] if len(args) == 1 else args, order)
    return _shaping.reshape(
        self, args[0] if len(args) == 1 else args, order, out_sharding=out_sharding
    )


def _transpose(self: Any, *args: Any) -> Array:
    """Permute the dimensions of the array to the given order; reversed if none is given.

    >>> snp.zeros((2, 3, 4)).transpose(0, 2, 1).shape
    (2, 4, 3)
    """
    if len(args) == 1 and not isinstance(args[0], (int, np.integer)):
        return _shaping.transpose(self, args[0])
    return _shaping.transpose(self, args or None)


def _flatten(self: Any, order: str = "C", *, out_sharding: Any = None) -> Array:
    """Flatten the array to one dimension.

    >>> snp.ones((2, 2)).flatten()
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _shaping.ravel(self, order, out_sharding=out_sharding)


def _astype(self: Any, dtype: Any, copy: bool = False, device: Any = None) -> Array:
    """Convert the elements of the array to `dtype`; see `numpy.astype`.

    >>> snp.array([1.7, -1.7]).astype(int)
    Array([ 1, -1], dtype=int32)
    """
    return _conversion.astype(self, dtype, copy=copy, device=device)


def _clip(self: Any, min: Any = None, max: Any = None) -> Array:
    """Clip each element to the interval from `min` to `max`; see `numpy.clip`.

    >>> snp.arange(5).clip(1, 3)
    Array([1, 1, 2, 3, 3], dtype=int32)
    """
    return _selection.clip(self, min, max)


def _compress(
    self: Any,
    condition: Any,
    axis: int | None = None,
    *,
    out: None = None,
    size: int | None = None,
    fill_value: Any = 0,
) -> Array:
    """Select the slices of the array along `axis` where `condition` holds; see `numpy.compress`.

    >>> snp.arange(3).compress(snp.array([True, False, True]))
    Array([0, 2], dtype=int32)
    """
    return _choosing.compress(condition, self, axis, size=size, fill_value=fill_value, out=out)


def _copy(self: Any) -> Array:
    """Copy the array.

    >>> snp.arange(2).copy()
    Array([0, 1], dtype=int32)
    """
    return _conversion.copy(self)


def _round_method(self: Any, decimals: int = 0, out: None = None) -> Array:
    """Round each element to `decimals`; see `numpy.round`.

    >>> snp.array([1.25, 2.5]).round()
    Array([1., 2.], dtype=float32)
    """
    return _floats.round(self, decimals, out)


def _to_device(self: Any, device: Any, *, stream: Any = None) -> Array:
    """Copy the array to another device.

    >>> snp.arange(2).to_device(sagax.devices()[0])
    Array([0, 1], dtype=int32)
    """
    if stream is not None:
        raise ArgumentError.about("to_device", "stream", stream, "None")
    return device_put(self, device)


def _view(self: Any, dtype: Any = None, type: None = None) -> Array:
    """Reinterpret the elements as another dtype; the last dimension changes with its width.

    >>> snp.array([1.0]).view(int)
    Array([1065353216], dtype=int32)
    """
    if isinstance(dtype, (int, tuple)) and not isinstance(dtype, bool):
        sizes = dtype if isinstance(dtype, tuple) else (dtype,) if type is None else (dtype, type)
        raise ArgumentValueError(
            "it takes a dtype, and reinterprets elements",
            function="view",
            argument="dtype",
            got=dtype,
            fix=f"for another shape use x.reshape({', '.join(map(str, sizes))})",
        )
    if type is not None:
        raise ArgumentError.about("view", "type", type, "None")
    old_dtype = self.dtype
    new_dtype = dtypes.requested_dtype(float if dtype is None else dtype, "view")
    if new_dtype == old_dtype:
        return self
    if dtypes.bool_ in (old_dtype, new_dtype):
        stored = self.astype(np.uint8) if old_dtype == dtypes.bool_ else self
        out = _view(stored, np.uint8 if new_dtype == dtypes.bool_ else new_dtype)
        return out.astype(bool) if new_dtype == dtypes.bool_ else out
    old, new = dtypes.itemsize_bits(old_dtype), dtypes.itemsize_bits(new_dtype)
    if old != new and not self.ndim:
        raise ArgumentValueError(
            "the dtype of an array of shape () can only be replaced by one of the same width",
            function="view",
            got=self,
            fix="give it a dimension first, with x[None]",
        )
    if dtypes.is_complex(old_dtype):
        part = dtypes.real_part_dtype(old_dtype)
        parts = _join_last(self.real, self.imag)
        return parts if new_dtype == part else _view(parts, new_dtype)
    if dtypes.is_complex(new_dtype):
        parts = _view(self, dtypes.real_part_dtype(new_dtype))
        return _complex_of_pairs(parts)
    if old == new:
        return casting.bitcast_convert_type(self, new_dtype)
    if old > new:
        out = casting.bitcast_convert_type(self, new_dtype)  # one more dimension
        return out.reshape(*self.shape[:-1], self.shape[-1] * (old // new))
    ratio = new // old
    if self.shape[-1] % ratio:
        raise ArgumentValueError(
            "the last dimension does not hold a whole number of elements of the new dtype",
            function="view",
            got=self,
            expected=f"a last dimension that is a multiple of {ratio}",
        )
    grouped = self.reshape(*self.shape[:-1], self.shape[-1] // ratio, ratio)
    return casting.bitcast_convert_type(grouped, new_dtype)


def _join_last(re: Any, im: Any) -> Any:
    pairs = _joining.stack([re, im], re.ndim)
    return pairs.reshape(*re.shape[:-1], 2 * re.shape[-1]) if re.ndim else pairs


def _complex_of_pairs(parts: Any) -> Any:
    if not parts.ndim or parts.shape[-1] % 2:
        raise ArgumentValueError(
            "the last dimension does not hold pairs of real and imaginary parts",
            function="view",
            got=parts,
            expected="a last dimension of even size",
        )
    return _selection.complex_p.bind(parts[..., 0::2], parts[..., 1::2])


def _byteswap(self: Any) -> Array:
    """Reverse the bytes of each element.

    >>> snp.array([1, 256], dtype=snp.int16).byteswap()
    Array([256,   1], dtype=int16)
    """
    if self.dtype.itemsize == 1:
        return self
    if dtypes.is_complex(self.dtype):
        return _selection.complex_p.bind(_byteswap(self.real), _byteswap(self.imag))
    bytes_ = casting.bitcast_convert_type(self, np.uint8)
    return casting.bitcast_convert_type(_shaping.flip(bytes_, -1), self.dtype)


def _namespace(self: Any, *, api_version: str | None = None) -> Any:
    """Return the module `sagax.numpy`, for code that is written by the array API standard.

    >>> snp.arange(2).__array_namespace__() is snp
    True
    """
    if api_version not in (None, __array_api_version__):
        raise ArgumentValueError(
            f"api_version={api_version!r} is not available; available versions are: "
            f"[{__array_api_version__!r}]",
            function="__array_namespace__",
        )
    return sys.modules["sagax.numpy"]


def _iterate(self: Any) -> Iterator[Any]:
    if not self.ndim:
        raise worded(TypeError("iteration over a 0-d array"))
    return iter(unstack(self))


def _reversed(self: Any) -> Iterator[Any]:
    return reversed(list(self))


def _contains(self: Any, item: Any) -> bool:
    return bool(_reductions.any(_logic.equal(self, item)))


def _flat(self: Any) -> Any:
    raise UnsupportedArgumentError(
        "arrays have no `flat`, since they cannot be written to", got=self, fix="use x.ravel()"
    )


METHODS: dict[str, Callable[..., Any] | LazyMethod] = {
    "__array_namespace__": _namespace,
    "__getitem__": LazyMethod(_indexing, "array_getitem"),
    "__iter__": _iterate,
    "__reversed__": _reversed,
    "__contains__": _contains,
    "all": _reductions.all,
    "any": _reductions.any,
    "argmax": _reductions.argmax,
    "argmin": _reductions.argmin,
    "argpartition": LazyMethod(_sorting, "argpartition"),
    "argsort": LazyMethod(_sorting, "argsort"),
    "astype": _astype,
    "byteswap": _byteswap,
    "choose": LazyMethod(_choosing, "choose"),
    "clip": _clip,
    "compress": _compress,
    "conj": LazyMethod(_elementary, "conjugate"),
    "conjugate": LazyMethod(_elementary, "conjugate"),
    "copy": _copy,
    "cumprod": LazyMethod(_cumulative, "cumprod"),
    "cumsum": LazyMethod(_cumulative, "cumsum"),
    "diagonal": LazyMethod(_contraction, "diagonal"),
    "dot": LazyMethod(_contraction, "dot"),
    "flatten": _flatten,
    "max": _reductions.max,
    "mean": _reductions.mean,
    "min": _reductions.min,
    "nonzero": LazyMethod(_nonzero, "nonzero"),
    "prod": _reductions.prod,
    "ptp": _reductions.ptp,
    "ravel": _shaping.ravel,
    "repeat": LazyMethod(_repeating, "repeat"),
    "reshape": _reshape,
    "round": _round_method,
    "searchsorted": LazyMethod(_sorting, "searchsorted"),
    "sort": LazyMethod(_sorting, "sort"),
    "squeeze": _shaping.squeeze,
    "std": _reductions.std,
    "sum": _reductions.sum,
    "swapaxes": _shaping.swapaxes,
    "take": LazyMethod(_indexing, "take"),
    "to_device": _to_device,
    "trace": LazyMethod(_contraction, "trace"),
    "transpose": _transpose,
    "var": _reductions.var,
    "view": _view,
}


class _Foreign:
    """Say, as an attribute that is missing, what does the same."""

    def __init__(self, instead: str) -> None:
        self.instead = instead

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, x: Any, owner: type) -> Any:
        of = owner.__name__ if x is None else builtins.type(x).__name__
        raise worded(
            AttributeError(
                f"{of!r} object has no attribute {self.name!r}; use {self.instead}",
                name=self.name,
                obj=x,
            )
        )


PROPERTIES: dict[str, property | LazyMethod] = {
    "T": property(_shaping.transpose),
    "at": LazyMethod(_indexing, "IndexUpdateHelper", property),
    "flat": property(_flat),
    "imag": LazyMethod(_elementary, "imag", property),
    "mT": property(_shaping.matrix_transpose),
    "real": LazyMethod(_elementary, "real", property),
}


def install(cls: type) -> None:
    """Give a class of arrays its operators, methods and properties; what it defines itself stays."""
    for name, value in (_operators.OPERATORS | METHODS | PROPERTIES).items():
        if name not in cls.__dict__:
            setattr(cls, name, value)
    for name, instead in FOREIGN.items():
        if not hasattr(cls, name):
            foreign = _Foreign(instead)
            foreign.__set_name__(cls, name)
            setattr(cls, name, foreign)
    if not hasattr(cls, "__array_priority__"):
        cls.__array_priority__ = 100  # NumPy leaves `np_array + x` to the reflected operators
