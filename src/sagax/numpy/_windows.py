"""Compute window functions, which taper both ends of a signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.shaping import size_as_value
from sagax.numpy._arguments import static_int, with_aval
from sagax.numpy._arithmetic import absolute
from sagax.numpy._conversion import asarray
from sagax.numpy._creation import arange
from sagax.numpy._elementary import cos, i0, sqrt
from sagax.numpy._logic import equal
from sagax.numpy._selection import clip, where

_thread = config.thread


def _window(
    function: str, M: Any, weights: Callable[[int], np.ndarray], formula: Callable[[Any], Any]
) -> Array:
    """Compute the window of `M` points, for a symbolic size by `formula` on points from -1 to 1."""
    size = static_int(function, "M", M)
    if dims.is_dim(size):
        dtype = dtypes.default_float(_thread.settings.x64)
        x = 2 * arange(size, dtype=dtype) / dims.max_dim(size - 1, 1) - 1
        return where(equal(size_as_value(size), 1), 1, formula(x)).astype(dtype)
    if size < 0:
        raise ArgumentValueError.about(function, "M", size, "at least 0")
    # computed once, in double precision: the size is always known
    return asarray(weights(size).astype(dtypes.default_float(_thread.settings.x64)))


def bartlett(M: int) -> Array:
    """Compute the triangular window of `M` points, with zeros at both ends.

    >>> snp.bartlett(5)
    Array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)
    """
    return _window("bartlett", M, np.bartlett, lambda x: 1 - absolute(x))


def blackman(M: int) -> Array:
    """Compute the Blackman window of `M` points: 0.42 - 0.5 cos x + 0.08 cos 2x, x from 0 to 2 pi.

    >>> float(snp.blackman(5)[2])
    1.0
    """
    return _window(
        "blackman",
        M,
        np.blackman,
        lambda x: 0.42 + 0.5 * cos(np.pi * x) + 0.08 * cos(2 * np.pi * x),
    )


def hamming(M: int) -> Array:
    """Compute the Hamming window of `M` points: 0.54 - 0.46 cos x, x from 0 to 2 pi.

    >>> snp.hamming(3)
    Array([0.08, 1.  , 0.08], dtype=float32)
    """
    return _window("hamming", M, np.hamming, lambda x: 0.54 + 0.46 * cos(np.pi * x))


def hanning(M: int) -> Array:
    """Compute the Hann window of `M` points: 0.5 - 0.5 cos x, x from 0 to 2 pi.

    >>> snp.hanning(3)
    Array([0., 1., 0.], dtype=float32)
    """
    return _window("hanning", M, np.hanning, lambda x: 0.5 + 0.5 * cos(np.pi * x))


@_base.promotes_freely
def kaiser(M: int, beta: Any) -> Array:
    """Compute the Kaiser window of `M` points; the greater the number `beta`, the narrower it is.

    >>> float(snp.kaiser(3, 14.0)[1])
    1.0
    """
    value, aval = with_aval("kaiser", beta, 1)
    if aval.ndim or dtypes.is_complex(aval.dtype):
        raise ArgumentValueError.about("kaiser", "beta", beta, "a number")
    if isinstance(value, Tracer):  # also of a known value, which may have a derivative
        # 1 - x^2 for x from -1 to 1, under the square root of the definition
        inside = _window(
            "kaiser",
            M,
            lambda size: 1 - np.linspace(-1, 1, size) ** 2 if size > 1 else np.ones(size),
            lambda x: 1 - x**2,
        )
        (value,) = _base.promote_inexact("kaiser", value)
        return i0(value * sqrt(clip(inside, 0))) / i0(value)
    value = float(np.asarray(value))
    return _window(
        "kaiser",
        M,
        lambda size: np.kaiser(size, value),
        lambda x: i0(value * sqrt(clip(1 - x**2, 0))) / i0(value),
    )
