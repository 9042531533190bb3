"""Define discrete Fourier transforms over up to three dimensions."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE, shard_resized
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, c64, f32
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.arithmetic import mul
from sagax._src.primitives.complex_numbers import conj
from sagax._src.primitives.shaping import iota, size_as_value
from sagax._src.primitives.slicing import sizes_of
from sagax._src.primitives.structural import (
    broadcast_in_dim,
    convert,
    linear_rules,
    moveaxis,
    zeros_of,
)


class FftType(enum.IntEnum):
    """Select the discrete Fourier transform that `lax.fft` computes."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


fft_p = Primitive("fft", family=WHOLE, shard_rule=shard_resized, multilinear=True)


def fft(x: Any, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Any:
    """Compute the discrete Fourier transform of `x` over its last one, two or three dimensions.

    Args:
      x: an array whose last dimensions have the lengths `fft_lengths`. FFT, IFFT and IRFFT convert
        real numbers to complex ones; RFFT takes real numbers of 32 or 64 bits.
      fft_type: `FftType.FFT`, the inverse `IFFT` (which divides by the number of elements), `RFFT`
        (of real numbers: only the first n // 2 + 1 coefficients of the last dimension, from which
        the others follow by symmetry), its inverse `IRFFT`; or one of these names.
      fft_lengths: lengths of the transformed dimensions; for IRFFT those of the result, whose last
        one is n for inputs with n // 2 + 1 elements.

    The result is complex (for IRFFT real), of the precision of `x`.

    Raises ArgumentValueError if type, lengths or dtype do not match.

    >>> lax.fft(np.array([1.0, 2.0, 3.0, 4.0]), lax.FftType.RFFT, (4,))
    Array([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    kind = _fft_type(fft_type)
    lengths = sizes_of("fft", "fft_lengths", fft_lengths)
    aval = aval_of(x)
    if dtypes.kind(aval.dtype) in "biu":
        x = convert(x, np.dtype(np.float64 if config.current().x64 else np.float32))
    elif dtype_predicates.is_complex(aval.dtype) and kind is FftType.RFFT:
        raise ArgumentValueError(
            function="fft",
            argument="x",
            got=x,
            expected="real numbers for a transform of type RFFT",
            fix="take x.real, or the transform of type FFT",
        )
    elif dtype_predicates.is_narrow_float(aval.dtype) and kind in (FftType.FFT, FftType.IFFT):
        x = convert(x, np.dtype(np.float32))
    dtype = aval_of(x).dtype
    if not dtype_predicates.is_complex(dtype) and dtype not in (np.float32, np.float64):
        raise ArgumentValueError(
            function="fft",
            argument="x",
            got=x,
            expected="floating point numbers of 32 or 64 bits, or complex ones",
            fix="convert it first, with x.astype('float32')",
        )
    if kind is not FftType.RFFT:
        x = convert(x, dtype_predicates.complex_of(dtype_predicates.real_part_dtype(dtype)))
    if not lengths:
        return x
    return fft_p.bind(x, fft_type=kind, fft_lengths=lengths)


def _fft_type(value: Any) -> FftType:
    if isinstance(value, FftType):
        return value
    if isinstance(value, str) and value.upper() in FftType.__members__:
        return FftType[value.upper()]
    error = ArgumentValueError if isinstance(value, str) else ArgumentError
    raise error(
        function="fft",
        argument="fft_type",
        got=repr(value),
        expected="an FftType, or one of the names 'FFT', 'IFFT', 'RFFT', 'IRFFT'",
    )


def _coefficients(lengths: tuple) -> tuple:
    """Count the coefficients of a real array of that shape that do not follow by symmetry."""
    return (*lengths[:-1], lengths[-1] // 2 + 1)


@fft_p.abstract
def _(x: ShapedArray, *, fft_type: FftType, fft_lengths: tuple) -> ShapedArray:
    rank = len(fft_lengths)
    if not 1 <= rank <= 3:
        raise ArgumentValueError(
            f"a transform over {rank} dimensions at once",
            function="fft",
            argument="fft_lengths",
            got=fft_lengths,
            expected="one to three lengths",
            fix="transform the other dimensions in a second step",
        )
    if x.ndim < rank:
        raise ArgumentValueError(
            function="fft",
            argument="fft_lengths",
            got=fft_lengths,
            expected=f"no more lengths than the {x.ndim} dimensions of x, of shape {x.shape}",
        )
    real = fft_type is FftType.RFFT
    if real == dtype_predicates.is_complex(x.dtype):
        raise ArgumentValueError.about("fft", "x", x, "real numbers" if real else "complex ones")
    have = x.shape[x.ndim - rank :]
    inverse = fft_type is FftType.IRFFT
    if real and dims.same(fft_lengths[-1], 0):
        raise ArgumentValueError.about("fft", "fft_lengths", fft_lengths, "lengths of at least 1")
    expected = _coefficients(fft_lengths) if inverse else fft_lengths
    if not dims.same_shape(have, expected):
        raise ArgumentValueError(
            f"the last dimensions of x have the sizes {have}",
            function="fft",
            got=f"x of shape {x.shape} and fft_lengths {fft_lengths} for type {fft_type.name}",
            expected=f"sizes {expected}" + (", the last one n // 2 + 1" if inverse else ""),
            fix="pad or slice x first, as the functions of sagax.numpy.fft do for their n",
        )
    shape = (*x.shape[: x.ndim - rank], *(_coefficients(fft_lengths) if real else fft_lengths))
    part = dtype_predicates.real_part_dtype(x.dtype)
    return intern_aval(shape, part if inverse else dtype_predicates.complex_of(part), False, None)


@fft_p.show
def _(*, fft_type: FftType, fft_lengths: tuple) -> dict:
    return {"fft_lengths": fft_lengths, "fft_type": int(fft_type)}


@fft_p.reference
def _(x: np.ndarray, *, fft_type: FftType, fft_lengths: tuple) -> np.ndarray:
    axes = tuple(range(x.ndim - len(fft_lengths), x.ndim))
    wide = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    out_part = dtype_predicates.real_part_dtype(x.dtype)
    if fft_type is FftType.IRFFT:
        if 0 in (*fft_lengths, x.size):
            return np.zeros((*x.shape[: axes[0]], *fft_lengths), out_part)
        return np.fft.irfftn(wide, fft_lengths, axes).astype(out_part)
    if x.size == 0:
        out = _coefficients(fft_lengths) if fft_type is FftType.RFFT else fft_lengths
        return np.zeros((*x.shape[: axes[0]], *out), dtype_predicates.complex_of(out_part))
    transform = {FftType.FFT: np.fft.fftn, FftType.IFFT: np.fft.ifftn, FftType.RFFT: np.fft.rfftn}
    return transform[fft_type](wide, axes=axes).astype(dtype_predicates.complex_of(out_part))


linear_rules(fft_p)


@fft_p.transpose
def _(ct: Any, x: Any, *, fft_type: FftType, fft_lengths: tuple) -> tuple:
    if fft_type in (FftType.FFT, FftType.IFFT):  # their matrices are symmetric
        return (fft_p.bind(ct, fft_type=fft_type, fft_lengths=fft_lengths),)
    n, count = fft_lengths[-1], dims.size(fft_lengths)
    if not dims.is_dim(count) and count == 0:
        return (zeros_of(x.aval),)
    weights = _weights(n, count, dtype_predicates.real_part_dtype(aval_of(ct).dtype))
    if fft_type is FftType.RFFT:
        half = _scaled(conj(ct), 1 / weights)
        return (fft_p.bind(half, fft_type=FftType.IRFFT, fft_lengths=fft_lengths),)
    whole = fft_p.bind(ct, fft_type=FftType.RFFT, fft_lengths=fft_lengths)
    return (_scaled(conj(whole), weights),)


def _weights(n: Any, count: Any, dtype: Any) -> Any:
    """Return how often each retained coefficient of n real numbers occurs, over `count`.

    Twice, with its conjugate, except the first, and the middle one of an even number, which are real.
    """
    if dims.is_dim(count):
        k, size = iota(np.int32, n // 2 + 1), size_as_value(n)
        twins = 2 - convert(k == 0, dtype) - convert(2 * k == size, dtype)
        return twins / convert(size_as_value(count), dtype)
    twins = np.full(n // 2 + 1, 2.0)
    twins[0] = 1
    if n % 2 == 0:
        twins[n // 2] = 1
    return twins / count


def _scaled(x: Any, factors: Any) -> Any:
    """Scale `x` by a factor for each index of its last dimension."""
    aval = aval_of(x)
    given = factors.astype(aval.dtype)
    return mul(x, broadcast_in_dim(given, aval.shape, (aval.ndim - 1,)))


@fft_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    return fft_p.bind(moveaxis(args[0], in_dims[0], 0), **params), 0


@fft_p.lower
def _(b: Any, x: Any, *, fft_type: FftType, fft_lengths: tuple) -> Any:
    if not dims.is_static(fft_lengths):
        shape = b.shape_value(b.out.shape)
        return b.custom_call(
            SYMBOLIC_FFT,
            [x, shape],
            [b.out],
            backend_config=b.attribute(f"{fft_type.name} {len(fft_lengths)}"),
            indices_of_shape_operands="dense<1> : tensor<1xi64>",
        )[0]
    if any(dims.same(size, 0) for size in (*x.aval.shape, *b.out.shape)):
        return b.full(0, b.out)
    return b.op(
        "fft",
        [x],
        b.out,
        fft_type=f"#stablehlo<fft_type {fft_type.name}>",
        fft_length=b.ints(fft_lengths),
    )


# Transform lengths are static attributes. For symbolic lengths the module has a call instead, which
# `with_known_lengths` replaces when the sizes are known.

SYMBOLIC_FFT = "sagax.fft"
_STANDING_IN = re.compile(
    rf"stablehlo\.custom_call @{re.escape(SYMBOLIC_FFT)}\((%[\w#]+)\) "
    r"\{[^{}]*backend_config = \"(\w+) (\d)\"[^{}]*\} : \(tensor<([^<>]*(?:<\w+>)?)>\) -> tensor<([^<>]*(?:<\w+>)?)>"
)


def with_known_lengths(text: str) -> str:
    """Replace such calls in a module, in MLIR's pretty form, by transforms of known lengths."""
    return _STANDING_IN.sub(_transform_text, text)


def _transform_text(call: re.Match) -> str:
    x, kind, rank, of, to = call.groups()
    sizes = [re.findall(r"\d+(?=x)", tensor) for tensor in (of, to)]
    lengths = sizes[kind == "IRFFT"][-int(rank) :]
    if "0" in (*sizes[0], *sizes[1]):
        zero = "(0.0, 0.0)" if "complex" in to else "0.0"
        return f"stablehlo.constant dense<{zero}> : tensor<{to}>"
    return (
        f"stablehlo.fft {x}, type = {kind}, length = [{', '.join(lengths)}] : "
        f"(tensor<{of}>) -> tensor<{to}>"
    )


fft_p.samples = [
    Sample(c64(2, 5), fft_type=FftType.FFT, fft_lengths=(5,)),
    Sample(c64(4, 3), fft_type=FftType.FFT, fft_lengths=(4, 3)),
    Sample(c64(2, 3, 2), fft_type=FftType.IFFT, fft_lengths=(2, 3, 2)),
    Sample(c64(6), fft_type=FftType.IFFT, fft_lengths=(6,)),
    Sample(f32(2, 6), fft_type=FftType.RFFT, fft_lengths=(6,)),
    Sample(f32(3, 5), fft_type=FftType.RFFT, fft_lengths=(3, 5)),
    Sample(f32(2, 3, 4), fft_type=FftType.RFFT, fft_lengths=(2, 3, 4)),
    Sample(f32(2, 1), fft_type=FftType.RFFT, fft_lengths=(1,)),
    Sample(c64(2, 4), fft_type=FftType.IRFFT, fft_lengths=(6,)),
    Sample(c64(3, 3), fft_type=FftType.IRFFT, fft_lengths=(3, 5)),
    Sample(c64(2, 3, 3), fft_type=FftType.IRFFT, fft_lengths=(2, 3, 4)),
    Sample(c64(2, 1), fft_type=FftType.IRFFT, fft_lengths=(1,)),
    Sample(c64(0, 4), fft_type=FftType.FFT, fft_lengths=(4,)),
    Sample(c64(2, 0), fft_type=FftType.FFT, fft_lengths=(0,)),
    Sample(c64(2, 1), fft_type=FftType.IRFFT, fft_lengths=(0,)),
]
