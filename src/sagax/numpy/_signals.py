"""Convolve and correlate two sequences."""

from __future__ import annotations

from typing import Any

import sagax.numpy._base as _base
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import shaping, structural
from sagax._src.primitives.convolution import conv_general_dilated
from sagax._src.primitives.dot_general import canonical_precision
from sagax.numpy._arguments import check_choice, with_aval
from sagax.numpy._elementary import conj
from sagax.numpy._fused import fused, fused_function

_MODES = ("full", "same", "valid")


@fused_function(2)
def convolve(
    a: Any, v: Any, mode: str = "full", *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """Convolve two vectors: element k is the sum of all a[i] * v[k - i].

    `mode` says which of its elements: 'full' all of them, 'valid' those for which the shorter vector
    lies inside of the longer one, 'same' as many as the longer has, from the middle. Floating point.

    >>> snp.convolve(snp.array([1, 2, 3]), snp.array([0, 1, 0.5]))
    Array([0. , 1. , 2.5, 4. , 1.5], dtype=float32)
    """
    a, v, swapped = _sequences("convolve", a, v, mode)
    del swapped  # a convolution does not mind
    return _slide("convolve", a, shaping.rev(v, (0,)), mode, precision, preferred_element_type)


@fused_function(2)
def correlate(
    a: Any,
    v: Any,
    mode: str = "valid",
    *,
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Correlate two vectors: element k is the sum of all a[i + k] * conj(v[i]).

    `mode` says which of its elements, as in `convolve`. Floating point.

    >>> snp.correlate(snp.array([1, 2, 3]), snp.array([0, 1, 0.5]))
    Array([3.5], dtype=float32)
    """
    a, v, swapped = _sequences("correlate", a, v, mode)
    if (
        swapped
    ):  # the longer one is first now; that order gives the elements from behind, conjugated
        found = _slide("correlate", conj(a), v, mode, precision, preferred_element_type)
        return shaping.rev(found, (0,))
    return _slide("correlate", a, conj(v), mode, precision, preferred_element_type)


def _sequences(function: str, a: Any, v: Any, mode: str) -> tuple[Any, Any, bool]:
    """Promote both vectors to floating point, the longer one first; return also if they swapped."""
    check_choice(function, "mode", mode, _MODES, f"one of {_MODES}")
    a, x = with_aval(function, a, 0)
    v, y = with_aval(function, v, 1)
    for name, aval in (("a", x), ("v", y)):
        if aval.ndim != 1:
            raise ArgumentValueError(
                f"{function}() only supports 1-dimensional inputs",
                function=function,
                argument=name,
                got=aval,
            )
        if not aval.size:
            raise ArgumentValueError(
                f"inputs cannot be empty, got shapes {x.shape} and {y.shape}.", function=function
            )
    a, v = (_base.as_array(function, w) for w in _base.promote_inexact(function, a, v))
    # The full result is the same, where it depends on symbolic sizes which one is shorter
    swapped = dims.compare(x.size, "<", y.size) if mode == "full" else x.size < y.size
    return (v, a, True) if swapped else (a, v, False)


def _slide(function: str, x: Any, kernel: Any, mode: str, precision: Any, preferred: Any) -> Array:
    """Compute inner products of `kernel` with each window of `x`."""
    m = kernel.aval.shape[0]
    before, after = {"full": (m - 1, m - 1), "same": (m // 2, (m - 1) // 2), "valid": (0, 0)}[mode]
    if preferred is not None:
        preferred = dtypes.requested_dtype(preferred, function)
        preferred = None if preferred == x.aval.dtype else preferred
    return _correlated(
        x, kernel, padding=(before, after), preferred=preferred,
        precision=canonical_precision(precision, function),
    )  # fmt: skip


@fused
def _correlated(
    x: Any, kernel: Any, *, padding: tuple[int, int], precision: Any, preferred: Any
) -> Array:
    found = conv_general_dilated(
        structural.expand_dims(x, (0, 1)),
        structural.expand_dims(kernel, (0, 1)),
        window_strides=(1,),
        padding=[padding],
        precision=precision,
        preferred_element_type=preferred,
    )
    return structural.squeeze(found, (0, 1))
