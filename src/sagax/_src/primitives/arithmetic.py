"""Define elementwise arithmetic: sums, products, quotients, extrema, roots, integer powers.

Operands of one operation have the same dtype; their shapes are equal up to sizes 1 and scalars. A Python
number takes the dtype of the array operands.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.families import EXACT, EXPENSIVE, SIMPLE, CotangentMask, Sums
from sagax._src.core.samples import Sample, bf16, boolean, c64, f16, f32, i8, i32, u8, u32
from sagax._src.core.tangents import Zero, is_linear
from sagax._src.core.value import aval_of, sockets
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, DtypeError
from sagax._src.primitives.accuracy import accurate_elementwise, bind_accurately
from sagax._src.primitives.comparison import eq, ge, lt
from sagax._src.primitives.complex_numbers import complex, conj, imag
from sagax._src.primitives.makers import (
    Accepts,
    elementwise,
    exact_in_bytes,
    exact_unless_complex,
    floating,
    inexact,
    integer,
    number,
    number_or_bool,
    operands,
    signed,
)
from sagax._src.primitives.rounding import ceil, floor
from sagax._src.primitives.selection import (
    compare_lexicographically,
    lexicographically_greater,
    lexicographically_less,
    real_maximum,
    real_minimum,
    select_n,
)
from sagax._src.primitives.shaping import full_like
from sagax._src.primitives.structural import convert, convert_element_type, real_p

_PAIRS = [
    Sample(f32(2, 3), f32(2, 3)),
    Sample(f32(3), f32()),
    Sample(f32(2, 3), f32(2, 1)),
    Sample(i32(3), i32(3)),
    Sample(u8(4), u8(4)),
    Sample(c64(3), c64(3)),
    Sample(bf16(3), bf16(3)),
]


real_number = Accepts(
    "real numbers", lambda d: number.test(d) and not dtype_predicates.is_complex(d)
)


def replaced(x: Any, old: Any, new: Any) -> Any:
    """Replace elements of `x` equal to `old` by the scalar `new`; for use in rules."""
    return select_n(eq(x, old), x, full_like(x, new))


# neg, add, sub, mul: linear, or linear in each operand -------------------------------------------

neg_p = elementwise(
    "neg",
    family=EXACT,
    cotangent_mask=CotangentMask.MOVED,
    wide_rule=np.negative,
    numpy=np.negative,
    accepts=number,
    hlo="negate",
    exact=True,
    jvp=lambda t, out, x: neg(t),
    transpose=lambda ct, x: (neg(ct),),
    samples=[Sample(f32(2, 3)), Sample(i32(3)), Sample(u8(3)), Sample(c64(3))],
)


def neg(x: Any) -> Any:
    """Negate `x` elementwise; modulo the width for integers.

    >>> lax.neg(np.array([1.0, -2.0]))
    Array([-1.,  2.], dtype=float32)
    """
    return neg_p.bind(x)


add_p = elementwise(
    "add",
    2,
    family=SIMPLE,
    cotangent_mask=CotangentMask.MOVED,
    wide_rule=np.add,
    numpy=np.add,
    accepts=number,
    hlo="add",
    exact=True,
    jvp=(lambda t, out, x, y: t, lambda t, out, x, y: t),
    transpose=lambda ct, x, y: (ct, ct),
    samples=_PAIRS,
)
add_p.sums = Sums.EACH


def add(x: Any, y: Any) -> Any:
    """Add `x` and `y` elementwise; modulo the width for integers.

    >>> lax.add(np.array([1.0, 2.0]), 3.0)
    Array([4., 5.], dtype=float32)
    """
    return add_p.bind(*operands(x, y))


sub_p = elementwise(
    "sub",
    2,
    family=SIMPLE,
    cotangent_mask=CotangentMask.MOVED,
    wide_rule=np.subtract,
    numpy=np.subtract,
    accepts=number,
    hlo="subtract",
    exact=True,
    jvp=(lambda t, out, x, y: t, lambda t, out, x, y: neg(t)),
    transpose=lambda ct, x, y: (ct, neg(ct)),
    samples=_PAIRS,
)
sub_p.sums = Sums.EACH


def sub(x: Any, y: Any) -> Any:
    """Subtract `y` from `x` elementwise; modulo the width for integers.

    >>> lax.sub(np.array([1.0, 2.0]), 3.0)
    Array([-2., -1.], dtype=float32)
    """
    return sub_p.bind(*operands(x, y))


mul_p = elementwise(
    "mul",
    2,
    family=SIMPLE,
    cotangent_mask=CotangentMask.SCALED,
    wide_rule=np.multiply,
    numpy=np.multiply,
    accepts=number,
    hlo="multiply",
    exact=exact_unless_complex,
    jvp=(lambda t, out, x, y: mul(t, y), lambda t, out, x, y: mul(x, t)),
    transpose=lambda ct, x, y: (mul(ct, y), None) if is_linear(x) else (None, mul(x, ct)),
    samples=_PAIRS,
)
mul_p.sums = Sums.PRODUCT


def mul(x: Any, y: Any, *, out_dtype: Any = None) -> Any:
    """Multiply `x` and `y` elementwise; modulo the width for integers.

    With `out_dtype` the operands, which may then differ in dtype, are converted to it first.

    >>> lax.mul(np.array([1.0, 2.0]), 3.0)
    Array([3., 6.], dtype=float32)
    """
    if out_dtype is not None:
        x, y = convert_element_type(x, out_dtype), convert_element_type(y, out_dtype)
    return mul_p.bind(*operands(x, y))


def _high_half(x: np.ndarray, y: np.ndarray) -> Any:
    width = dtypes.itemsize_bits(x.dtype)
    wide = x.astype(object) * y.astype(object)  # exact for every width
    return (
        np.asarray(wide >> width, dtype=object)
        .astype(np.int64 if dtype_predicates.is_signed(x.dtype) else np.uint64)
        .astype(x.dtype)
    )


mulhi_p = elementwise(
    "mulhi",
    2,
    family=SIMPLE,
    numpy=_high_half,
    accepts=integer,
    hlo="chlo.mulhi",
    exact=exact_in_bytes,
    samples=[
        Sample(i32(3, low=-(2**31), high=2**31), i32(3, low=-(2**31), high=2**31)),
        Sample(u32(3, high=2**32), u32(high=2**32)),
    ],
)


def mulhi(x: Any, y: Any) -> Any:
    """Return the upper half of the bits of the product x * y, which has twice the width. Integers only.

    >>> lax.mulhi(np.array([2**30, -1], np.int32), np.array([8, 1], np.int32))
    Array([ 2, -1], dtype=int32)
    """
    return mulhi_p.bind(*operands(x, y))


# div, rem -----------------------------------------------------------------------------------------


def _divide(x: np.ndarray, y: np.ndarray) -> Any:
    if not dtype_predicates.is_integer(x.dtype):
        if x.dtype.kind == "f" and y.size < x.size:
            return x * np.divide(y.dtype.type(1), y)  # as XLA does for a broadcast divisor
        return np.divide(x, y)
    if y.all():
        return np.floor_divide(x - np.fmod(x, y), y)  # exact, so floor and truncation agree
    quotient = _divide(x, np.where(y == 0, np.ones((), y.dtype), y))
    return np.where(y == 0, np.array(-1).astype(x.dtype), quotient)


def _remainder(x: np.ndarray, y: np.ndarray) -> Any:
    if not dtype_predicates.is_integer(x.dtype) or y.all():
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, np.ones((), y.dtype), y)))


def _truncated(x: Any) -> Any:
    return select_n(lt(x, 0), floor(x), ceil(x))


_QUOTIENTS = [
    Sample(f32(2, 3), f32(2, 3, low=0.5, high=2)),
    Sample(f32(3), f32(low=0.5, high=2)),
    Sample(f32(), f32(2, 3, low=-2, high=-0.5)),
    Sample(i32(4), i32(4)),
    Sample(u8(4), u8(4)),
    Sample(i8(2, 3), i8(2, 1)),
    Sample(np.array([7, -7, -(2**31), 5], np.int32), np.array([-2, 2, -1, 0], np.int32)),
    Sample(bf16(3), bf16(3, low=0.5)),
]
div_p = elementwise(
    "div",
    2,
    family=EXPENSIVE,
    latency=1,
    cotangent_mask=CotangentMask.SCALED,
    numpy=_divide,
    in_numpy="divide",
    accepts=number,
    hlo="divide",
    exact=exact_unless_complex,
    jvp=(
        lambda t, out, x, y: div(t, y),
        # y * y, of the textbook's formula, overflows long before the result does; and so the transpose rules of
        # both operands share the quotient ct / y.
        lambda t, out, x, y: div(mul(neg(t), out), y),
    ),
    transpose=lambda ct, x, y: (div(ct, y), None),
    samples=[*_QUOTIENTS, Sample(c64(3), c64(3, low=0.5))],
)
div_p.sums = Sums.QUOTIENT


def div(x: Any, y: Any) -> Any:
    """Divide `x` by `y` elementwise; integer quotients are truncated towards zero.

    An integer divided by zero is -1, which is the maximum of unsigned dtypes.

    >>> lax.div(np.array([7.0, -7.0]), 2.0)
    Array([ 3.5, -3.5], dtype=float32)
    >>> lax.div(np.array([7, -7]), 2)
    Array([ 3, -3], dtype=int32)
    """
    return div_p.bind(*operands(x, y))


rem_p = elementwise(
    "rem",
    2,
    family=EXPENSIVE,
    rounds=False,
    numpy=_remainder,
    in_numpy="fmod",
    accepts=real_number,
    hlo="remainder",
    exact=True,
    jvp=(lambda t, out, x, y: t, lambda t, out, x, y: mul(neg(t), _truncated(div(x, y)))),
    samples=_QUOTIENTS,
)


def rem(x: Any, y: Any) -> Any:
    """Return the remainder of x / y truncated towards zero, elementwise: it has the sign of `x`.

    Where `y` is zero it is NaN, for integers `x`. Real dtypes only.

    >>> lax.rem(np.array([7, -7]), 3)
    Array([ 1, -1], dtype=int32)
    """
    return rem_p.bind(*operands(x, y))


# max, min -----------------------------------------------------------------------------------------


def _maximum(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind == "c":
        return np.where(lexicographically_greater(x, y), x, y)
    return real_maximum(x, y)


def _minimum(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind == "c":
        return np.where(lexicographically_less(x, y), x, y)
    return real_minimum(x, y)


def _share(chosen: Any, other: Any, out: Any) -> Any:
    """Return the derivative of the extremum `out` in `chosen`: 0 or 1, half at a tie."""
    wins = convert(eq(chosen, out), aval_of(out).dtype)
    return select_n(eq(chosen, other), wins, full_like(out, 0.5))


def _extreme(name: str, hlo: str, direction: str, numpy: Any) -> Any:
    p = elementwise(
        name,
        2,
        family=EXACT,
        numpy=numpy,
        in_numpy=hlo,
        accepts=number_or_bool,
        exact=True,
        jvp=(
            lambda t, out, x, y: mul(t, _share(x, y, out)),
            lambda t, out, x, y: mul(t, _share(y, x, out)),
        ),
        samples=[
            *_PAIRS,
            Sample(boolean(4), boolean(4)),
            Sample(
                np.array([1, np.nan, 2], np.float32),
                np.array([np.nan, 1, 3], np.float32),
                derivatives=False,
            ),
        ],
    )

    @p.lower
    def _(b: Any, x: Any, y: Any) -> Any:
        if not dtype_predicates.is_complex(x.dtype):
            return b.extremum(hlo, x, y)
        x, y = b.stretch(x, b.out.shape), b.stretch(y, b.out.shape)
        return b.select(compare_lexicographically(b, direction, x, y), x, y)

    return p


max_p = _extreme("max", "maximum", "GT", _maximum)
min_p = _extreme("min", "minimum", "LT", _minimum)


def max(x: Any, y: Any) -> Any:
    """Return the maximum of `x` and `y`, elementwise; NaN if either is NaN.

    Complex numbers are ordered by their real parts, equal ones by their imaginary parts.

    >>> lax.max(np.array([1.0, 5.0]), 3.0)
    Array([3., 5.], dtype=float32)
    """
    return max_p.bind(*operands(x, y))


def min(x: Any, y: Any) -> Any:
    """Return the minimum of `x` and `y`, elementwise; NaN if either is NaN.

    Complex numbers are ordered by their real parts, equal ones by their imaginary parts.

    >>> lax.min(np.array([1.0, 5.0]), 3.0)
    Array([1., 3.], dtype=float32)
    """
    return min_p.bind(*operands(x, y))


# abs, sign ----------------------------------------------------------------------------------------


def _abs_tangent(t: Any, out: Any, x: Any) -> Any:
    if not dtype_predicates.is_complex(aval_of(x).dtype):
        return select_n(ge(x, 0), neg(t), t)
    return real_p.bind(mul(t, div(conj(x), convert(replaced(out, 0, 1), aval_of(x).dtype))))


abs_p = elementwise(
    "abs",
    family=EXACT,
    wide_rule=np.abs,
    numpy=np.abs,
    accepts=signed,
    result=dtype_predicates.real_part_dtype,
    hlo="abs",
    exact=exact_unless_complex,
    jvp=_abs_tangent,
    samples=[
        Sample(f32(2, 3)),
        Sample(i32(4)),
        Sample(c64(3)),
        Sample(bf16(3)),
        Sample(np.array([-(2**31), -5], np.int32)),
    ],
)


@abs_p.lower
def _(b: Any, x: Any) -> Any:
    out = b.elementwise("abs", [x])
    if not dtype_predicates.is_complex(x.aval.dtype):
        return out
    # infinite if either part is, even if the other is NaN
    infinite = b.full(np.inf, out.aval)
    parts = [b.op("abs", [b.op(how, [x], out.aval)], out.aval) for how in ("real", "imag")]
    either = [b.compare("EQ", part, infinite) for part in parts]
    return b.select(b.op("or", either, either[0].aval), infinite, out)


def abs(x: Any) -> Any:
    """Return the absolute values of `x`, elementwise; real for complex `x`.

    The minimum of a signed dtype is its own absolute value. The derivative at 0 is that of x >= 0.

    >>> lax.abs(np.array([-3, 4]))
    Array([3, 4], dtype=int32)
    """
    return abs_p.bind(x)


def _sign_numpy(x: np.ndarray) -> Any:
    if x.dtype.kind == "c":
        return np.where(x == 0, np.zeros((), x.dtype), x / np.abs(x))
    return np.where(x == 0, x, np.sign(x))  # np.sign alone drops -0.0


def _sign_tangent(t: Any, out: Any, z: Any) -> Any:
    """Differentiate z / |z|, which stays on the unit circle: only the part of t orthogonal to z counts."""
    if not dtype_predicates.is_complex(aval_of(z).dtype):
        return Zero(aval_of(out).to_tangent_aval())
    turn = div(imag(mul(conj(out), t)), replaced(abs(z), 0, 1))
    return mul(out, complex(full_like(turn, 0), turn))


sign_p = elementwise(
    "sign",
    family=EXACT,
    numpy=_sign_numpy,
    accepts=number,
    exact=exact_unless_complex,
    jvp=_sign_tangent,
    samples=[
        Sample(f32(2, 3)),
        Sample(i32(4)),
        Sample(u8(4)),
        Sample(c64(3)),
        Sample(np.array([-0.0, 0, np.nan, -np.inf], np.float32), derivatives=False),
    ],
)


@sign_p.lower
def _(b: Any, x: Any) -> Any:
    if dtype_predicates.is_unsigned(x.dtype):
        return b.op("minimum", [x, b.full_like(x, 1)], b.out)
    return b.op("sign", [x], b.out)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1 by the sign of `x`, in its dtype; for complex `x` x / |x|, or 0.

    >>> lax.sign(np.array([-3.0, 0.0, 4.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return sign_p.bind(x)


# Powers with fixed exponents ----------------------------------------------------------------------

square_p = elementwise(
    "square",
    family=SIMPLE,
    wide_rule=np.square,
    numpy=lambda x: x * x,
    accepts=number,
    exact=exact_unless_complex,
    jvp=lambda t, out, x: mul(t, strong_array(mul(2, x))),
    samples=[Sample(f32(2, 3)), Sample(i32(4)), Sample(u8(4)), Sample(c64(3)), Sample(bf16(3))],
)


@square_p.lower
def _(b: Any, x: Any) -> Any:
    return b.op("multiply", [x, x], b.out)


def square(x: Any) -> Any:
    """Return x * x, elementwise.

    >>> lax.square(np.array([2.0, -3.0]))
    Array([4., 9.], dtype=float32)
    """
    return square_p.bind(x)


def _power_by_squaring(x: Any, exponent: int, product: Any) -> Any:
    """Return x to a positive integer power, in about 2 log2(exponent) products."""
    out = None
    while True:
        if exponent & 1:
            out = x if out is None else product(out, x)
        exponent >>= 1
        if not exponent:
            return out
        x = product(x, x)


def _integer_pow_numpy(x: np.ndarray, *, y: int) -> Any:
    if y > 0:
        return _power_by_squaring(x, y, np.multiply)
    one = np.ones((), x.dtype)
    return np.full(x.shape, one) if y == 0 else one / _power_by_squaring(x, -y, np.multiply)


def _integer_pow_tangent(t: Any, out: Any, x: Any, *, y: int) -> Any:
    if y == 0:
        return Zero(aval_of(out).to_tangent_aval())
    if y == 1:
        return t
    return mul(t, strong_array(mul(y, x if y == 2 else integer_pow(x, y - 1))))


def strong(x: Any) -> Any:
    """Make the type of an array strong."""
    aval = aval_of(x)
    return convert(x, aval.dtype) if aval.weak_type else x


def strong_array(x: Any) -> Any:
    """Make the type of an array strong, and leave that of a scalar, as jax's products with constants do."""
    aval = aval_of(x)
    return convert(x, aval.dtype, False) if aval.ndim and aval.weak_type else x


integer_pow_p = elementwise(
    "integer_pow",
    family=SIMPLE,
    wide_rule=lambda x, *, y: x**y,
    numpy=_integer_pow_numpy,
    accepts=number,
    exact=exact_unless_complex,
    jvp=_integer_pow_tangent,
    samples=[
        *[Sample(f32(2, 3, low=0.5, high=2), y=y) for y in (-3, -1, 0, 1, 2, 3, 7)],
        Sample(i32(4), y=5),
        Sample(u32(4), y=0),
        Sample(c64(3), y=3),
        Sample(bf16(3), y=2),
    ],
)
_any_integer_pow = integer_pow_p.rule("abstract")


@integer_pow_p.abstract
def _(x: Any, *, y: int) -> Any:
    if y < 0 and dtype_predicates.is_integer(x.dtype):
        raise DtypeError(
            "Integers cannot be raised to negative powers",
            function="integer_pow",
            got=f"{x.str_short(short_dtypes=True)} and exponent {y}",
            fix="convert the base to floating point first, with x.astype(float)",
        )
    return _any_integer_pow(x, y=y)


@integer_pow_p.lower
def _(b: Any, x: Any, *, y: int) -> Any:
    if y == 0:
        return b.full(1, b.out)
    power = _power_by_squaring(x, y if y > 0 else -y, lambda p, q: b.op("multiply", [p, q], b.out))
    return power if y > 0 else b.op("divide", [b.full(1, b.out), power], b.out)


def integer_pow(x: Any, y: int) -> Any:
    """Raise `x` to the power `y`, a static int, by repeated multiplication.

    Negative powers require floating point or complex `x`. The power 0 is 1 everywhere.

    >>> lax.integer_pow(np.array([2.0, -3.0]), 3)
    Array([  8., -27.], dtype=float32)
    """
    try:
        y = operator.index(y)
    except TypeError:
        raise ArgumentError.about(
            "integer_pow", "y", y, "an int", fix="use pow for other exponents"
        ) from None
    return integer_pow_p.bind(x, y=y)


def reciprocal(x: Any) -> Any:
    """Return 1 / x, elementwise, for floating point and complex numbers.

    >>> lax.reciprocal(np.array([2.0, -4.0]))
    Array([ 0.5 , -0.25], dtype=float32)
    """
    return integer_pow(x, -1)


# Roots --------------------------------------------------------------------------------------------

_POSITIVE = [Sample(f32(2, 3, low=0.1, high=4)), Sample(f16(3, low=0.1)), Sample(bf16(3, low=0.1))]
sqrt_p = accurate_elementwise(
    "sqrt",
    family=EXPENSIVE,
    numpy=np.sqrt,
    accepts=inexact,
    hlo="sqrt",
    exact=exact_unless_complex,
    # not 0.5 / out, which is the same number: jaxprs that divide by a root have its reciprocal already
    jvp=lambda t, out, x, **_: mul(t, strong_array(mul(0.5, div(1, out)))),
    samples=[*_POSITIVE, Sample(c64(3))],
)


def _rsqrt_numpy(x: np.ndarray) -> Any:
    wide = x.astype(np.float32) if dtype_predicates.is_narrow_float(x.dtype) else x
    return (1 / np.sqrt(wide)).astype(x.dtype)


rsqrt_p = accurate_elementwise(
    "rsqrt",
    family=EXPENSIVE,
    numpy=_rsqrt_numpy,
    accepts=inexact,
    hlo="rsqrt",
    jvp=lambda t, out, x, **_: mul(t, strong_array(mul(-0.5, div(out, x)))),
    samples=[*_POSITIVE, Sample(c64(3, low=0.5))],
)
cbrt_p = accurate_elementwise(
    "cbrt",
    family=EXPENSIVE,
    numpy=np.cbrt,
    accepts=floating,
    hlo="cbrt",
    jvp=lambda t, out, x, **_: mul(t, strong_array(mul(1 / 3, integer_pow(out, -2)))),
    samples=[*_POSITIVE, Sample(f32(3, low=-3, high=-0.5))],
)


def sqrt(x: Any, *, accuracy: Any = None) -> Any:
    """Return the square roots of `x`, elementwise; NaN for negative real numbers.

    `accuracy` (an AccuracyMode or a Tolerance) selects an implementation on devices with several.

    >>> lax.sqrt(np.array([4.0, 9.0]))
    Array([2., 3.], dtype=float32)
    """
    return bind_accurately(sqrt_p, x, accuracy)


def rsqrt(x: Any, *, accuracy: Any = None) -> Any:
    """Return 1 / sqrt(x), elementwise. `accuracy` as for `sqrt`.

    >>> lax.rsqrt(np.array([4.0, 16.0]))
    Array([0.5 , 0.25], dtype=float32)
    """
    return bind_accurately(rsqrt_p, x, accuracy)


def cbrt(x: Any, *, accuracy: Any = None) -> Any:
    """Return the real cube roots of `x`, elementwise. `accuracy` as for `sqrt`.

    >>> lax.cbrt(np.array([8.0, -27.0]))
    Array([ 2., -3.], dtype=float32)
    """
    return bind_accurately(cbrt_p, x, accuracy)


def polynomial(x: Any, coeffs: Sequence[Any], *, unroll: int | None = None) -> Any:
    """Evaluate a polynomial by Horner's rule.

    Args:
      x: where to evaluate it.
      coeffs: the coefficients, the constant first; at least one. They are numbers, or arrays that fit `x`.
      unroll: accepted as in jax, and without effect: the rule is written out.

    Raises ValueError without coefficients.

    >>> float(lax.polynomial(2.0, [1.0, 0.0, 3.0]))
    13.0
    """
    coefficients = checks.several("polynomial", "coeffs", coeffs, "a sequence of numbers")
    if not coefficients:
        raise ArgumentValueError.about(
            "polynomial", "coeffs", "none", "at least one coefficient, the constant"
        )
    kinds = {aval_of(a).dtype for a in (x, *coefficients) if hasattr(a, "dtype")}
    if len(kinds) > 1:  # promoted as the operators of arrays do
        result = sockets.concrete(x) * 0 + coefficients[-1]
        for a in reversed(coefficients[:-1]):
            result = result * x + a
        return result
    result = add(mul(x, 0), coefficients[-1])
    for a in reversed(coefficients[:-1]):
        result = add(mul(result, x), a)
    return strong_array(result)
