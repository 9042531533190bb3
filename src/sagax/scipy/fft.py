"""Compute discrete cosine transforms and their inverses.

>>> import sagax.numpy as snp
>>> from sagax.scipy import fft
>>> fft.idct(fft.dct(snp.array([1.0, 2.0, 3.0, 4.0]))).round(4)
Array([1., 2., 3., 4.], dtype=float32)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
import sagax.scipy.linalg._common as _common
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.languages.choice import worded
from sagax.numpy._arguments import axes_in_order, check_choice, static_int
from sagax.numpy._base import promotes_freely
from sagax.numpy.fft import Axes, Norm, Sizes

__all__ = ["dct", "dctn", "idct", "idctn"]


@promotes_freely
def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the type-2 cosine transform along an axis.

    The formula is y[k] = 2 sum_i x[i] cos(pi k (2 i + 1) / (2 N)).

    Args:
      x: real numbers, or complex ones, whose parts are transformed. 16-bit floats become float32.
      type: 2; others raise NotImplementedError.
      n: the length to which the axis is cut or filled with zeros first.
      norm: None ("backward"), or "ortho" for an orthogonal transform.

    >>> fft.dct(snp.ones(4))
    Array([8., 0., 0., 0.], dtype=float32)
    """
    x = _checked("dct", x, type, norm)
    return _along(_dct, x, n, axis, norm)


@promotes_freely
def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: Norm = None) -> Array:
    """Compute the inverse of `dct`, with the same arguments.

    >>> fft.idct(snp.array([8.0, 0.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    x = _checked("idct", x, type, norm)
    return _along(_idct, x, n, axis, norm)


@promotes_freely
def dctn(x: Any, type: int = 2, s: Sizes = None, axes: Axes = None, norm: Norm = None) -> Array:
    """Compute the cosine transform along several axes.

    By default all axes, or the last ones, as many as `s` has.

    >>> fft.dctn(snp.ones((2, 2)))
    Array([[16.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    x = _checked("dctn", x, type, norm) if snp.ndim(x) else snp.asarray(x)
    for axis, size in _axes("dctn", x, s, axes):
        x = _along(_dct, x, size, axis, norm)
    return x


@promotes_freely
def idctn(x: Any, type: int = 2, s: Sizes = None, axes: Axes = None, norm: Norm = None) -> Array:
    """Compute the inverse of `dctn`, with the same arguments.

    >>> fft.idctn(fft.dctn(snp.ones((2, 2))))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    x = _checked("idctn", x, type, norm) if snp.ndim(x) else snp.asarray(x)
    for axis, size in _axes("idctn", x, s, axes):
        x = _along(_idct, x, size, axis, norm)
    return x


def _checked(function: str, x: Any, type: int, norm: str | None) -> Any:
    if type != 2:
        raise worded(NotImplementedError(f"scipy.fft.{function}: Only DCT type 2 is implemented."))
    check_choice(f"scipy.fft.{function}", "norm", norm, (None, "backward", "ortho"))
    (x,) = _common.arrays(f"scipy.fft.{function}", x)
    return x if x.dtype.itemsize > 2 else x.astype(snp.float32)


def _axes(function: str, x: Any, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    axes = (axes,) if isinstance(axes, int) else axes
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = axes_in_order(f"scipy.fft.{function}", axes, x.ndim)
    sizes = [None] * len(axes) if s is None else list(s)
    if len(sizes) != len(axes):
        raise ArgumentValueError.about(
            f"scipy.fft.{function}", "s", tuple(sizes), f"a size for each of the {len(axes)} axes"
        )
    return list(zip(axes, sizes))


def _along(transform: Any, x: Any, n: int | None, axis: int, norm: str | None) -> Any:
    if snp.iscomplexobj(x):  # the transform is linear over the reals
        parts = [_along(transform, part, n, axis, norm) for part in (x.real, x.imag)]
        return lax.complex(*parts)
    x = snp.moveaxis(x, axis, -1)
    size = x.shape[-1] if n is None else static_int("scipy.fft", "n", n)
    if size < 1:
        raise ArgumentValueError.about("scipy.fft", "n", size, "at least 1")
    x = x[..., :size]
    missing = size - x.shape[-1]
    if not isinstance(missing, int) or missing:  # a symbolic size may leave some to fill
        x = snp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, missing)])
    return snp.moveaxis(transform(x, size, norm == "ortho"), -1, axis)


def _turns(n: int, dtype: Any) -> Any:
    """Compute exp(-i pi k / (2 n))."""
    return np.exp(-0.5j * np.pi * np.arange(n) / n).astype(np.result_type(dtype, np.complex64))


def _orthogonal(n: int, dtype: Any) -> Any:
    """Return the factors that make the transform orthogonal."""
    factors = np.full(n, np.sqrt(0.5 / n))
    factors[0] = np.sqrt(0.25 / n)
    return factors.astype(dtype)


# Through a Fourier transform of equal length: Makhoul, "A fast cosine transform in one and two
# dimensions", IEEE Trans. ASSP 28, 1980.


def _dct(x: Any, n: int, ortho: bool) -> Any:
    ordered = snp.concatenate([x[..., ::2], snp.flip(x[..., 1::2], -1)], axis=-1)
    y = 2 * snp.real(snp.fft.fft(ordered) * _turns(n, x.dtype)).astype(x.dtype)
    return y * _orthogonal(n, x.dtype) if ortho else y


def _idct(y: Any, n: int, ortho: bool) -> Any:
    if ortho:
        y = y / _orthogonal(n, y.dtype)
    mirrored = snp.concatenate([snp.zeros_like(y[..., :1]), snp.flip(y[..., 1:], -1)], axis=-1)
    spectrum = 0.5 * (y - 1j * mirrored) / _turns(n, y.dtype)
    x = snp.real(snp.fft.ifft(spectrum)).astype(y.dtype)
    order = np.concatenate([np.arange(0, n, 2), np.arange(1, n, 2)[::-1]])
    return x[..., np.argsort(order)]
