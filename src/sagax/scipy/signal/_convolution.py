"""Convolve and correlate arrays of any number of dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sagax.lax as lax
import sagax.numpy as snp
import sagax.scipy.linalg._common as _common
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax.numpy._arguments import axes_in_order, check_choice

if TYPE_CHECKING or lazy_imports():
    import scipy.fft as _scipy_fft  # it loads slowly, and few functions need it

_MODES = ("full", "same", "valid")


def _pair(function: str, in1: Any, in2: Any, mode: str) -> tuple[Any, Any]:
    check_choice(function, "mode", mode, _MODES)
    in1, in2 = _common.arrays(function, in1, in2)
    if in1.ndim != in2.ndim:
        raise ArgumentValueError(
            "the arrays must have the same number of dimensions",
            function=function,
            got=f"{in1.ndim} and {in2.ndim}",
        )
    if 0 in in1.shape or 0 in in2.shape:
        raise ArgumentValueError(
            "zero-size arrays not supported",
            function=function,
            got=f"shapes {in1.shape} and {in2.shape}",
        )
    return in1, in2


def _larger_first(function: str, in1: Any, in2: Any, axes: Sequence[int]) -> tuple[Any, Any]:
    """For the mode "valid": the array that is the larger one along all axes comes first."""
    pairs = [(in1.shape[a], in2.shape[a]) for a in axes]
    if all(m >= n for m, n in pairs):
        return in1, in2
    if all(m <= n for m, n in pairs):
        return in2, in1
    raise ArgumentValueError(
        'for mode "valid" one of the arrays must be at least as large as the other in every dimension',
        function=function,
        got=f"shapes {in1.shape} and {in2.shape}",
    )


def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """Convolve two arrays: element k is the sum of all in1[i] * in2[k - i].

    Args:
      in1, in2: arrays with the same number of dimensions.
      mode: "full"; "same", the middle part of the shape of `in1`; "valid", what needs no zeros around.
      method: "direct" (also "auto"), or "fft", quicker for large arrays.
      precision: of the products, with "direct".

    >>> signal.convolve(snp.array([1.0, 2.0, 3.0]), snp.array([0.0, 1.0]), mode="same")
    Array([0., 1., 2.], dtype=float32)
    """
    function = "scipy.signal.convolve"
    check_choice(function, "method", method, ("auto", "direct", "fft"))
    in1, in2 = _pair(function, in1, in2, mode)
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    return _direct(function, in1, in2, mode, precision)


def _direct(function: str, in1: Any, in2: Any, mode: str, precision: Any) -> Any:
    if in1.ndim == 0:
        return in1 * in2
    if mode == "valid":
        in1, in2 = _larger_first(function, in1, in2, range(in1.ndim))
    padding = {
        "full": [(n - 1, n - 1) for n in in2.shape],
        "same": [(n - 1 - (n - 1) // 2, (n - 1) // 2) for n in in2.shape],
        "valid": [(0, 0)] * in1.ndim,
    }[mode]
    out = lax.conv_general_dilated(
        in1[None, None], snp.flip(in2)[None, None], (1,) * in1.ndim, padding, precision=precision
    )
    return out[0, 0]


def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """Correlate two arrays: element k is the sum of all in1[i + k] * conj(in2[i]).

    The arguments are those of `convolve`.

    >>> signal.correlate(snp.array([1.0, 2.0, 3.0]), snp.array([0.0, 1.0]), mode="valid")
    Array([2., 3.], dtype=float32)
    """
    (in2,) = _common.arrays("scipy.signal.correlate", in2)
    return convolve(in1, snp.flip(snp.conj(in2)), mode, method, precision)


def _two_dimensional(function: str, in1: Any, in2: Any, boundary: str, fillvalue: Any) -> None:
    if boundary != "fill" or fillvalue != 0:
        raise worded(
            NotImplementedError(
                f"scipy.signal.{function}() only supports boundary='fill', fillvalue=0"
            )
        )
    if snp.ndim(in1) != 2 or snp.ndim(in2) != 2:
        raise ArgumentValueError(
            "only supports 2-dimensional inputs.",
            function=f"scipy.signal.{function}",
            got=f"{snp.ndim(in1)} and {snp.ndim(in2)} dimensions",
        )


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Convolve two matrices, padded by zeros.

    >>> signal.convolve2d(snp.ones((2, 2)), snp.ones((2, 2)), mode="valid")
    Array([[4.]], dtype=float32)
    """
    _two_dimensional("convolve2d", in1, in2, boundary, fillvalue)
    return convolve(in1, in2, mode, "direct", precision)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Correlate two matrices, padded by zeros.

    >>> signal.correlate2d(snp.eye(2), snp.eye(2), mode="valid")
    Array([[2.]], dtype=float32)
    """
    _two_dimensional("correlate2d", in1, in2, boundary, fillvalue)
    if mode == "same":  # of even sizes the middle lies elsewhere than in `correlate`
        in1, in2 = _common.arrays("scipy.signal.correlate2d", in1, in2)
        return snp.flip(convolve(snp.flip(in1), snp.conj(in2), mode, "direct", precision))
    return correlate(in1, in2, mode, "direct", precision)


def fftconvolve(
    in1: Any, in2: Any, mode: str = "full", axes: int | Sequence[int] | None = None
) -> Array:
    """Convolve two arrays by Fourier transforms, along `axes` (by default all).

    Along the other axes the sizes must be equal, or 1.

    >>> signal.fftconvolve(snp.array([1.0, 2.0]), snp.array([1.0, 1.0])).round(4)
    Array([1., 3., 2.], dtype=float32)
    """
    function = "scipy.signal.fftconvolve"
    in1, in2 = _pair(function, in1, in2, mode)
    if in1.ndim == 0:
        return in1 * in2
    if axes is None:
        axes = range(in1.ndim)
    axes = list(axes_in_order(function, axes, in1.ndim))
    if mode == "valid":
        in1, in2 = _larger_first(function, in1, in2, axes)
    full = [in1.shape[a] + in2.shape[a] - 1 for a in axes]
    is_complex = snp.iscomplexobj(in1)
    sizes: Any = [_scipy_fft.next_fast_len(n, real=not is_complex) for n in full]
    if is_complex:
        product = snp.fft.fftn(in1, sizes, axes) * snp.fft.fftn(in2, sizes, axes)
        out = snp.fft.ifftn(product, sizes, axes)
    else:
        product = snp.fft.rfftn(in1, sizes, axes) * snp.fft.rfftn(in2, sizes, axes)
        out = snp.fft.irfftn(product, sizes, axes)
    index = [slice(None)] * out.ndim
    for a, n in zip(axes, full):
        size = {"full": n, "same": in1.shape[a], "valid": in1.shape[a] - in2.shape[a] + 1}[mode]
        start = (n - size) // 2
        index[a] = slice(start, start + size)
    return out[tuple(index)].astype(in1.dtype)
