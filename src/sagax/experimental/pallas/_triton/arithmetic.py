"""Lower elementwise primitives to Triton IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax._src.primitives.arithmetic as arithmetic
import sagax._src.primitives.bitwise as bitwise
import sagax._src.primitives.comparison as comparison
import sagax._src.primitives.compiler_hints as compiler_hints
import sagax._src.primitives.identities as identities
import sagax._src.primitives.makers as makers
import sagax._src.primitives.power as power
import sagax._src.primitives.rounding as rounding
import sagax._src.primitives.selection as selection
import sagax._src.primitives.special.bessel as bessel
import sagax._src.primitives.special.erf as erf
import sagax._src.primitives.special.gamma as gamma
import sagax._src.primitives.transcendental as functions
from sagax._src.core import dtypes
from sagax._src.primitives.casting import bitcast_convert_type_p
from sagax._src.primitives.structural import convert_element_type_p
from sagax.experimental.pallas._triton.ir import (
    BOOL,
    F32,
    I32,
    Builder,
    Value,
    broadcast_shape,
    cannot,
    is_float,
    is_signed,
)
from sagax.experimental.pallas._triton.memory import bitcast

# The names of functions in CUDA's libdevice: those of 32-bit floats end in f.
_LIBDEVICE = {
    functions.exp_p: "exp", functions.exp2_p: "exp2", functions.expm1_p: "expm1", functions.log_p: "log",
    functions.log1p_p: "log1p", functions.sin_p: "sin", functions.cos_p: "cos", functions.tan_p: "tan",
    functions.asin_p: "asin", functions.acos_p: "acos", functions.atan_p: "atan", functions.atan2_p: "atan2",
    functions.sinh_p: "sinh", functions.cosh_p: "cosh", functions.tanh_p: "tanh", functions.asinh_p: "asinh",
    functions.acosh_p: "acosh", functions.atanh_p: "atanh", arithmetic.sqrt_p: "sqrt", arithmetic.rsqrt_p: "rsqrt",
    arithmetic.cbrt_p: "cbrt", rounding.floor_p: "floor", rounding.ceil_p: "ceil", rounding.nextafter_p: "nextafter",
    power.pow_p: "pow", erf.erf_p: "erf", erf.erfc_p: "erfc", erf.erf_inv_p: "erfinv", gamma.lgamma_p: "lgamma",
}  # fmt: skip


def extern(b: Builder, name: str, operands: Sequence[Value], dtype: Any = None) -> Value:
    """Call a function of libdevice; shorter floats are computed in 32 bits."""
    have = operands[0].dtype
    shape = operands[0].shape
    for x in operands[1:]:
        shape = broadcast_shape(shape, x.shape)
    if is_float(have) and have.itemsize < 4:
        wide = [b.convert(x, F32) for x in operands]
        return b.convert(extern(b, name, wide, dtype), have)
    end = "f" if have == F32 else ""
    given = [b.broadcast(b.convert(x, have), shape) for x in operands]
    attributes = f'libname = "", libpath = "", pure = true, symbol = "__nv_{name}{end}"'
    return b.op("tt.extern_elementwise", given, [(shape, dtype or have)], attributes)


def _function(name: str) -> Callable:
    def rule(b: Builder, *operands: Value, **params: Any) -> Value:
        return extern(b, name, operands)

    return rule


def _one_minus_square(b: Builder, x: Value) -> Value:
    one = b.constant(1, x.dtype)
    return b.mul(b.sub(one, x), b.add(one, x))


def _exp_neg_square(b: Builder, x: Value) -> Value:
    """Compute exp(-x**2) by halves: of x = h + l, h**2 is exact, and the rest x**2 - h**2 is small."""
    if x.dtype.itemsize < 4:
        return b.convert(_exp_neg_square(b, b.convert(x, F32)), x.dtype)
    wide = x.dtype != F32
    x = b.extreme(_abs(b, x), b.constant(40 if wide else 12, x.dtype), "min")  # 0 beyond
    integer = np.dtype(np.int64 if wide else np.int32)
    lower = b.constant(-(1 << 27) if wide else -(1 << 12), integer)
    high = bitcast(b, b.bits("and", bitcast(b, x, integer), lower), x.dtype)
    first = extern(b, "exp", [_neg(b, b.mul(high, high))])
    rest = extern(b, "expm1", [_neg(b, b.mul(b.sub(x, high), b.add(x, high)))])
    return b.add(first, b.mul(first, rest))


def _abs(b: Builder, x: Value) -> Value:
    if is_float(x.dtype):
        return extern(b, "fabs", [x])
    if not is_signed(x.dtype):
        return x
    return b.select(b.compare("LT", x, b.constant(0, x.dtype)), _neg(b, x), x)


def _neg(b: Builder, x: Value) -> Value:
    if is_float(x.dtype):
        return b.op("arith.negf", [x], [(x.shape, x.dtype)])
    return b.sub(b.constant(0, x.dtype, x.shape), x)


def _sign(b: Builder, x: Value) -> Value:
    zero = b.constant(0, x.dtype, x.shape)
    above = b.convert(b.compare("GT", x, zero), x.dtype)
    if not is_float(x.dtype) and not is_signed(x.dtype):
        return above
    found = b.sub(above, b.convert(b.compare("LT", x, zero), x.dtype))
    return (
        b.select(b.compare("EQ", x, zero), x, _nan_of(b, x, found)) if is_float(x.dtype) else found
    )


def _nan_of(b: Builder, x: Value, found: Value) -> Value:
    return b.select(b.compare("NE", x, x), x, found)


def _integer_pow(b: Builder, x: Value, *, y: int, **_: Any) -> Value:
    n, result, square = abs(y), None, x
    while n:
        if n & 1:
            result = square if result is None else b.mul(result, square)
        n >>= 1
        square = b.mul(square, square) if n else square
    if result is None:
        return b.constant(1, x.dtype, x.shape)
    return b.div(b.constant(1, x.dtype, x.shape), result) if y < 0 else result


def _rem(b: Builder, x: Value, y: Value) -> Value:
    return extern(b, "fmod", [x, y]) if is_float(x.dtype) else b.rem(x, y)


def _round(b: Builder, x: Value, *, rounding_method: Any = None, **_: Any) -> Value:
    to_even = rounding_method == rounding.RoundingMethod.TO_NEAREST_EVEN
    return extern(b, "rint" if to_even else "round", [x])


def _div(b: Builder, x: Value, y: Value) -> Value:
    if is_float(x.dtype) and x.dtype.itemsize < 4:
        return b.convert(b.div(b.convert(x, F32), b.convert(y, F32)), x.dtype)
    return b.div(x, y)


def _is_finite(b: Builder, x: Value) -> Value:
    return b.compare("LT", _abs(b, x), b.constant(np.inf, x.dtype))


def _logistic(b: Builder, x: Value, **_: Any) -> Value:
    if x.dtype.itemsize < 4:
        return b.convert(_logistic(b, b.convert(x, F32)), x.dtype)
    one = b.constant(1, x.dtype)
    return b.div(b.broadcast(one, x.shape), b.add(extern(b, "exp", [_neg(b, x)]), one))


def _shift(name: str, fill: int) -> Callable:
    """Return the rule of a shift; bits that are shifted in from beyond the width are 0, or the sign."""

    def rule(b: Builder, x: Value, by: Value) -> Value:
        width = x.dtype.itemsize * 8
        if by.splat is not None and 0 <= int(by.splat) < width:
            return b.binary(name, x, by)
        unsigned = np.dtype(f"u{x.dtype.itemsize}")
        inside = b.compare("LT", Value(by.name, by.shape, unsigned), b.constant(width, unsigned))
        last = b.constant(width - 1, x.dtype)
        found = b.binary(name, x, b.select(inside, by, last))
        return found if fill else b.select(inside, found, b.constant(0, x.dtype))

    return rule


def _count(name: str) -> Callable:
    """Return the rule of a count of bits; shorter integers are counted in 32 bits."""

    def rule(b: Builder, x: Value) -> Value:
        width = x.dtype.itemsize * 8
        wide = np.dtype(f"i{max(x.dtype.itemsize, 4)}")
        x_bits = b.convert(Value(x.name, x.shape, np.dtype(f"u{x.dtype.itemsize}")), wide)
        end = "ll" if width == 64 else ""
        attributes = f'libname = "", libpath = "", pure = true, symbol = "__nv_{name}{end}"'
        found = b.op("tt.extern_elementwise", [x_bits], [(x.shape, I32)], attributes)
        if name == "clz" and width < 32:
            found = b.sub(found, b.constant(32 - width, I32, x.shape))
        return b.convert(found, x.dtype)

    return rule


def _compare(direction: str) -> Callable:
    return lambda b, x, y, **_: b.compare(direction, x, y)


def _total(direction: str) -> Callable:
    """Return the rule of a comparison of floats in total order: as integers whose order is theirs."""

    def key(b: Builder, x: Value) -> Value:
        if not is_float(x.dtype):
            return x
        signed = np.dtype(f"i{x.dtype.itemsize}")
        bits = bitcast(b, x, signed)
        most = b.constant(np.iinfo(signed).max, signed)
        return b.select(
            b.compare("LT", bits, b.constant(0, signed)), b.bits("xor", bits, most), bits
        )

    return lambda b, x, y, **_: b.compare(direction, key(b, x), key(b, y))


def _select_n(b: Builder, which: Value, *cases: Value) -> Value:
    if which.dtype == BOOL:
        return b.select(which, cases[1], cases[0])
    found = cases[-1]
    for i in reversed(range(len(cases) - 1)):
        found = b.select(b.compare("EQ", which, b.constant(i, which.dtype)), cases[i], found)
    return found


def _clamp(b: Builder, low: Value, x: Value, high: Value) -> Value:
    return b.extreme(b.extreme(x, low, "max"), high, "min")


def _saturate(b: Builder, x: Value, *, low: Any, high: Any, **_: Any) -> Value:
    return _clamp(b, b.constant(low, x.dtype), x, b.constant(high, x.dtype))


def _convert(b: Builder, x: Value, *, new_dtype: Any, **_: Any) -> Value:
    if dtypes.kind(new_dtype) not in "bfiu":
        raise cannot(f"values of dtype {new_dtype}", got=new_dtype, **b.facts())
    return b.convert(x, new_dtype)


def _bitcast(b: Builder, x: Value, *, new_dtype: Any, **_: Any) -> Value:
    if new_dtype.itemsize != x.dtype.itemsize or BOOL in (x.dtype, new_dtype):
        raise cannot(
            f"the bits of {x.dtype} as {new_dtype}: both must have one width",
            got=new_dtype,
            **b.facts(),
        )
    return bitcast(b, x, new_dtype)


def _same(b: Builder, *xs: Value, **_: Any) -> Any:
    return xs[0]


RULES: dict[Any, Callable] = {
    **{p: _function(name) for p, name in _LIBDEVICE.items()},
    arithmetic.neg_p: _neg,
    arithmetic.add_p: Builder.add,
    makers.add_any_p: Builder.add,
    arithmetic.sub_p: Builder.sub,
    arithmetic.mul_p: Builder.mul,
    arithmetic.div_p: _div,
    arithmetic.rem_p: _rem,
    arithmetic.max_p: lambda b, x, y: b.extreme(x, y, "max"),
    arithmetic.min_p: lambda b, x, y: b.extreme(x, y, "min"),
    arithmetic.abs_p: _abs,
    arithmetic.sign_p: _sign,
    arithmetic.square_p: lambda b, x: b.mul(x, x),
    arithmetic.integer_pow_p: _integer_pow,
    functions.one_minus_square_p: _one_minus_square,
    erf.exp_neg_square_p: _exp_neg_square,
    rounding.round_p: _round,
    comparison.is_finite_p: _is_finite,
    functions.logistic_p: _logistic,
    bessel.bessel_i0e_p: lambda b, x: b.mul(extern(b, "cyl_bessel_i0", [x]), _decay(b, x)),
    bessel.bessel_i1e_p: lambda b, x: b.mul(extern(b, "cyl_bessel_i1", [x]), _decay(b, x)),
    bitwise.not_p: Builder.invert,
    bitwise.and_p: lambda b, x, y: b.bits("and", x, y),
    bitwise.or_p: lambda b, x, y: b.bits("or", x, y),
    bitwise.xor_p: lambda b, x, y: b.bits("xor", x, y),
    bitwise.shift_left_p: _shift("arith.shli", 0),
    bitwise.shift_right_logical_p: _shift("arith.shrui", 0),
    bitwise.shift_right_arithmetic_p: _shift("arith.shrsi", 1),
    bitwise.population_count_p: _count("popc"),
    bitwise.clz_p: _count("clz"),
    comparison.eq_p: _compare("EQ"),
    comparison.ne_p: _compare("NE"),
    comparison.lt_p: _compare("LT"),
    comparison.le_p: _compare("LE"),
    comparison.gt_p: _compare("GT"),
    comparison.ge_p: _compare("GE"),
    comparison.eq_to_p: _total("EQ"),
    comparison.lt_to_p: _total("LT"),
    comparison.le_to_p: _total("LE"),
    selection.select_n_p: _select_n,
    selection.clamp_p: _clamp,
    selection.saturate_p: _saturate,
    convert_element_type_p: _convert,
    bitcast_convert_type_p: _bitcast,
    identities.stop_gradient_p: _same,
    identities.copy_p: _same,
    compiler_hints.xla_metadata_value_p: _same,
}


def _decay(b: Builder, x: Value) -> Value:
    return extern(b, "exp", [_neg(b, _abs(b, x))])
