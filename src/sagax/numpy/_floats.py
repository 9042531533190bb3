"""Round, decompose and classify floating point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._arithmetic as _arithmetic
import sagax.numpy._base as _base
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError
from sagax._src.primitives.arithmetic import abs_p, add_p, div_p, max_p, min_p, mul_p, neg_p, sub_p
from sagax._src.primitives.bitwise import and_p, or_p, shift_left_p, shift_right_logical_p
from sagax._src.primitives.casting import bitcast_convert_type_p
from sagax._src.primitives.comparison import eq_p, gt_p, is_finite_p, lt_p, ne_p
from sagax._src.primitives.complex_numbers import complex_p, imag_p
from sagax._src.primitives.rounding import RoundingMethod, ceil_p, floor_p, nextafter_p, round_p
from sagax._src.primitives.structural import broadcast_in_dim_p, convert, real_p
from sagax.numpy._arguments import refuse_out
from sagax.numpy._base import (
    as_operand,
    dtype_of,
    number,
    operand_inexact,
    operands2_inexact,
    select,
    shape_of,
)
from sagax.numpy._fused import fused, fused_function, operation1, operation2

_TO_EVEN = RoundingMethod.TO_NEAREST_EVEN


def _all(x: Any, value: bool) -> Array:
    """Create an array like `x` in shape, whose elements are all True or all False."""
    return broadcast_in_dim_p.bind(np.bool_(value), shape=shape_of(x), broadcast_dimensions=())


# --- rounding ------------------------------------------------------------------------------------


def _rounded(function: str, primitive: Any, x: Any, **params: Any) -> Array:
    """Round an operand by a primitive; integers pass through."""
    x = as_operand(function, x)
    if dtypes.kind(dtype_of(x)) in "biu":
        return _base.as_array(function, x)
    return primitive.bind(x, **params)


@operation1
def floor(x: Any, /) -> Array:
    """Round each element down to an integer, in the dtype of `x`.

    >>> snp.floor(snp.array([1.7, -1.7]))
    Array([ 1., -2.], dtype=float32)
    """
    return _rounded("floor", floor_p, x)


@operation1
def ceil(x: Any, /) -> Array:
    """Round each element up to an integer, in the dtype of `x`.

    >>> snp.ceil(snp.array([1.7, -1.7]))
    Array([ 2., -1.], dtype=float32)
    """
    return _rounded("ceil", ceil_p, x)


@operation1
def trunc(x: Any, /) -> Array:
    """Round each element toward zero to an integer, in the dtype of `x`.

    >>> snp.trunc(snp.array([1.7, -1.7]))
    Array([ 1., -1.], dtype=float32)
    """
    x = as_operand("trunc", x)
    if dtypes.kind(dtype_of(x)) in "biu":
        return _base.as_array("trunc", x)
    return _truncated(x)


def _truncated(x: Any) -> Array:
    return select(lt_p.bind(x, _base.zero_like(x)), ceil_p.bind(x), floor_p.bind(x))


@operation1
def rint(x: Any, /) -> Array:
    """Round each element to the nearest integer, halves to the even neighbor, in floating point.

    >>> snp.rint(snp.array([1.7, 2.5, -2.5]))
    Array([ 2.,  2., -2.], dtype=float32)
    """
    x = as_operand("rint", x)
    dtype = dtype_of(x)
    if not dtypes.is_inexact(dtype):
        return convert(x, dtypes.default_float(_base.x64()))
    return _round_parts(x)


def _round_parts(x: Any) -> Array:
    if not dtype_predicates.is_complex(dtype_of(x)):
        return round_p.bind(x, rounding_method=_TO_EVEN)
    return complex_p.bind(_round_parts(real_p.bind(x)), _round_parts(imag_p.bind(x)))


def round(a: Any, decimals: int = 0, out: None = None) -> Array:
    """Round each element to the given number of decimals, halves to the even neighbor.

    The dtype stays. A negative number of decimals rounds to tens, hundreds, ...

    >>> snp.round(snp.array([1.234, -2.5]), 1)
    Array([ 1.2, -2.5], dtype=float32)
    """
    return _round("round", a, decimals, out)


def around(a: Any, decimals: int = 0, out: None = None) -> Array:
    """Round each element to the given number of decimals: another name of `round`.

    >>> snp.around(snp.array([1.5, 2.5]))
    Array([2., 2.], dtype=float32)
    """
    return _round("around", a, decimals, out)


def _round(function: str, x: Any, decimals: Any, out: Any) -> Array:
    refuse_out(function, out)
    x = as_operand(function, x)
    decimals = _static_integer(function, "decimals", decimals)
    dtype = dtype_of(x)
    if dtype == dtypes.bool_:
        raise DtypeError(
            "booleans cannot be rounded",
            function=function,
            got=x,
            expected="numbers",
            fix="convert it first, with x.astype(float)",
        )
    if not dtypes.is_inexact(dtype):
        return _base.as_array(function, x) if decimals >= 0 else _round_integers(x, -decimals)
    return _to_decimals(x, decimals=decimals)


@fused
def _to_decimals(x: Any, *, decimals: int) -> Array:
    """Round floating point numbers, compiled as one, so that XLA decides how to form quotients."""
    if decimals == 0:
        return _round_parts(x)
    dtype, aval = dtype_of(x), _base.aval_of(x)
    weak = aval.weak_type and not aval.ndim
    narrow = dtype.itemsize < 4 and not dtype_predicates.is_complex(dtype)
    wide = convert(x, dtypes.float32, False) if narrow else x
    factor = number(10 ** abs(decimals), int, dtype_of(wide))
    if decimals > 0:
        scaled = _round_parts(mul_p.bind(wide, factor))
        return convert(div_p.bind(scaled, factor), dtype, weak)
    scaled = _round_parts(div_p.bind(wide, factor))
    return convert(mul_p.bind(scaled, factor), dtype, weak)


def _static_integer(function: str, argument: str, value: Any) -> int:
    try:
        return value.__index__()
    except AttributeError:
        raise ArgumentError.about(function, argument, value, "an int") from None


def _round_integers(x: Any, digits: int) -> Array:
    """Round integers to a multiple of 10**digits, halves to the even one."""
    dtype = dtype_of(x)
    unit = 10**digits
    if unit > dtypes.iinfo(dtype).max // 2:
        raise ArgumentValueError(
            f"10**{digits} is too large for {dtypes.name(dtype)}",
            function="round",
            argument="decimals",
            got=-digits,
            fix="round as floating point: x.astype(float)",
        )
    step, half, two = (number(v, int, dtype) for v in (unit, unit // 2, 2))
    rest = _arithmetic.remainder(x, step)  # in [0, unit)
    low = sub_p.bind(x, rest)
    odd = ne_p.bind(_arithmetic.remainder(_arithmetic.floor_divide(low, step), two), _zero(x))
    up = or_p.bind(gt_p.bind(rest, half), and_p.bind(eq_p.bind(rest, half), odd))
    return select(up, add_p.bind(low, step), low)


def _zero(x: Any) -> Any:
    return number(0, int, dtype_of(x))


# --- classification ------------------------------------------------------------------------------


@operation1
def isfinite(x: Any, /) -> Array:
    """Return whether each element is neither infinite nor NaN.

    >>> snp.isfinite(snp.array([1.0, snp.inf, snp.nan]))
    Array([ True, False, False], dtype=bool)
    """
    x = as_operand("isfinite", x)
    dtype = dtype_of(x)
    if not dtypes.is_inexact(dtype):
        return _all(x, True)
    return _any_part(and_p, is_finite_p.bind, x)


def _any_part(combine: Any, predicate: Any, x: Any) -> Array:
    """Apply a predicate on real numbers to both components of complex ones."""
    if not dtype_predicates.is_complex(dtype_of(x)):
        return predicate(x)
    return combine.bind(predicate(real_p.bind(x)), predicate(imag_p.bind(x)))


@operation1
def isinf(x: Any, /) -> Array:
    """Return whether each element is inf or -inf, in one of its parts if it is complex.

    >>> snp.isinf(snp.array([1.0, -snp.inf, snp.nan]))
    Array([False,  True, False], dtype=bool)
    """
    x = as_operand("isinf", x)
    if not dtypes.is_inexact(dtype_of(x)):
        return _all(x, False)

    def infinite(part: Any) -> Array:
        return eq_p.bind(abs_p.bind(part), number(float("inf"), float, dtype_of(part)))

    return _any_part(or_p, infinite, x)


@operation1
def isnan(x: Any, /) -> Array:
    """Return whether each element is NaN, in one of its parts if it is complex.

    >>> snp.isnan(snp.array([1.0, snp.inf, snp.nan]))
    Array([False, False,  True], dtype=bool)
    """
    x = as_operand("isnan", x)
    return ne_p.bind(x, x)


def _is_infinity(function: str, x: Any, value: float, out: Any) -> Array:
    refuse_out(function, out)
    x = as_operand(function, x)
    dtype = dtype_of(x)
    if dtype_predicates.is_complex(dtype):
        raise ArgumentValueError(
            f"{function} is not well defined for complex numbers, which have no sign",
            function=function,
            got=x,
            expected="real numbers",
            fix="ask about x.real or x.imag",
        )
    if not dtypes.is_inexact(dtype):
        return _all(x, False)
    return eq_p.bind(x, number(value, float, dtype))


def isposinf(x: Any, /, out: None = None) -> Array:
    """Return whether each element is inf. Real numbers only.

    >>> snp.isposinf(snp.array([snp.inf, -snp.inf]))
    Array([ True, False], dtype=bool)
    """
    return _is_infinity("isposinf", x, float("inf"), out)


def isneginf(x: Any, /, out: None = None) -> Array:
    """Return whether each element is -inf. Real numbers only.

    >>> snp.isneginf(snp.array([snp.inf, -snp.inf]))
    Array([False,  True], dtype=bool)
    """
    return _is_infinity("isneginf", x, float("-inf"), out)


@operation1
def signbit(x: Any, /) -> Array:
    """Return whether the sign bit of each element is set: for negative numbers, -0.0 and some NaNs.

    >>> snp.signbit(snp.array([1.0, -0.0]))
    Array([False,  True], dtype=bool)
    """
    x = as_operand("signbit", x)
    dtype = dtype_of(x)
    kind = dtypes.kind(dtype)
    if kind == "c":
        raise ArgumentValueError(
            f"numpy.signbit is not well defined for {dtypes.name(dtype)}",
            function="signbit",
            got=x,
            expected="real numbers",
        )
    if kind in "bu":
        return _all(x, False)
    if kind == "f":
        x = _bits(convert(_base.as_array("signbit", x), dtype))
    return lt_p.bind(x, _zero(x))


def _bits(x: Any) -> Any:
    """Reinterpret the bits of floating point numbers as signed integers of their width."""
    return bitcast_convert_type_p.bind(x, new_dtype=np.dtype(f"int{8 * x.dtype.itemsize}"))


# --- parts and neighbors --------------------------------------------------------------------------


@operation2
def copysign(x1: Any, x2: Any, /) -> Array:
    """Combine the absolute value of x1 with the sign of x2, in floating point.

    >>> snp.copysign(3, snp.array([1.0, -0.0]))
    Array([ 3., -3.], dtype=float32)
    """
    x, y = operands2_inexact("copysign", x1, x2)
    _refuse_complex("copysign", x)
    size = abs_p.bind(x)
    if not _base.aval_of(y).weak_type:
        size = _base.strong(size)
    return select(signbit(y), neg_p.bind(size), size)


def _refuse_complex(function: str, x: Any) -> None:
    if dtype_predicates.is_complex(dtype_of(x)):
        raise DtypeError(
            f"{function} does not support complex-valued inputs",
            function=function,
            got=x,
            expected="real numbers",
            fix="use the parts, x.real and x.imag, or abs(x)",
        )


@operation2
def nextafter(x: Any, y: Any, /) -> Array:
    """Return the floating point number next to x in the direction of y.

    >>> snp.nextafter(snp.float32(1), 2) > 1
    Array(True, dtype=bool)
    """
    return nextafter_p.bind(*operands2_inexact("nextafter", x, y))


@operation1
def spacing(x: Any, /) -> Array:
    """Compute the distance from each element to the next one further from zero, with its sign.

    >>> snp.spacing(snp.array([1.0, -4.0]))
    Array([ 1.1920929e-07, -4.7683716e-07], dtype=float32)
    """
    x = operand_inexact("spacing", x)
    _refuse_complex("spacing", x)
    dtype = dtype_of(x)
    x = convert(_base.as_array("spacing", x), dtype)
    step = sub_p.bind(nextafter_p.bind(x, copysign(number(np.inf, float, dtype), x)), x)
    # near zero the difference may be flushed to zero
    least = number(float(dtypes.finfo(dtype).smallest_subnormal), float, dtype)
    return select(eq_p.bind(step, _zero(x)), copysign(least, x), step)


@fused_function(1)
def modf(x: Any, /, out: None = None) -> tuple[Array, Array]:
    """Split each element into its fractional and its integral part, both with its sign.

    >>> snp.modf(snp.array([1.5, -2.25]))
    (Array([ 0.5 , -0.25], dtype=float32), Array([ 1., -2.], dtype=float32))
    """
    refuse_out("modf", out)
    x = operand_inexact("modf", x)
    _refuse_complex("modf", x)
    integral = _truncated(x)
    return sub_p.bind(x, integral), integral


@operation1
def frexp(x: Any, /) -> tuple[Array, Array]:
    """Split each element into the pair (m, e) with x = m * 2**e and m in [0.5, 1).

    e = 0 for zero, infinities and NaN. m has the sign and the dtype of x, e is an integer.

    >>> snp.frexp(snp.array([3.0, -0.25]))
    (Array([ 0.75, -0.5 ], dtype=float32), Array([ 2, -1], dtype=int32))
    """
    x = operand_inexact("frexp", x)
    _refuse_complex("frexp", x)
    dtype = dtype_of(x)
    x = convert(_base.as_array("frexp", x), dtype)
    if dtype.itemsize < 4:
        m, e = _split(convert(x, dtypes.float32))
        return convert(m, dtype), e
    return _split(x)


@fused
def _split(x: Any) -> tuple[Array, Array]:
    """Split numbers of 32 or 64 bits into mantissa and exponent."""
    layout = _Layout(x.dtype)
    field = and_p.bind(
        shift_right_logical_p.bind(_bits(x), layout.integer(layout.mantissa)),
        layout.integer(layout.field),
    )
    # zero and subnormal numbers (which compute as zeros), infinities and NaN have no exponent
    normal = and_p.bind(
        ne_p.bind(field, layout.integer(0)), ne_p.bind(field, layout.integer(layout.field))
    )
    exponent = sub_p.bind(field, layout.integer(layout.bias - 1))
    exponent = select(normal, exponent, layout.integer(0))
    index = convert(exponent, dtypes.int32)
    return _times_power(x, neg_p.bind(exponent)), index


class _Layout:
    """The bit layout of a floating dtype of 32 or 64 bits."""

    def __init__(self, dtype: Any) -> None:
        info = dtypes.finfo(dtype)
        self.bits = np.dtype(f"int{info.bits}")
        self.dtype = dtype
        self.mantissa = int(info.nmant)
        self.field = (1 << (info.bits - 1 - self.mantissa)) - 1
        self.bias = self.field >> 1

    def integer(self, value: int) -> Any:
        return number(value, int, self.bits)

    def power(self, n: Any) -> Any:
        """Compute 2**n for integers within the range of normal numbers."""
        biased = shift_left_p.bind(
            add_p.bind(n, self.integer(self.bias)), self.integer(self.mantissa)
        )
        return bitcast_convert_type_p.bind(biased, new_dtype=self.dtype)


@fused
def _times_power(x: Any, n: Any) -> Array:
    """Multiply x * 2**n in three factors that do not overflow; only the last effective one rounds."""
    layout = _Layout(x.dtype)
    low, high = layout.integer(layout.mantissa + 1 - layout.bias), layout.integer(layout.bias)
    for _ in range(2):
        part = min_p.bind(max_p.bind(n, low), high)
        x = mul_p.bind(x, layout.power(part))
        n = sub_p.bind(n, part)
    return mul_p.bind(x, layout.power(min_p.bind(max_p.bind(n, low), high)))


@fused_function(2)
def ldexp(x1: Any, x2: Any, /) -> Array:
    """Compute x1 * 2**x2 elementwise, in floating point; x2 are integers.

    >>> snp.ldexp(snp.array([1.0, 1.5]), snp.array([3, -1]))
    Array([8.  , 0.75], dtype=float32)
    """
    x, n = as_operand("ldexp", x1), as_operand("ldexp", x2, 1)
    if dtype_predicates.is_complex(dtype_of(x)) or dtypes.is_inexact(dtype_of(n)):
        names = tuple(np.dtype(dtype_of(v)) for v in (x, n))
        raise ArgumentValueError(
            f"ldexp not supported for input types {names}",
            function="ldexp",
            expected="real numbers and integer exponents",
        )
    dtype = dtype_of(x) if dtypes.is_inexact(dtype_of(x)) else _base.inexact(dtype_of(x))
    x, n = convert(_base.as_array("ldexp", x), dtype), _base.as_array("ldexp", n)
    x, n = _base.align_ranks("ldexp", (x, n))
    wide = convert(x, dtypes.float32) if dtype.itemsize < 4 else x
    layout = _Layout(wide.dtype)
    # exponents of greater size than this give zero or infinity in any case
    bound = 2 * (layout.bias + layout.mantissa)
    if dtypes.itemsize_bits(n.dtype) > 8:
        if dtypes.kind(n.dtype) == "i":
            n = max_p.bind(n, number(-bound, int, n.dtype))
        n = min_p.bind(n, number(bound, int, n.dtype))
    n = convert(n, layout.bits)
    return convert(_times_power(wide, n), dtype)


@operation2
def heaviside(x1: Any, x2: Any, /) -> Array:
    """Compute the Heaviside step function: 0 where x1 < 0, x2 where x1 = 0, 1 where x1 > 0.

    NaN stays.

    >>> snp.heaviside(snp.array([-1.0, 0.0, 1.0]), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = operands2_inexact("heaviside", x1, x2)
    _refuse_complex("heaviside", x)
    zero, one = _base.zero_like(x), _base.number_like(1, x)
    at_zero = select(ne_p.bind(x, x), x, y)
    above = select(gt_p.bind(x, zero), one, at_zero)
    out = select(lt_p.bind(x, zero), zero, above)
    return _base.strong(out) if shape_of(x) else out
