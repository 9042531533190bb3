"""Define elementwise exponentials, logarithms, trigonometric and hyperbolic functions and inverses.

All take floating point or complex numbers and preserve the dtype; complex logarithms and inverse functions have
NumPy's branch cuts. Functions of several operations compute narrow floats in float32, and round once.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import tuning
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.families import EXPENSIVE, FORMULA, SIMPLE, Family, Pass
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, bf16, c64, f16, f32
from sagax._src.core.value import aval_of
from sagax._src.primitives import formulas as f
from sagax._src.primitives import sine
from sagax._src.primitives.accuracy import accurate_elementwise, bind_accurately
from sagax._src.primitives.arithmetic import (
    abs,
    add,
    div,
    full_like,
    max,
    mul,
    neg,
    rsqrt,
    square,
    strong_array,
    sub,
)
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.complex_numbers import complex, imag, real
from sagax._src.primitives.formulas import Number, formula, lower_to
from sagax._src.primitives.makers import elementwise, inexact, operands
from sagax._src.primitives.selection import clamp, select_n
from sagax._src.primitives.structural import convert

_LOG_2 = 0.6931471805599453


def widened(numpy: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reference rule from a NumPy function: in float32 for narrower floats, dtype preserved."""

    def reference(*xs: np.ndarray, **_: Any) -> Any:
        dtype = xs[0].dtype
        if dtype_predicates.is_narrow_float(dtype):
            xs = tuple([x.astype(np.float32) for x in xs])
        return np.asarray(numpy(*xs)).astype(dtype)

    return reference


def _samples(low: float = -2, high: float = 2) -> Sequence[Sample]:
    return [
        Sample(f32(2, 3, low=low, high=high)),
        Sample(f32(low=low, high=high)),
        Sample(c64(3)),
        Sample(bf16(3, low=low, high=high)),
        Sample(f16(3, low=low, high=high)),
        Sample(f32(0)),
    ]


def _accurate(
    name: str,
    numpy: Any,
    hlo: str,
    jvp: Callable,
    low: float = -2,
    high: float = 2,
    *,
    in_float32: bool = False,
    family: Family = EXPENSIVE,
) -> Primitive:
    return accurate_elementwise(
        name,
        family=family,
        numpy=widened(numpy),
        hlo=hlo,
        in_float32=in_float32,
        accepts=inexact,
        jvp=jvp,
        samples=_samples(low, high),
    )


def _plain(
    name: str,
    numpy: Any,
    jvp: Callable,
    low: float = -2,
    high: float = 2,
    family: Family = EXPENSIVE,
) -> Primitive:
    return elementwise(
        name,
        family=family,
        numpy=widened(numpy),
        accepts=inexact,
        jvp=jvp,
        samples=_samples(low, high),
    )


# (1 - x)(1 + x), whose derivatives stay accurate near the ends of [-1, 1] -----------------------------

one_minus_square_p = _plain(
    "one_minus_square",
    lambda x: (1 - x) * (1 + x),
    lambda t, out, x: mul(t, strong_array(mul(-2, x))),
    family=SIMPLE,
)


@formula(one_minus_square_p, widen=False)
def _one_minus_square(x: Number) -> Number:
    return (1 - x) * (1 + x)


def one_minus_square(x: Any) -> Any:
    """Return 1 - x * x, elementwise, without cancellation where `x` is near 1 or -1.

    >>> lax.one_minus_square(np.array([0.0, 0.5], np.float32))
    Array([1.  , 0.75], dtype=float32)
    """
    if dtypes.kind(aval_of(x).dtype) in "iu":
        return sub(1, mul(x, x))
    return one_minus_square_p.bind(x)


# Exponentials and logarithms ------------------------------------------------------------------------

exp_p = _accurate("exp", np.exp, "exponential", lambda t, out, x, accuracy=None: mul(t, out))


def exp(x: Any, *, accuracy: Any = None) -> Any:
    """Return e to the power `x`, elementwise.

    `accuracy` (a `Tolerance` or an `AccuracyMode`) selects an implementation on devices with several.

    >>> lax.exp(np.array([0.0, 1.0])).round(2)
    Array([1.  , 2.72], dtype=float32)
    """
    return bind_accurately(exp_p, x, accuracy)


exp2_p = accurate_elementwise(
    "exp2",
    family=EXPENSIVE,
    numpy=widened(np.exp2),
    hlo="",
    accepts=inexact,
    jvp=lambda t, out, x, accuracy=None: mul(_LOG_2, mul(t, strong_array(out))),
    samples=_samples(),
)


# The power series of (2**r - 1) / r for |r| <= 1/2, with an error of 5e-9, from an interpolation at Chebyshev's points.
_EXP2_SERIES = (
    0.6931471880262287, 0.24022650760568132, 0.055503571142201544, 0.00961808255728395, 0.0013390863364174759, 0.00015453162941980736,
)  # fmt: skip


@formula(exp2_p, widen=False)
def _exp2(x: Number) -> Number:
    """Return 2**n 2**(x - n) with n the integer nearest to x, so that powers of 2 are exact."""
    dtype = x.value.dtype
    if dtype_predicates.is_complex(dtype):
        return (x * _LOG_2).apply("exponential")
    if dtype == np.float32 and x.b.module.platform == "cpu":
        return _vector_exp2(x)
    whole = x.apply("round_nearest_even")
    out = f.exp((x - whole) * _LOG_2).times_power_of_2(whole)
    # infinities make the difference NaN
    return f.where(f.absolute(x).equals(np.inf), f.maximum(x, 0.0), out)


def _vector_exp2(x: Number) -> Number:
    """Return 2**x of float32 in operations that LLVM vectorizes; subnormal results are 0, as all are on CPUs."""
    b, aval = x.b, x.value.aval
    whole = x.apply("round_nearest_even")
    r = x - whole
    fraction = 1 + r * f.polynomial(r, _EXP2_SERIES)
    n = b.convert(whole.value, np.dtype(np.int32))
    bits = b.op("bitcast_convert", [fraction.value], n.aval)
    bits = b.op("add", [bits, b.op("shift_left", [n, b.full_like(n, 23)], n.aval)], n.aval)
    out = Number(b, b.op("bitcast_convert", [bits], aval), x.double)
    return f.where(x >= 128.0, np.inf, f.where(x < -126.0, 0.0, out))


def exp2(x: Any, *, accuracy: Any = None) -> Any:
    """Return 2 to the power `x`, elementwise; exact where `x` is an integer.

    `accuracy` is as in `exp`.

    >>> lax.exp2(np.array([3.0, 0.5])).round(4)
    Array([8.    , 1.4142], dtype=float32)
    """
    return bind_accurately(exp2_p, x, accuracy)


expm1_p = _accurate(
    "expm1",
    np.expm1,
    "exponential_minus_one",
    lambda t, out, x, accuracy=None: mul(t, exp(x, accuracy=accuracy)),
    in_float32=True,
)


def expm1(x: Any, *, accuracy: Any = None) -> Any:
    """Return e to the power `x`, minus 1, elementwise; accurate also for small `x`.

    `accuracy` is as in `exp`.

    >>> lax.expm1(np.array([0.0, 1.0])).round(4)
    Array([0.    , 1.7183], dtype=float32)
    """
    return bind_accurately(expm1_p, x, accuracy)


def _by_formula_if_many(p: Primitive, dtype: Any, formula: Callable[..., Any]) -> None:
    """Lower `p` to a formula of SIMD operations for many numbers of one dtype."""
    plain = p.rule("lower")

    def lower(b: Any, x: Any, accuracy: Any = None) -> Any:
        aval = x.aval
        many = dims.is_static(aval.shape) and aval.size >= tuning.SINE_MIN_ELEMENTS
        if accuracy is None and many and aval.dtype == dtype and b.may_rewrite:
            return formula(b, x)
        return plain(b, x, accuracy=accuracy)

    p.lower_rule = lower


log_p = _accurate(
    "log",
    np.log,
    "log",
    lambda t, out, x, accuracy=None: div(t, x),
    low=0.1,
    family=EXPENSIVE.but(
        "a logarithm, which XLA computes faster within a reduction", rewritten_by=Pass.SINES
    ),
)
_by_formula_if_many(log_p, dtypes.float64, lambda b, x: f.vector_log(Number(b, x, True)).value)


def log(x: Any, *, accuracy: Any = None) -> Any:
    """Return the natural logarithm of `x`, elementwise: -inf at 0, NaN for negative real `x`.

    The derivative is 1 / x for all x. `accuracy` is as in `exp`.

    >>> lax.log(np.array([1.0, 2.0])).round(4)
    Array([0.    , 0.6931], dtype=float32)
    """
    return bind_accurately(log_p, x, accuracy)


def log2(x: Any, *, accuracy: Any = None) -> Any:
    """Return the logarithm of `x` to base 2, elementwise: -inf at 0, NaN for negative real `x`.

    `accuracy` is as in `exp`.

    >>> lax.log2(np.array([1.0, 8.0])).round(4)
    Array([0., 3.], dtype=float32)
    """
    return div(log(x, accuracy=accuracy), math.log(2.0))


log1p_p = _accurate(
    "log1p",
    np.log1p,
    "log_plus_one",
    lambda t, out, x, accuracy=None: div(t, add(x, 1)),
    low=-0.8,
)


def log1p(x: Any, *, accuracy: Any = None) -> Any:
    """Return the natural logarithm of 1 + x, elementwise; accurate also for small `x`.

    `accuracy` is as in `exp`.

    >>> lax.log1p(np.array([0.0, 1.0])).round(4)
    Array([0.    , 0.6931], dtype=float32)
    """
    return bind_accurately(log1p_p, x, accuracy)


logistic_p = _accurate(
    "logistic",
    lambda x: 1 / (1 + np.exp(-x)),
    "logistic",
    lambda t, out, x, accuracy=None: mul(t, mul(out, sub(1, out))),
    in_float32=True,
)


def logistic(x: Any, *, accuracy: Any = None) -> Any:
    """Return the logistic function 1 / (1 + exp(-x)), elementwise.

    `accuracy` is as in `exp`.

    >>> lax.logistic(np.array([0.0, 1.0])).round(3)
    Array([0.5  , 0.731], dtype=float32)
    """
    return bind_accurately(logistic_p, x, accuracy)


# Circular functions -----------------------------------------------------------------------------------

_SINE = FORMULA.but("a sine, which XLA computes faster within a reduction", rewritten_by=Pass.SINES)
sin_p = _accurate(
    "sin",
    np.sin,
    "sine",
    lambda t, out, x, accuracy=None: mul(t, cos(x, accuracy=accuracy)),
    family=_SINE,
)
cos_p = _accurate(
    "cos",
    np.cos,
    "cosine",
    lambda t, out, x, accuracy=None: neg(mul(t, sin(x, accuracy=accuracy))),
    family=_SINE,
)


def _zero_where_real_is_zero(p: Primitive, part: str) -> None:
    """Zero one part of the sine and cosine on the imaginary axis, even if the other part is infinite.

    XLA multiplies zero with infinity there.
    """
    plain = p.rule("lower")

    def lower(b: Any, x: Any, **params: Any) -> Any:
        out = plain(b, x, **params)
        if not dtype_predicates.is_complex(x.aval.dtype):
            return out
        real = x.aval.with_dtype(dtype_predicates.real_part_dtype(x.aval.dtype))
        zero = b.full(0, real)
        parts = {how: b.op(how, [out], real) for how in ("real", "imag")}
        on_axis = b.compare("EQ", b.op("real", [x], real), zero)
        parts[part] = b.select(on_axis, zero, parts[part])
        return b.op("complex", [parts["real"], parts["imag"]], b.out)

    p.lower_rule = lower


_zero_where_real_is_zero(sin_p, "real")
_zero_where_real_is_zero(cos_p, "imag")


tan_p = _accurate(
    "tan",
    np.tan,
    "tan",
    lambda t, out, x, accuracy=None: mul(t, strong_array(add(1, square(out)))),
    low=-1.2,
    high=1.2,
    family=_SINE,
)
for _p, _function in ((sin_p, "sine"), (cos_p, "cosine"), (tan_p, "tangent")):
    _by_formula_if_many(_p, dtypes.float32, functools.partial(sine.lower, function=_function))


def sin(x: Any, *, accuracy: Any = None) -> Any:
    """Return the sine of `x`, in radians, elementwise. `accuracy` is as in `exp`.

    >>> lax.sin(np.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8415], dtype=float32)
    """
    return bind_accurately(sin_p, x, accuracy)


def cos(x: Any, *, accuracy: Any = None) -> Any:
    """Return the cosine of `x`, in radians, elementwise. `accuracy` is as in `exp`.

    >>> lax.cos(np.array([0.0, 1.0])).round(4)
    Array([1.    , 0.5403], dtype=float32)
    """
    return bind_accurately(cos_p, x, accuracy)


def tan(x: Any, *, accuracy: Any = None) -> Any:
    """Return the tangent of `x`, in radians, elementwise. `accuracy` is as in `exp`.

    >>> lax.tan(np.array([0.0, 0.5])).round(4)
    Array([0.    , 0.5463], dtype=float32)
    """
    return bind_accurately(tan_p, x, accuracy)


# Inverse circular functions ----------------------------------------------------------------------------


asin_p = _plain(
    "asin",
    np.arcsin,
    lambda t, out, x: mul(t, rsqrt(one_minus_square(x))),
    low=-0.9,
    high=0.9,
)
acos_p = _plain(
    "acos",
    np.arccos,
    lambda t, out, x: mul(t, neg(rsqrt(one_minus_square(x)))),
    low=-0.9,
    high=0.9,
)
atan_p = _plain(
    "atan",
    np.arctan,
    lambda t, out, x: div(t, strong_array(add(1, square(x)))),
)


lower_to(acos_p, "chlo.acos", in_float32=True)
lower_to(atan_p, "chlo.atan")


@formula(asin_p, widen=False, complex_hlo="chlo.asin")
def _asin(x: Number) -> Number:
    return x.apply("atan2", f.sqrt((1 - x) * (1 + x)))


def asin(x: Any) -> Any:
    """Return the angle in [-pi/2, pi/2] whose sine is `x`, elementwise; NaN where |x| > 1.

    >>> lax.asin(np.array([0.0, 1.0])).round(4)
    Array([0.    , 1.5708], dtype=float32)
    """
    return asin_p.bind(x)


def acos(x: Any) -> Any:
    """Return the angle in [0, pi] whose cosine is `x`, elementwise; NaN where |x| > 1.

    >>> lax.acos(np.array([1.0, -1.0])).round(4)
    Array([0.    , 3.1416], dtype=float32)
    """
    return acos_p.bind(x)


def atan(x: Any) -> Any:
    """Return the angle in [-pi/2, pi/2] whose tangent is `x`, elementwise.

    >>> lax.atan(np.array([0.0, 1.0])).round(4)
    Array([0.    , 0.7854], dtype=float32)
    """
    return atan_p.bind(x)


def _atan2_numpy(y: np.ndarray, x: np.ndarray) -> Any:
    if y.dtype.kind == "c":
        return -1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))
    return np.arctan2(y, x)


atan2_p = elementwise(
    "atan2",
    2,
    family=EXPENSIVE,
    numpy=widened(_atan2_numpy),
    in_numpy="arctan2",
    accepts=inexact,
    jvp=(
        lambda t, out, y, x: mul(t, div(x, add(square(y), square(x)))),
        lambda t, out, y, x: mul(t, div(neg(y), add(square(y), square(x)))),
    ),
    samples=[
        Sample(f32(2, 3), f32(2, 3)),
        Sample(f32(3), f32(low=0.5)),
        Sample(f32(2, 3), f32(2, 1)),
        Sample(bf16(3), bf16(3)),
        Sample(c64(3, low=0.5), c64(3, low=0.5)),
    ],
)
lower_to(atan2_p, "atan2")


def atan2(x: Any, y: Any) -> Any:
    """Return the angle of the point with abscissa `y` and ordinate `x`: that of x / y in the right quadrant.

    Elementwise, in [-pi, pi]. Both derivatives at the origin are NaN: no angle is defined there.

    >>> lax.atan2(np.array([1.0, -1.0]), np.array([1.0, -1.0])).round(4)
    Array([ 0.7854, -2.3562], dtype=float32)
    """
    return atan2_p.bind(*operands(x, y))


# Hyperbolic functions ----------------------------------------------------------------------------------

sinh_p = _plain("sinh", np.sinh, lambda t, out, x: mul(t, cosh(x)))
cosh_p = _plain("cosh", np.cosh, lambda t, out, x: mul(t, sinh(x)))
tanh_p = _accurate(
    "tanh", np.tanh, "tanh", lambda t, out, x, accuracy=None: mul(t, one_minus_square(out))
)


# exp(x / 2) twice: exp(x) itself overflows earlier than the result


@formula(sinh_p, widen=False, complex_hlo="chlo.sinh")
def _sinh(x: Number) -> Number:
    size = f.absolute(x)
    e = f.expm1(f.minimum(size, 1.0))
    half = f.exp(0.5 * size)
    far = (0.5 * half) * half - (0.5 / half) / half
    return f.sign(x) * f.where(size < 1, 0.5 * (e + e / (e + 1)), far)


@formula(cosh_p, widen=False, complex_hlo="chlo.cosh")
def _cosh(x: Number) -> Number:
    half = f.exp(0.5 * f.absolute(x))
    return (0.5 * half) * half + (0.5 / half) / half


def sinh(x: Any) -> Any:
    """Return the hyperbolic sine of `x`, elementwise.

    >>> lax.sinh(np.array([0.0, 1.0])).round(4)
    Array([0.    , 1.1752], dtype=float32)
    """
    return sinh_p.bind(x)


def cosh(x: Any) -> Any:
    """Return the hyperbolic cosine of `x`, elementwise.

    >>> lax.cosh(np.array([0.0, 1.0])).round(4)
    Array([1.    , 1.5431], dtype=float32)
    """
    return cosh_p.bind(x)


def tanh(x: Any, *, accuracy: Any = None) -> Any:
    """Return the hyperbolic tangent of `x`, elementwise. `accuracy` is as in `exp`.

    >>> lax.tanh(np.array([0.0, 1.0])).round(3)
    Array([0.   , 0.762], dtype=float32)
    """
    return bind_accurately(tanh_p, x, accuracy)


# Inverse hyperbolic functions ---------------------------------------------------------------------------


def _inverse_hypotenuse(x: Any) -> Any:
    """Return 1 / sqrt(1 + x**2), where x**2 alone may overflow.

    It is r / sqrt(r**2 + (r x)**2) for any r > 0, here one over |x| if that exceeds 1. The value is
    independent of r, so derivatives may pass through it.
    """
    dtype = aval_of(x).dtype
    largest = float(dtypes.finfo(dtype).max)

    def scale(size: Any) -> Any:
        """Return 1 / size between 1 and a number so small that r x is finite for all finite x."""
        return div(1, clamp(1, size, 2 * largest**0.5))

    if not dtype_predicates.is_complex(dtype):
        r = scale(abs(x))
        return mul(r, rsqrt(add(square(r), square(mul(r, x)))))
    re, im = real(x), imag(x)
    size = max(abs(re), abs(im))
    r = scale(size)
    re, im = mul(r, re), mul(r, im)
    whole = complex(add(mul(sub(r, im), add(r, im)), square(re)), mul(2, mul(re, im)))
    out = mul(convert(r, dtype), rsqrt(whole))
    return select_n(eq(size, np.inf), out, full_like(out, 0))


asinh_p = _plain(
    "asinh",
    np.arcsinh,
    lambda t, out, x: mul(t, strong_array(_inverse_hypotenuse(x))),
)
acosh_p = _plain(
    "acosh",
    np.arccosh,
    lambda t, out, x: mul(t, mul(rsqrt(sub(x, 1)), rsqrt(add(x, 1)))),
    low=1.2,
    high=4,
)
atanh_p = _plain(
    "atanh",
    np.arctanh,
    lambda t, out, x: div(t, one_minus_square(x)),
    low=-0.9,
    high=0.9,
)


lower_to(asinh_p, "chlo.asinh", in_float32=True)
lower_to(acosh_p, "chlo.acosh", in_float32=True)
lower_to(atanh_p, "chlo.atanh", in_float32=True)


def asinh(x: Any) -> Any:
    """Return the number whose hyperbolic sine is `x`, elementwise.

    >>> lax.asinh(np.array([0.0, 1.0])).round(4)
    Array([0.    , 0.8814], dtype=float32)
    """
    return asinh_p.bind(x)


def acosh(x: Any) -> Any:
    """Return the nonnegative number whose hyperbolic cosine is `x`, elementwise; NaN where x < 1.

    >>> lax.acosh(np.array([1.0, 2.0])).round(3)
    Array([0.   , 1.317], dtype=float32)
    """
    return acosh_p.bind(x)


def atanh(x: Any) -> Any:
    """Return the number whose hyperbolic tangent is `x`, elementwise; NaN where |x| > 1.

    >>> lax.atanh(np.array([0.0, 0.5])).round(4)
    Array([0.    , 0.5493], dtype=float32)
    """
    return atanh_p.bind(x)
