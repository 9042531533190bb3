"""Define operations on complex numbers and their parts.

Cotangents follow the plain transpose: the map t -> imag(t) has the transpose ct -> -i ct of linear
algebra over the reals. By convention the gradient of a real function of z is conj(df/dz).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.families import SIMPLE, CotangentMask, Sums
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.core.value import aval_of
from sagax._src.primitives.makers import Accepts, complex_, elementwise, operands
from sagax._src.primitives.structural import convert, full_of, linear_rules, real_p

part = Accepts(
    "float32 or float64, the dtypes of the parts of complex numbers",
    lambda d: d in (dtypes.float32, dtypes.float64),
)
part_or_complex = Accepts(
    "float32, float64 or complex numbers", lambda d: part.test(d) or dtype_predicates.is_complex(d)
)


def real(x: Any) -> Any:
    """Return the real parts of complex `x`: float32 for complex64, float64 for complex128.

    >>> lax.real(np.array([1 + 2j, 3 - 4j], np.complex64))
    Array([1., 3.], dtype=float32)
    """
    return real_p.bind(x)


real_p.samples = [Sample(c64(3)), Sample(c64(2, 3))]

# complex: linear in both operands together --------------------------------------------------------


def _complex_numpy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), dtype_predicates.complex_of(x.dtype))
    out.real, out.imag = x, y
    return out


complex_p = elementwise(
    "complex",
    2,
    family=SIMPLE,
    creates_nan=False,
    numpy=_complex_numpy,
    accepts=part,
    result=lambda x, y: dtype_predicates.complex_of(x),
    hlo="complex",
    exact=True,
    jvp=(
        lambda t, out, x, y: convert(t, aval_of(out).dtype),
        lambda t, out, x, y: complex(full_of(aval_of(t), 0), t),
    ),
    transpose=lambda ct, x, y: (real_p.bind(ct), imag_p.bind(conj(ct))),
    samples=[Sample(f32(3), f32(3)), Sample(f32(2, 3), f32(2, 1)), Sample(f32(), f32(3))],
)
complex_p.sums = Sums.EACH


def complex(x: Any, y: Any) -> Any:
    """Return the complex numbers x + iy: complex64 from float32 parts, complex128 from float64.

    >>> lax.complex(np.float32([1, 2]), np.float32([3, 4]))
    Array([1.+3.j, 2.+4.j], dtype=complex64)
    """
    return complex_p.bind(*operands(x, y))


# imag ---------------------------------------------------------------------------------------------

imag_p = elementwise(
    "imag",
    family=SIMPLE,
    creates_nan=False,
    cotangent_mask=CotangentMask.MOVED,
    numpy=lambda x: np.imag(x).copy(),
    accepts=complex_,
    result=dtype_predicates.real_part_dtype,
    hlo="imag",
    exact=True,
    transpose=lambda ct, x: (conj(complex(full_of(aval_of(ct), 0), ct)),),
    samples=[Sample(c64(3)), Sample(c64(2, 3))],
)
linear_rules(imag_p)


def imag(x: Any) -> Any:
    """Return the imaginary parts of complex `x`: float32 for complex64, float64 for complex128.

    >>> lax.imag(np.array([1 + 2j, 3 - 4j], np.complex64))
    Array([ 2., -4.], dtype=float32)
    """
    return imag_p.bind(x)


# conj ---------------------------------------------------------------------------------------------


def _conj_numpy(x: np.ndarray, *, input_dtype: Any) -> Any:
    return np.conj(x).astype(
        dtype_predicates.complex_of(dtype_predicates.real_part_dtype(input_dtype))
    )


def _conj_transposed(ct: Any, x: Any, *, input_dtype: Any) -> Sequence[Any]:
    back = conj(ct)
    return (back if dtype_predicates.is_complex(input_dtype) else real_p.bind(back),)


conj_p = elementwise(
    "conj",
    family=SIMPLE,
    creates_nan=False,
    numpy=_conj_numpy,
    accepts=part_or_complex,
    exact=True,
    transpose=_conj_transposed,
    result=lambda x, input_dtype: dtype_predicates.complex_of(dtype_predicates.real_part_dtype(x)),
    samples=[
        Sample(c64(3), input_dtype=np.dtype(np.complex64)),
        Sample(f32(2), input_dtype=np.dtype(np.float32)),
    ],
)
linear_rules(conj_p)


@conj_p.lower
def _(b: Any, x: Any, *, input_dtype: Any) -> Any:
    part_aval = x.aval.with_dtype(dtype_predicates.real_part_dtype(x.dtype))
    if not dtype_predicates.is_complex(x.dtype):
        return b.op("complex", [x, b.full_like(x, 0)], b.out)
    re, im = b.op("real", [x], part_aval), b.op("imag", [x], part_aval)
    return b.op("complex", [re, b.op("negate", [im], part_aval)], b.out)


def conj(x: Any) -> Any:
    """Return the complex conjugates of `x`; real `x` becomes complex.

    >>> lax.conj(np.array([1 + 2j, 3 - 4j], np.complex64))
    Array([1.-2.j, 3.+4.j], dtype=complex64)
    """
    return conj_p.bind(x, input_dtype=aval_of(x).dtype)
