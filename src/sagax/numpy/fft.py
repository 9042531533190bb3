"""Compute discrete Fourier transforms, their frequencies and shifts.

In all of them `n` (or `s`) is the number of elements to transform along an axis: the input is cut, or
filled up with zeros, to it. `norm` says where the transform divides by the number n of elements:
"backward" in the inverse transforms, "forward" in the others, "ortho" by the root of n in both.

>>> import sagax.numpy as snp
>>> snp.fft.rfft(snp.array([1.0, 2.0, 3.0, 4.0]))
Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config, tuning
from sagax._src.api.stageable import stageable as _stageable
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import structural
from sagax._src.primitives.fourier import FftType
from sagax._src.primitives.fourier import fft as lax_fft
from sagax._src.primitives.shaping import size_as_value
from sagax._src.primitives.slicing import pad, slice_in_dim
from sagax.numpy._arguments import axes_in_order, one_axis, static_int, with_aval
from sagax.numpy._conversion import asarray
from sagax.numpy._creation import arange, zeros
from sagax.numpy._elementary import conj, sqrt
from sagax.numpy._fused import fused_function
from sagax.numpy._shaping import moveaxis, roll

Sizes: TypeAlias = Sequence[int] | None
Axes: TypeAlias = Sequence[int] | None
Norm: TypeAlias = str | None

_thread = config.thread
_MAX_DIMENSIONS = 3  # dimensions that the engine transforms in one operation


# transforms ---------------------------------------------------------------------------------------


def _transform(
    function: str, kind: FftType, a: Any, s: Any, axes: Sequence[int], norm: str | None
) -> Array:
    """Transform over distinct `axes`; `s` are their sizes, or None."""
    if norm not in (None, "backward", "ortho", "forward"):
        raise ArgumentValueError(
            f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".',
            function=function,
        )
    (x,) = _base.promote_inexact(function, _base.as_operand(function, a))
    x = _base.as_array(function, x)
    if dtypes.is_narrow_float(x.dtype):
        x = structural.convert(x, dtypes.float32)
    if kind is FftType.RFFT and dtypes.is_complex(x.dtype):
        raise ArgumentValueError(
            f"only real valued inputs supported for {function.removeprefix('fft.')}",
            function=function,
            got=a,
            fix="take the transform of complex numbers, fft, or a.real",
        )
    sizes = _sizes(function, kind, x, s, axes)
    if any(map(_is_zero, sizes)):
        return _empty(kind, x, sizes, axes)
    for d, size in zip(axes, _input_sizes(kind, sizes)):
        x = _resized(x, d, size)
    if axes:
        last = tuple(range(x.ndim - len(axes), x.ndim))
        x = moveaxis(x, axes, last)
        x = _transform_last(kind, x, sizes)
        x = moveaxis(x, last, axes)
    elif kind is not FftType.RFFT:
        x = lax_fft(x, kind, ())
    return _scaled(x, kind, sizes, norm)


def _sizes(function: str, kind: FftType, x: Any, s: Any, axes: Sequence[int]) -> tuple:
    if s is None:
        sizes = [x.shape[d] for d in axes]
        if kind is FftType.IRFFT and axes:
            sizes[-1] = 2 * (sizes[-1] - 1) if not _is_zero(sizes[-1]) else 0
        # no elements have no coefficients, except that those of real numbers begin with their sum
        positive = sizes[-1:] if kind is FftType.RFFT else []
    else:
        positive = sizes = [static_int(function, "n", n) for n in s]
    for size in positive:
        if not dims.is_dim(size) and size < 1:
            raise ArgumentValueError(
                "a transform needs at least one element along each axis",
                function=function,
                got=f"sizes {tuple(sizes)} of axes {tuple(axes)}, from shape {x.shape}",
            )
    return tuple(sizes)


def _is_zero(size: Any) -> bool:
    return not dims.is_dim(size) and size == 0


def _empty(kind: FftType, x: Any, sizes: tuple, axes: Sequence[int]) -> Array:
    """Return the transform of no elements."""
    shape = list(x.shape)
    for d, size in zip(axes, sizes):
        shape[d] = size
    if kind is FftType.RFFT:
        shape[axes[-1]] = sizes[-1] // 2 + 1
    real = dtypes.real_part_dtype(x.dtype)
    dtype = real if kind is FftType.IRFFT else dtypes.to_complex(real)
    return zeros(shape, dtype)


def _input_sizes(kind: FftType, sizes: tuple) -> tuple:
    if kind is FftType.IRFFT and sizes:
        return (*sizes[:-1], sizes[-1] // 2 + 1)
    return sizes


def _resized(x: Any, axis: int, size: Any) -> Any:
    """Cut or zero-pad `axis` to `size` elements."""
    have = x.shape[axis]
    if dims.same(have, size):
        return x
    copied = dims.min_dim(have, size)
    if not dims.same(copied, size):
        config = [(0, 0, 0)] * x.ndim
        config[axis] = (0, size - copied, 0)
        x = x if dims.same(copied, have) else slice_in_dim(x, 0, copied, 1, axis)
        return pad(x, np.zeros((), x.dtype)[()], config)
    return slice_in_dim(x, 0, size, 1, axis)


def _transform_last(kind: FftType, x: Any, sizes: tuple) -> Any:
    """Transform over the last dimensions, at most three at a time.

    A transform of real numbers begins with the last dimensions, an inverse one to real numbers ends
    with them; what goes on before or after is complex.
    """
    cut = max(len(sizes) - _MAX_DIMENSIONS, 0)
    front, back = sizes[:cut], sizes[cut:]
    outer_kind = {FftType.RFFT: FftType.FFT, FftType.IRFFT: FftType.IFFT}.get(kind, kind)
    if kind is not FftType.IRFFT:
        x = lax_fft(x, kind, back)
    if front:
        last = tuple(range(x.ndim - len(front), x.ndim))
        inner = tuple(range(x.ndim - len(sizes), x.ndim - len(back)))
        x = moveaxis(_transform_last(outer_kind, moveaxis(x, inner, last), front), last, inner)
    return lax_fft(x, kind, back) if kind is FftType.IRFFT else x


def _scaled(x: Any, kind: FftType, sizes: tuple, norm: str | None) -> Any:
    """Scale the transform, which divides in the inverse direction, to the requested norm."""
    if norm in (None, "backward"):
        return x
    inverse = kind in (FftType.IFFT, FftType.IRFFT)
    count = dims.size(sizes)
    real_dtype = dtypes.real_part_dtype(x.dtype)
    if dims.is_dim(count):
        count = structural.convert(size_as_value(count), real_dtype)
        factor = sqrt(count) if norm == "ortho" else count
        factor = structural.convert(factor, x.dtype)
        return x * factor if inverse else x / factor
    factor = math.sqrt(count) if norm == "ortho" else count
    return x * (factor if inverse else 1 / factor)


def _transform_1d(function: str, kind: FftType, a: Any, n: Any, axis: Any, norm: Any) -> Array:
    name = f"fft.{function}"
    a, aval = with_aval(name, a)
    if isinstance(axis, (list, tuple)):
        raise ArgumentValueError(
            f"{function} does not support multiple axes. Please use {function}n.",
            function=name,
            argument="axis",
            got=axis,
        )
    d = one_axis(name, axis, aval.ndim)
    return _transform(name, kind, a, None if n is None else (n,), (d,), norm)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the discrete Fourier transform of `a` along `axis`; complex.

    Element k is the sum of all a[j] exp(-2 pi i j k / n).

    >>> snp.fft.fft(snp.array([1.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform_1d("fft", FftType.FFT, a, n, axis, norm)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the inverse of `fft` along `axis`; complex.

    >>> snp.fft.ifft(snp.array([3.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform_1d("ifft", FftType.IFFT, a, n, axis, norm)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the first n // 2 + 1 elements of the transform of real numbers.

    The other elements are their conjugates.

    >>> snp.fft.rfft(snp.array([1.0, 2.0, 3.0, 4.0]))
    Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return _transform_1d("rfft", FftType.RFFT, a, n, axis, norm)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the inverse of `rfft` along `axis`: `n` real numbers.

    By default n is 2 * (m - 1) for m elements.

    >>> snp.fft.irfft(snp.array([10, -2 + 2j, -2]))
    Array([1., 2., 3., 4.], dtype=float32)
    """
    return _transform_1d("irfft", FftType.IRFFT, a, n, axis, norm)


_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _swapped(norm: Any) -> Any:
    return _SWAPPED.get(norm, norm) if isinstance(norm, (str, type(None))) else norm


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Transform a signal with Hermitian symmetry, whose first half is `a`; real.

    `n` is the size of the result, by default 2 * (m - 1) from m elements.

    >>> snp.fft.hfft(snp.array([1.0, 2.0, 3.0]))
    Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    return _transform_1d("hfft", FftType.IRFFT, conj(a), n, axis, _swapped(norm))


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the inverse of `hfft`: the first half of the signal with Hermitian symmetry; complex.

    >>> snp.fft.ihfft(snp.array([8.0, -2.0, 0.0, -2.0])).real
    Array([1., 2., 3.], dtype=float32)
    """
    signal = asarray(a)  # lists too, unlike the other transforms
    return conj(_transform_1d("ihfft", FftType.RFFT, signal, n, axis, _swapped(norm)))


def _transform_nd(function: str, kind: FftType, a: Any, s: Any, axes: Any, norm: Any) -> Array:
    name = f"fft.{function}"
    a, aval = with_aval(name, a)
    if s is not None:
        s = checks.several(name, "s", s, "None, or a sequence of sizes")
    if axes is None:
        count = aval.ndim if s is None else len(s)
        axes = range(aval.ndim - count, aval.ndim)
    found = axes_in_order(name, axes, aval.ndim)
    if s is not None and len(s) != len(found):
        raise ArgumentValueError(
            "Shape and axes have different lengths.", function=name, got=f"s={s} and axes={axes}"
        )
    return _transform(name, kind, a, s, found, norm)


@fused_function(1)
def fftn(a: Any, s: Sizes = None, axes: Axes = None, norm: Norm = None) -> Array:
    """Transform `a` over several `axes`: by default the last ones, as many as `s` has, or all.

    >>> snp.fft.fftn(snp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_nd("fftn", FftType.FFT, a, s, axes, norm)


@fused_function(1)
def ifftn(a: Any, s: Sizes = None, axes: Axes = None, norm: Norm = None) -> Array:
    """Compute the inverse of `fftn`.

    >>> snp.fft.ifftn(snp.ones((2, 2)))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_nd("ifftn", FftType.IFFT, a, s, axes, norm)


@fused_function(1)
def rfftn(a: Any, s: Sizes = None, axes: Axes = None, norm: Norm = None) -> Array:
    """Transform real numbers over several `axes`, the last one as `rfft` does.

    >>> snp.fft.rfftn(snp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_nd("rfftn", FftType.RFFT, a, s, axes, norm)


@fused_function(1)
def irfftn(a: Any, s: Sizes = None, axes: Axes = None, norm: Norm = None) -> Array:
    """Compute the inverse of `rfftn`; real.

    >>> snp.fft.irfftn(snp.fft.rfftn(snp.ones((2, 2))))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _transform_nd("irfftn", FftType.IRFFT, a, s, axes, norm)


@fused_function(1)
def fft2(a: Any, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None) -> Array:
    """Transform `a` over two axes.

    >>> snp.fft.fft2(snp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_nd("fft2", FftType.FFT, a, s, _pair("fft2", axes), norm)


@fused_function(1)
def ifft2(a: Any, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None) -> Array:
    """Compute the inverse of `fft2`.

    >>> snp.fft.ifft2(snp.ones((2, 2)))
    Array([[1.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_nd("ifft2", FftType.IFFT, a, s, _pair("ifft2", axes), norm)


@fused_function(1)
def rfft2(a: Any, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None) -> Array:
    """Transform real numbers over two axes, the second one as `rfft` does.

    >>> snp.fft.rfft2(snp.ones((2, 2)))
    Array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]], dtype=complex64)
    """
    return _transform_nd("rfft2", FftType.RFFT, a, s, _pair("rfft2", axes), norm)


@fused_function(1)
def irfft2(a: Any, s: Sizes = None, axes: Axes = (-2, -1), norm: Norm = None) -> Array:
    """Compute the inverse of `rfft2`; real.

    >>> snp.fft.irfft2(snp.fft.rfft2(snp.ones((2, 2))))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    return _transform_nd("irfft2", FftType.IRFFT, a, s, _pair("irfft2", axes), norm)


def _pair(function: str, axes: Axes) -> Sequence[int]:
    if axes is None or np.ndim(axes) != 1 or len(axes) != 2:
        raise ArgumentValueError.about(f"fft.{function}", "axes", axes, "two axes")
    return axes


# frequencies --------------------------------------------------------------------------------------


def _frequencies(function: str, numbers: Any, n: Any, d: Any, dtype: Any, device: Any) -> Array:
    """Compute numbers / (n * d) as `dtype`."""
    if dtype is None:
        dtype = dtypes.default_float(_thread.settings.x64)
    else:
        dtype = dtypes.requested_dtype(dtype, f"fft.{function}")
    if not dtypes.is_inexact(dtype):
        raise ArgumentValueError.about(f"fft.{function}", "dtype", dtype, "a floating point dtype")
    if isinstance(d, (int, float)):
        if not d:
            raise ArgumentValueError.about(f"fft.{function}", "d", d, "a distance that is not 0")
    if isinstance(d, (list, tuple)):
        raise ArgumentValueError.about(f"fft.{function}", "d", d, "a number")
    if isinstance(d, (int, float)) and not dims.is_dim(n):
        if isinstance(numbers, np.ndarray):
            return asarray((numbers / (n * d) if n else numbers).astype(dtype), device=device)
        return asarray(numbers.astype(dtype), device=device) / np.asarray(n * d, dtype)
    d, aval = with_aval(f"fft.{function}", d, 1)
    if aval.ndim:
        raise ArgumentValueError.about(f"fft.{function}", "d", d, "a number")
    return asarray(numbers.astype(dtype), device=device) / (n * asarray(d, dtype))


def _count(function: str, n: Any) -> Any:
    if isinstance(n, (list, tuple)):
        raise ArgumentValueError.about(f"fft.{function}", "n", n, "an int")
    n = static_int(f"fft.{function}", "n", n)
    if n < 0:
        raise ArgumentValueError.about(f"fft.{function}", "n", n, "at least 0")
    return n


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """Compute the frequencies of a transform of `n` samples at distances of `d`.

    First 0 and the positive ones, then the negative ones, in cycles per unit of `d`.

    >>> snp.fft.fftfreq(5, d=0.2)
    Array([ 0.,  1.,  2., -2., -1.], dtype=float32)
    """
    n = _count("fftfreq", n)
    middle = (n + 1) // 2
    if dims.is_dim(n):
        k = arange(n)
        return _frequencies("fftfreq", k - n * (k >= middle), n, d, dtype, device)
    numbers = np.concatenate([np.arange(middle), np.arange(-(n // 2), 0)]).astype(np.float64)
    return _frequencies("fftfreq", numbers, n, d, dtype, device)


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """Compute the frequencies of a transform of `n` real samples at distances of `d`.

    >>> snp.fft.rfftfreq(4, d=0.25)
    Array([0., 1., 2.], dtype=float32)
    """
    n = _count("rfftfreq", n)
    # many are counted where they are used, rather than read from a constant
    count = arange if dims.is_dim(n) or n > tuning.NUMPY_MAX_ELEMENTS else np.arange
    numbers = count(n // 2 + 1)
    return _frequencies("rfftfreq", numbers, n, d, dtype, device)


# shifts -------------------------------------------------------------------------------------------


@fused_function(1)
def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> Array:
    """Shift the frequency 0 from the start of `x` to the middle of `axes` (None: all).

    >>> snp.fft.fftshift(snp.array([0, 1, 2, -2, -1]))
    Array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted("fftshift", x, axes, 1)


@fused_function(1)
def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> Array:
    """Shift the frequency 0 from the middle of `x` back to the start of `axes` (None: all).

    >>> snp.fft.ifftshift(snp.array([-2, -1, 0, 1, 2]))
    Array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shifted("ifftshift", x, axes, -1)


def _shifted(function: str, x: Any, axes: Any, direction: int) -> Array:
    x, aval = with_aval(f"fft.{function}", x)
    if axes is None:
        chosen = tuple(range(aval.ndim))
    else:  # an axis twice is shifted twice
        several = np.ndim(axes) > 0
        chosen = tuple(
            [
                one_axis(f"fft.{function}", d, aval.ndim, "axes")
                for d in (axes if several else (axes,))
            ]
        )
    return roll(x, [direction * (aval.shape[d] // 2) for d in chosen], chosen)


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_stageable(list(globals().values()))
