"""Define bit-level casts: bitcasts to another dtype, and reduced precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src import config
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import IDENTITY, SIMPLE, WHOLE, CotangentMask
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, boolean, f32, i8, i32, u8
from sagax._src.core.tangents import set_zero_derivative
from sagax._src.diagnostics.errors import ArgumentValueError, DtypeError
from sagax._src.primitives.makers import elementwise, floating
from sagax._src.primitives.structural import linear_rules, moveaxis

# bitcast_convert_type -----------------------------------------------------------------------------

bitcast_convert_type_p = Primitive(
    "bitcast_convert_type",
    family=IDENTITY,
    rounds=True,
    cotangent_mask=CotangentMask.DROPPED,
    mask_rule=WHOLE.answers["mask_rule"],
    exact=True,
)


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """Reinterpret the bits of `operand` as numbers of `new_dtype`.

    A narrower dtype adds a last dimension, over the parts of each element, least significant first. A wider
    one consumes the last dimension, whose size must be the ratio of the widths. Booleans and complex
    numbers cannot be reinterpreted.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.bitcast_convert_type(np.float32([1, -2]), np.int32)
    Array([ 1065353216, -1073741824], dtype=int32)
    """
    dtype = dtypes.canonicalize(new_dtype, config.current().x64)
    return bitcast_convert_type_p.bind(operand, new_dtype=dtype)


@bitcast_convert_type_p.abstract
def _(x: ShapedArray, *, new_dtype: Any) -> ShapedArray:
    if x.dtype == new_dtype:
        return intern_aval(x.shape, x.dtype, False, None)
    facts: dict = {
        "function": "bitcast_convert_type",
        "argument": "new_dtype",
        "got": dtypes.name(new_dtype),
    }
    for dtype in (x.dtype, new_dtype):
        if dtypes.is_extended(dtype) or dtypes.kind(dtype) in "bc":
            raise DtypeError(
                f"the bits of {dtypes.name(x.dtype)} cannot be read as {dtypes.name(new_dtype)}",
                **facts,
                expected="two dtypes of integers or real floating point numbers",
                fix="use the view method of the array",
                operand=x,
            )
    old, new = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(new_dtype)
    if new < old:
        return intern_aval((*x.shape, old // new), new_dtype, False, None)
    if new == old:
        return intern_aval(x.shape, new_dtype, False, None)
    parts = new // old
    if not x.shape or not dims.same(x.shape[-1], parts):
        size = f"size {x.shape[-1]}" if x.shape else "no last dimension"
        raise ArgumentValueError(
            f"{parts} elements of {dtypes.name(x.dtype)} make one of {dtypes.name(new_dtype)}, "
            "along the last dimension; "
            f"the operand, of shape {x.shape}, has {size}",
            **facts,
            expected=f"an operand whose last dimension has size {parts}",
            operand=x,
        )
    return intern_aval(x.shape[:-1], new_dtype, False, None)


@bitcast_convert_type_p.shard
def _(call: Any) -> list:
    have, ndim = call.cuts[0], call.outs[0].ndim
    if ndim < len(have):
        call.check_unsharded((len(have) - 1,), "joined")
    return [(*have, ())[:ndim] if ndim > len(have) else have[:ndim]]


@bitcast_convert_type_p.reference
def _(x: np.ndarray, *, new_dtype: Any) -> np.ndarray:
    old, new = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(new_dtype)
    if old >= 8 and new >= 8:
        if new < old:
            return np.asarray(x[..., None], order="C").view(new_dtype)
        seen = np.asarray(x, order="C").view(new_dtype)
        return seen[..., 0] if new > old else seen
    # NumPy stores each number of fewer than 8 bits in a byte: convert via single bits
    raw = np.asarray(x, order="C").view(f"u{x.dtype.itemsize}")[..., None]
    bits = (raw >> np.arange(old, dtype=raw.dtype)) & np.array(1, raw.dtype)
    if new > old:
        bits = bits.reshape(*x.shape[:-1], new)
    elif new < old:
        bits = bits.reshape(*x.shape, old // new, new)
    unsigned = np.dtype(f"u{new_dtype.itemsize}")
    values = (bits.astype(unsigned) << np.arange(new, dtype=unsigned)).sum(-1, dtype=unsigned)
    if new < 8 and dtypes.kind(new_dtype) in "iu":
        return values.astype(new_dtype)  # the sign fills the byte
    return values.view(new_dtype)


set_zero_derivative(bitcast_convert_type_p)


@bitcast_convert_type_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], *, new_dtype: Any) -> tuple:
    return bitcast_convert_type_p.bind(moveaxis(args[0], in_dims[0], 0), new_dtype=new_dtype), 0


@bitcast_convert_type_p.lower
def _(b: Any, x: Any, *, new_dtype: Any) -> Any:
    return x if x.dtype == new_dtype else b.op("bitcast_convert", [x], b.out)


bitcast_convert_type_p.samples = [
    Sample(f32(2, 3), new_dtype=np.dtype(np.int32), derivatives=False),
    Sample(f32(3), new_dtype=np.dtype(np.uint8), derivatives=False),
    Sample(f32(), new_dtype=np.dtype(np.int16), derivatives=False),
    Sample(u8(2, 3, 4), new_dtype=np.dtype(np.float32), derivatives=False),
    Sample(i8(4), new_dtype=np.dtype(np.int32)),
    Sample(boolean(3), new_dtype=np.dtype(bool)),
    Sample(i32(3), new_dtype=np.dtype(ml_dtypes.bfloat16)),
]


# reduce_precision ---------------------------------------------------------------------------------


def _reduce_numpy(x: np.ndarray, *, exponent_bits: int, mantissa_bits: int) -> Any:
    info = ml_dtypes.finfo(x.dtype)
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    raw = np.asarray(x, order="C").view(unsigned)
    sign_bit = np.array(1 << (info.bits - 1), unsigned)
    sign, magnitude = raw & sign_bit, raw & ~sign_bit
    dropped = info.nmant - mantissa_bits
    if dropped > 0:
        # add half of the last retained bit, less one unless that bit is odd: ties go to even
        odd = (magnitude >> np.array(dropped, unsigned)) & np.array(1, unsigned)
        magnitude = magnitude + (np.array((1 << (dropped - 1)) - 1, unsigned) + odd)
        magnitude = magnitude & ~np.array((1 << dropped) - 1, unsigned)
    if exponent_bits < info.nexp:
        bias, reach = (1 << (info.nexp - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        exponent = magnitude >> np.array(info.nmant, unsigned)
        infinity = np.array(((1 << info.nexp) - 1) << info.nmant, unsigned)
        magnitude = np.where(exponent > bias + reach, infinity, magnitude)
        magnitude = np.where(exponent <= bias - reach, np.zeros((), unsigned), magnitude)
    return np.where(np.isnan(x), x, (sign | magnitude).view(x.dtype))


reduce_precision_p = elementwise(
    "reduce_precision",
    family=SIMPLE,
    creates_nan=False,
    numpy=_reduce_numpy,
    accepts=floating,
    exact=lambda avals: avals[0].dtype.itemsize > 1,
    transpose=lambda ct, x, **params: (reduce_precision_p.bind(ct, **params),),
    samples=[
        Sample(f32(2, 3), exponent_bits=5, mantissa_bits=10, derivatives=False),
        Sample(f32(4, low=-1e6, high=1e6), exponent_bits=5, mantissa_bits=2, derivatives=False),
        Sample(f32(4), exponent_bits=11, mantissa_bits=52),
        Sample(bf16(4), exponent_bits=4, mantissa_bits=3, derivatives=False),
        Sample(
            np.array([1e-6, 6e-5, 65519, 65520, np.inf, np.nan], np.float32),
            exponent_bits=5,
            mantissa_bits=10,
            derivatives=False,
        ),
    ],
)
linear_rules(reduce_precision_p)


@reduce_precision_p.lower
def _(b: Any, x: Any, *, exponent_bits: int, mantissa_bits: int) -> Any:
    return b.op(
        "reduce_precision",
        [x],
        b.out,
        exponent_bits=f"{exponent_bits} : i32",
        mantissa_bits=f"{mantissa_bits} : i32",
    )


def reduce_precision(operand: Any, exponent_bits: int, mantissa_bits: int) -> Any:
    """Round `operand` to a format with the given numbers of bits, in its own dtype.

    Values above its range become infinite, values below its normal numbers zero. More bits than the dtype
    has change nothing.

    >>> from sagax import lax
    >>> import numpy as np
    >>> lax.reduce_precision(np.float32([1.23456, 1e6]), exponent_bits=5, mantissa_bits=2)
    Array([1.25,  inf], dtype=float32)
    """
    bits = []
    for name, value, least in (
        ("exponent_bits", exponent_bits, 1),
        ("mantissa_bits", mantissa_bits, 0),
    ):
        in_range = f"an int of at least {least}"
        bits.append(
            checks.integer(
                "reduce_precision",
                name,
                value,
                show=checks.as_it_is,
                least=least,
                in_range=in_range,
            )
        )
    return reduce_precision_p.bind(operand, exponent_bits=bits[0], mantissa_bits=bits[1])


__all__ = [
    "bitcast_convert_type",
    "bitcast_convert_type_p",
    "reduce_precision",
    "reduce_precision_p",
]
