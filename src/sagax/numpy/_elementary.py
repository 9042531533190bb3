"""Compute elementary functions: exponentials, logarithms, roots, trigonometry, complex parts.

Integers and booleans become floating point first; Python numbers give weakly typed results.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives import transcendental as t
from sagax._src.primitives.arithmetic import (
    abs_p,
    add_p,
    cbrt_p,
    div_p,
    max_p,
    mul_p,
    neg_p,
    sqrt_p,
    square_p,
    sub_p,
)
from sagax._src.primitives.bitwise import and_p, or_p
from sagax._src.primitives.comparison import eq_p, ge_p, is_finite_p, le_p, lt_p, ne_p
from sagax._src.primitives.complex_numbers import complex_p, conj_p, imag_p
from sagax._src.primitives.rounding import RoundingMethod, round_p
from sagax._src.primitives.structural import convert, real_p
from sagax.numpy._arithmetic import remainder
from sagax.numpy._base import dtype_of, operand_inexact, operands2_inexact, select
from sagax.numpy._fused import fused, fused_function, operation1, operation2

if TYPE_CHECKING or lazy_imports():
    from sagax._src.primitives.special import bessel


_abs, _neg = abs_p.bind, neg_p.bind


# --- exponentials and logarithms -----------------------------------------------------------------


@operation1
def exp(x: Any, /) -> Array:
    """Compute e to the power of each element.

    >>> snp.exp(snp.array([0.0, 1.0])).round(2)
    Array([1.  , 2.72], dtype=float32)
    """
    return t.exp_p.bind(operand_inexact("exp", x))


@operation1
def exp2(x: Any, /) -> Array:
    """Compute 2 to the power of each element.

    >>> snp.exp2(snp.array([0.0, 3.0])).round(4)
    Array([1., 8.], dtype=float32)
    """
    return t.exp2_p.bind(operand_inexact("exp2", x))


@operation1
def expm1(x: Any, /) -> Array:
    """Compute exp(x) - 1 elementwise, precise also where x is small.

    >>> snp.expm1(snp.array([0.0, 1e-9]))
    Array([0.e+00, 1.e-09], dtype=float32)
    """
    return t.expm1_p.bind(operand_inexact("expm1", x))


@operation1
def log(x: Any, /) -> Array:
    """Compute the natural logarithm of each element; NaN for negative real numbers.

    >>> snp.log(snp.array([1.0, snp.e])).round(4)
    Array([0., 1.], dtype=float32)
    """
    return t.log_p.bind(operand_inexact("log", x))


@operation1
def log1p(x: Any, /) -> Array:
    """Compute log(1 + x) elementwise, precise also where x is small.

    >>> snp.log1p(snp.array([0.0, 1e-9]))
    Array([0.e+00, 1.e-09], dtype=float32)
    """
    return t.log1p_p.bind(operand_inexact("log1p", x))


@operation1
def log2(x: Any, /) -> Array:
    """Compute the base-2 logarithm of each element.

    >>> snp.log2(snp.array([1.0, 8.0])).round(4)
    Array([0., 3.], dtype=float32)
    """
    logs = t.log_p.bind(operand_inexact("log2", x))
    return _divide_by_real(logs, math.log(2.0))


@operation1
def log10(x: Any, /) -> Array:
    """Compute the base-10 logarithm of each element.

    >>> snp.log10(snp.array([1.0, 1000.0])).round(4)
    Array([0., 3.], dtype=float32)
    """
    logs = t.log_p.bind(operand_inexact("log10", x))
    return _base.strong(_divide_by_real(logs, math.log(10.0)))


def _divide_by_real(x: Any, divisor: float) -> Array:
    """Divide x by a real number; complex x by components, so that infinities stay where they are."""
    if not dtypes.is_complex(dtype_of(x)):
        return div_p.bind(x, _base.number_like(divisor, x))
    re, im = real_p.bind(x), imag_p.bind(x)
    divisor = _base.number_like(divisor, re)
    return complex_p.bind(div_p.bind(re, divisor), div_p.bind(im, divisor))


@operation1
def sqrt(x: Any, /) -> Array:
    """Compute the square root of each element; NaN for negative real numbers.

    >>> snp.sqrt(snp.array([4, 9]))
    Array([2., 3.], dtype=float32)
    """
    return sqrt_p.bind(operand_inexact("sqrt", x))


@operation1
def cbrt(x: Any, /) -> Array:
    """Compute the real cube root of each element.

    >>> snp.cbrt(snp.array([8, -27])).round(4)
    Array([ 2., -3.], dtype=float32)
    """
    return cbrt_p.bind(operand_inexact("cbrt", x))


@operation2
def logaddexp(x: Any, y: Any, /) -> Array:
    """Compute log(exp(x) + exp(y)) without overflow.

    Complex results have an imaginary part in [-pi, pi).

    >>> snp.logaddexp(1000.0, snp.array([1000.0, 0.0])).round(1)
    Array([1000.7, 1000. ], dtype=float32)
    """
    x, y = operands2_inexact("logaddexp", x, y)
    out = _log_of_sum(x, y, base=math.e)
    return _base.strong_array(out) if dtypes.is_complex(dtype_of(out)) else out


@operation2
def logaddexp2(x: Any, y: Any, /) -> Array:
    """Compute log2(2**x + 2**y) elementwise, without overflow.

    >>> snp.logaddexp2(1000.0, snp.array([1000.0, 0.0]))
    Array([1001., 1000.], dtype=float32)
    """
    x, y = operands2_inexact("logaddexp2", x, y)
    return _base.strong_array(_log_of_sum(x, y, base=2.0))


@fused
def _log_of_sum(x: Any, y: Any, *, base: float) -> Array:
    """Compute the logarithm of a sum to base e or 2, as the greater logarithm and a correction."""
    per_nat = 1 / math.log(base)
    half_turn = math.pi * per_nat
    greater = max_p.bind(x, y)
    if dtypes.is_complex(dtype_of(greater)):
        difference = sub_p.bind(
            add_p.bind(x, y), mul_p.bind(greater, _base.number_like(2.0, greater))
        )
    else:
        # equal ones, infinities among them, differ by nothing
        gap = sub_p.bind(x, y)
        gap = select(eq_p.bind(x, y), _base.zero_like(gap), gap)
        difference = _neg(_abs(gap))
    natural = base == math.e
    correction = t.log1p_p.bind((t.exp_p if natural else t.exp2_p).bind(difference))
    if not natural:
        correction = mul_p.bind(correction, _base.number_like(per_nat, correction))
    out = add_p.bind(greater, correction)
    if not dtypes.is_complex(dtype_of(out)):
        return out
    re, im = real_p.bind(out), imag_p.bind(out)
    half = _base.number_like(half_turn, im)
    turned = remainder(add_p.bind(im, half), 2 * half_turn)
    return complex_p.bind(re, sub_p.bind(turned, half))


@operation2
def hypot(x1: Any, x2: Any, /) -> Array:
    """Compute sqrt(x1**2 + x2**2) elementwise, without intermediate overflow or underflow.

    The result is inf where one operand is infinite.

    >>> snp.hypot(3e30, snp.array([4e30]))
    Array([5.e+30], dtype=float32)
    """
    x, y = operands2_inexact("hypot", x1, x2)
    dtype = dtype_of(x)
    if dtypes.is_complex(dtype):
        raise ArgumentValueError(
            "hypot is not well defined for complex-valued inputs",
            function="hypot",
            expected="real numbers",
            fix="take abs(x) first",
        )
    if dtype.itemsize < 4:
        wide = [convert(_base.as_array("hypot", v), dtypes.float32) for v in (x, y)]
        found = _hypotenuse_in_range(*wide) if dtype == np.float16 else _hypotenuse(*wide)
        return convert(found, dtype)
    return _hypotenuse(x, y)


@fused
def _hypotenuse_in_range(x: Any, y: Any) -> Array:
    """Compute sqrt(x**2 + y**2) where no square overflows, as in float32 none of a float16 does."""
    out = sqrt_p.bind(add_p.bind(square_p.bind(x), square_p.bind(y)))
    return _infinite_where_one_is(out, _abs(x), _abs(y))


@fused
def _hypotenuse(x: Any, y: Any) -> Array:
    info = dtypes.finfo(dtype_of(x))
    size_x, size_y = _abs(x), _abs(y)
    size = select(lt_p.bind(size_x, size_y), size_y, size_x)  # NaN does not matter here

    def two_to(power: int) -> Any:
        return _base.number_like(2.0**power, size)

    # squares stay in range after a multiplication by a power of two, which is exact
    huge = ge_p.bind(size, two_to(info.maxexp // 2 - 2))
    tiny = le_p.bind(size, two_to(info.minexp // 2 + info.nmant // 2 + 1))
    down, up = info.maxexp // 2 + 2, info.nmant + 4 - info.minexp // 2
    scale = select(huge, two_to(-down), select(tiny, two_to(up), two_to(0)))
    unscale = select(huge, two_to(down), select(tiny, two_to(-up), two_to(0)))
    squares = [square_p.bind(mul_p.bind(v, scale)) for v in (x, y)]
    out = mul_p.bind(sqrt_p.bind(add_p.bind(*squares)), unscale)
    return _infinite_where_one_is(out, size_x, size_y)


def _infinite_where_one_is(out: Any, size_x: Any, size_y: Any) -> Array:
    inf = _base.number_like(math.inf, size_x)
    infinite = or_p.bind(eq_p.bind(size_x, inf), eq_p.bind(size_y, inf))
    return select(infinite, _base.number_like(math.inf, out), out)


# --- angles --------------------------------------------------------------------------------------


@operation1
def sin(x: Any, /) -> Array:
    """Compute the sine of each element, in radians.

    >>> snp.sin(snp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8415], dtype=float32)
    """
    return t.sin_p.bind(operand_inexact("sin", x))


@operation1
def cos(x: Any, /) -> Array:
    """Compute the cosine of each element, in radians.

    >>> snp.cos(snp.array([0.0, 1.0])).round(4)
    Array([1.    , 0.5403], dtype=float32)
    """
    return t.cos_p.bind(operand_inexact("cos", x))


@operation1
def tan(x: Any, /) -> Array:
    """Compute the tangent of each element, in radians.

    >>> snp.tan(snp.array([0.0, 1.0])).round(4)
    Array([0.    , 1.5574], dtype=float32)
    """
    return t.tan_p.bind(operand_inexact("tan", x))


@operation1
def arcsin(x: Any, /) -> Array:
    """Compute the inverse sine of each element, in [-pi/2, pi/2]; NaN for real x beyond [-1, 1].

    >>> snp.arcsin(snp.array([0.0, 1.0])).round(4)
    Array([0.    , 1.5708], dtype=float32)
    """
    return t.asin_p.bind(operand_inexact("arcsin", x))


@operation1
def arccos(x: Any, /) -> Array:
    """Compute the inverse cosine of each element, in [0, pi]; NaN for real x outside of [-1, 1].

    >>> snp.arccos(snp.array([1.0, 0.0])).round(4)
    Array([0.    , 1.5708], dtype=float32)
    """
    return t.acos_p.bind(operand_inexact("arccos", x))


@operation1
def arctan(x: Any, /) -> Array:
    """Compute the inverse tangent of each element, in [-pi/2, pi/2].

    >>> snp.arctan(snp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.7854], dtype=float32)
    """
    return t.atan_p.bind(operand_inexact("arctan", x))


@operation2
def arctan2(x1: Any, x2: Any, /) -> Array:
    """Compute the angle in [-pi, pi] of the point with ordinate x1 and abscissa x2.

    >>> snp.arctan2(1.0, snp.array([1.0, -1.0])).round(4)
    Array([0.7854, 2.3562], dtype=float32)
    """
    return t.atan2_p.bind(*operands2_inexact("arctan2", x1, x2))


@operation1
def sinh(x: Any, /) -> Array:
    """Compute the hyperbolic sine of each element.

    >>> snp.sinh(snp.array([0.0, 1.0])).round(4)
    Array([0.    , 1.1752], dtype=float32)
    """
    return t.sinh_p.bind(operand_inexact("sinh", x))


@operation1
def cosh(x: Any, /) -> Array:
    """Compute the hyperbolic cosine of each element.

    >>> snp.cosh(snp.array([0.0, 1.0])).round(4)
    Array([1.    , 1.5431], dtype=float32)
    """
    return t.cosh_p.bind(operand_inexact("cosh", x))


@operation1
def tanh(x: Any, /) -> Array:
    """Compute the hyperbolic tangent of each element.

    >>> snp.tanh(snp.array([0.0, 1.0])).round(3)
    Array([0.   , 0.762], dtype=float32)
    """
    return t.tanh_p.bind(operand_inexact("tanh", x))


@operation1
def arcsinh(x: Any, /) -> Array:
    """Compute the inverse hyperbolic sine of each element.

    >>> snp.arcsinh(snp.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8814], dtype=float32)
    """
    return t.asinh_p.bind(operand_inexact("arcsinh", x))


@operation1
def arccosh(x: Any, /) -> Array:
    """Compute the inverse hyperbolic cosine of each element, at least 0; NaN for real x below 1.

    >>> snp.arccosh(snp.array([1.0, 2.0])).round(3)
    Array([0.   , 1.317], dtype=float32)
    """
    x = operand_inexact("arccosh", x)
    y = t.acosh_p.bind(x)
    if not dtypes.is_complex(dtype_of(y)):
        return y
    part = real_p.bind(y)  # of the two complex solutions the one to the right
    return select(lt_p.bind(part, _base.number_like(0, part)), _neg(y), y)


@operation1
def arctanh(x: Any, /) -> Array:
    """Compute the inverse hyperbolic tangent of each element; NaN for real x outside of [-1, 1].

    >>> snp.arctanh(snp.array([0.0, 0.5])).round(4)
    Array([0.    , 0.5493], dtype=float32)
    """
    return t.atanh_p.bind(operand_inexact("arctanh", x))


asin, acos, atan, atan2 = arcsin, arccos, arctan, arctan2
asinh, acosh, atanh = arcsinh, arccosh, arctanh


@operation1
def deg2rad(x: Any, /) -> Array:
    """Convert angles from degrees to radians.

    >>> snp.deg2rad(snp.array([0.0, 180.0])).round(4)
    Array([0.    , 3.1416], dtype=float32)
    """
    x = operand_inexact("deg2rad", x)
    return _base.strong_array(mul_p.bind(x, _base.number_like(math.pi / 180, x)))


radians = deg2rad


@operation1
def rad2deg(x: Any, /) -> Array:
    """Convert angles from radians to degrees.

    >>> snp.rad2deg(snp.array([0.0, snp.pi])).round(4)
    Array([  0., 180.], dtype=float32)
    """
    x = operand_inexact("rad2deg", x)
    return _base.strong_array(mul_p.bind(x, _base.number_like(180 / math.pi, x)))


degrees = rad2deg


@operation1
def i0(x: Any, /) -> Array:
    """Compute the modified Bessel function of the first kind, of order 0. Real numbers only.

    >>> snp.i0(snp.array([0.0, 1.0])).round(3)
    Array([1.   , 1.266], dtype=float32)
    """
    x = operand_inexact("i0", x)
    if dtypes.is_complex(dtype_of(x)):
        raise ArgumentValueError(
            f"Unsupported input type to numpy.i0: {dtypes.name(dtype_of(x))}",
            function="i0",
            got=x,
            expected="real numbers",
        )
    return mul_p.bind(t.exp_p.bind(_abs(x)), bessel.bessel_i0e_p.bind(x))


@operation1
def sinc(x: Any, /) -> Array:
    """Compute sin(pi x) / (pi x) elementwise, and 1 at x = 0.

    >>> snp.sinc(snp.array([0.0, 0.5])).round(3)
    Array([1.   , 0.637], dtype=float32)
    """
    x = operand_inexact("sinc", x)
    found = _complex_sinc(x) if dtypes.is_complex(dtype_of(x)) else _real_sinc(x)
    return _base.strong_array(found)


@fused
def _real_sinc(x: Any) -> Array:
    one, pi = _base.number_like(1.0, x), _base.number_like(math.pi, x)
    # sin(pi x) from the distance to the nearest integer, which is exact, and whether that integer is odd
    nearest = round_p.bind(x, rounding_method=RoundingMethod.TO_NEAREST_EVEN)
    infinite = eq_p.bind(_abs(x), _base.number_like(math.inf, x))
    rest = select(infinite, _base.zero_like(x), sub_p.bind(x, nearest))
    half = mul_p.bind(nearest, _base.number_like(0.5, x))
    odd = ne_p.bind(round_p.bind(half, rounding_method=RoundingMethod.TO_NEAREST_EVEN), half)
    near = eq_p.bind(nearest, _base.zero_like(x))
    # the sine is pi times the rest times this series, at all distances
    series = _sinc_series(mul_p.bind(pi, rest))
    # XLA writes a quotient that derivatives read to memory, and a product not
    part = mul_p.bind(rest, div_p.bind(one, select(near, one, x)))
    part = select(odd, _neg(part), part)
    return mul_p.bind(series, select(near, one, part))


def _sinc_series(x: Any) -> Array:
    """Compute sin(x) / x by its power series, for |x| <= pi / 2: smooth at 0 to any order."""
    minus_square = _neg(square_p.bind(x))
    highest = 13 if dtype_of(x).itemsize <= 4 or dtype_of(x) == dtypes.complex64 else 23
    out = _base.number_like(1.0 / math.factorial(highest), x)
    for k in range(highest - 2, 0, -2):
        coefficient = _base.number_like(1.0 / math.factorial(k), x)
        out = add_p.bind(mul_p.bind(out, minus_square), coefficient)
    return out


@fused
def _complex_sinc(x: Any) -> Array:
    re, im = real_p.bind(x), imag_p.bind(x)
    far = and_p.bind(eq_p.bind(_abs(re), _base.number_like(math.inf, re)), is_finite_p.bind(im))
    one = _base.number_like(1.0, x)
    x = mul_p.bind(select(far, one, x), _base.number_like(math.pi, x))
    near = lt_p.bind(_abs(x), _base.number_like(1.0, re))
    away = select(near, one, x)
    series = _sinc_series(select(near, x, _base.number_like(0.0, x)))
    out = select(near, series, div_p.bind(t.sin_p.bind(away), away))
    return select(far, _base.number_like(0.0, x), out)


# --- complex numbers -----------------------------------------------------------------------------


def real(val: Any, /) -> Array:
    """Return the real part of each element; real numbers as they are.

    >>> snp.real(snp.array([1 + 2j]))
    Array([1.], dtype=float32)
    """
    x = _base.as_operand("real", val)
    if not dtypes.is_complex(dtype_of(x)):
        return _base.as_array("real", x)
    return real_p.bind(x)


@operation1
def imag(val: Any, /) -> Array:
    """Return the imaginary part of each element; zeros for real numbers.

    >>> snp.imag(snp.array([1 + 2j]))
    Array([2.], dtype=float32)
    """
    x = _base.as_operand("imag", val)
    if not dtypes.is_complex(dtype_of(x)):
        return _base.full_like(x, 0)
    return imag_p.bind(x)


def conjugate(x: Any, /) -> Array:
    """Compute the complex conjugate of each element; real numbers as they are.

    >>> snp.conjugate(snp.array([1 + 2j]))
    Array([1.-2.j], dtype=complex64)
    """
    x = _base.as_operand("conjugate", x)
    if not dtypes.is_complex(dtype_of(x)):
        return _base.as_array("conjugate", x)
    return conj_p.bind(x, input_dtype=dtype_of(x))


conj = conjugate


@operation1
def iscomplex(x: Any, /) -> Array:
    """Return whether each element has an imaginary part that is not zero.

    >>> snp.iscomplex(snp.array([1 + 0j, 1j]))
    Array([False,  True], dtype=bool)
    """
    part = imag(x)
    return _base.strong_array(ne_p.bind(part, _base.zero_like(part)))


@operation1
def isreal(x: Any, /) -> Array:
    """Return whether the imaginary part of each element is zero.

    >>> snp.isreal(snp.array([1 + 0j, 1j]))
    Array([ True, False], dtype=bool)
    """
    part = imag(x)
    return _base.strong_array(eq_p.bind(part, _base.zero_like(part)))


@fused_function(1)
def angle(z: Any, deg: bool = False) -> Array:
    """Compute the angle of each complex number in the plane, in radians, or in degrees if `deg`.

    >>> snp.angle(snp.array([1j, -1]), deg=True).round(4)
    Array([ 90., 180.], dtype=float32)
    """
    x = _base.as_operand("angle", z)
    dtype = dtype_of(x)
    if dtypes.is_complex(dtype):
        out = t.atan2_p.bind(imag_p.bind(x), real_p.bind(x))
    else:
        if not dtypes.is_inexact(dtype):
            dtype = dtypes.default_float(_base.x64())
        given, x = _base.aval_of(x), _base.cast(x, dtype, False)
        out = _base.strong(t.atan2_p.bind(_base.number(0, int, dtype), x))
        if given.weak_type and given.ndim and given.dtype == dtype and not deg:
            out = convert(out, dtype, True)  # as jax has it, for arrays alone
    return rad2deg(out) if deg else out
