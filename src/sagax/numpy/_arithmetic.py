"""Compute elementwise arithmetic: sums, products, quotients, remainders, powers, extrema, signs.

Operands are promoted to a common dtype and broadcast. `add` and its kind are plain functions here; the
module `_ufunc` makes of some of them the objects of the public namespace that also reduce and accumulate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import tuning
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import DtypeError
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.arithmetic import (
    abs_p,
    add_p,
    div_p,
    integer_pow_p,
    max_p,
    min_p,
    mul_p,
    neg_p,
    rem_p,
    sign_p,
    square_p,
    sub_p,
)
from sagax._src.primitives.bitwise import and_p, or_p, shift_right_logical_p
from sagax._src.primitives.casting import bitcast_convert_type
from sagax._src.primitives.comparison import eq_p, ge_p, gt_p, lt_p, ne_p
from sagax._src.primitives.complex_numbers import imag_p
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.reductions import reduce, reduce_or_p
from sagax._src.primitives.rounding import RoundingMethod, round_p
from sagax._src.primitives.structural import real_p
from sagax._src.runtime.array import ConcreteArray
from sagax.numpy._base import (
    dtype_of,
    number_like,
    operand_inexact,
    operands2,
    operands2_inexact,
    select,
    zero_like,
)
from sagax.numpy._fused import fused, operation1, operation2

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import while_loop as loops
    from sagax._src.primitives import power as power_family


_BOOL = dtypes.bool_
_SCALARS = frozenset((bool, int, float, complex))


def _numeric(*operands: Any) -> tuple:
    """Promote booleans among the operands to integers."""
    if dtype_of(operands[0]) == _BOOL:
        dtype = dtypes.to_numeric(_BOOL)
        return tuple([_base.cast(x, dtype, False) for x in operands])
    return operands


def _real_kind(function: str, x: Any) -> str:
    """Return the kind of a dtype that is not complex; raise for a complex one."""
    kind = dtypes.kind(dtype_of(x))
    if kind == "c":
        raise DtypeError(
            f"{function} does not support complex-valued inputs",
            function=function,
            got=x,
            expected="real numbers",
            fix="take the real part first, with x.real",
        )
    return kind


# --- sums and products ---------------------------------------------------------------------------


@operation2
def add(x: Any, y: Any, /) -> Array:
    """Add x + y elementwise; for booleans, compute the logical or.

    >>> snp.add(snp.arange(3), 10)
    Array([10, 11, 12], dtype=int32)
    """
    x, y = operands2("add", x, y)
    try:
        return add_p.bind(x, y)
    except DtypeError:  # asking for their dtype first would slow down all others
        if dtype_of(x) != _BOOL:
            raise
    return or_p.bind(x, y)


@operation2
def subtract(x: Any, y: Any, /) -> Array:
    """Subtract x - y elementwise. Booleans are refused, as in NumPy.

    >>> snp.subtract(snp.arange(3), 10)
    Array([-10,  -9,  -8], dtype=int32)
    """
    x, y = operands2("subtract", x, y)
    return sub_p.bind(x, y)


@operation2
def multiply(x: Any, y: Any, /) -> Array:
    """Multiply x * y elementwise; for booleans, compute the logical and.

    >>> snp.multiply(snp.arange(3), 0.5)
    Array([0. , 0.5, 1. ], dtype=float32, weak_type=True)
    """
    x, y = operands2("multiply", x, y)
    try:
        return mul_p.bind(x, y)
    except DtypeError:
        if dtype_of(x) != _BOOL:
            raise
    return and_p.bind(x, y)


@operation1
def negative(x: Any, /) -> Array:
    """Negate each element; modulo the width for unsigned integers. Booleans are refused.

    >>> snp.negative(snp.array([1.0, -2.0]))
    Array([-1.,  2.], dtype=float32)
    """
    return neg_p.bind(_base.as_operand("negative", x))


def positive(x: Any, /) -> Array:
    """Return `x` unchanged.

    >>> snp.positive(snp.array([1.0, -2.0]))
    Array([ 1., -2.], dtype=float32)
    """
    return _base.as_array("positive", x)


@operation1
def square(x: Any, /) -> Array:
    """Square each element; booleans become integers.

    >>> snp.square(snp.array([1.0, -2.0]))
    Array([1., 4.], dtype=float32)
    """
    (x,) = _numeric(_base.as_operand("square", x))
    return square_p.bind(x)


# --- quotients and remainders --------------------------------------------------------------------


@operation2
def true_divide(x1: Any, x2: Any, /) -> Array:
    """Divide x1 / x2 elementwise, in floating point; integers are converted.

    Division by zero gives inf or NaN.

    >>> snp.true_divide(snp.arange(3), 2)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = operands2_inexact("true_divide", x1, x2)
    return div_p.bind(x, y)


@operation2
def divide(x1: Any, x2: Any, /) -> Array:
    """Divide x1 / x2 elementwise: another name of `true_divide`.

    >>> snp.divide(snp.arange(3), 2)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    x, y = operands2_inexact("divide", x1, x2)
    return div_p.bind(x, y)


@operation1
def reciprocal(x: Any, /) -> Array:
    """Compute 1 / x elementwise, in floating point.

    >>> snp.reciprocal(snp.array([2.0, -4.0]))
    Array([ 0.5 , -0.25], dtype=float32)
    """
    return integer_pow_p.bind(operand_inexact("reciprocal", x), y=-1)


def _static_sign(x: Any) -> int:
    """Return 1 or -1 for a number that is known to be positive or negative, else 0."""
    known: Any = x if type(x) in _SCALARS or isinstance(x, np.generic) else 0
    return 1 if known > 0 else -1 if known < 0 else 0


def _remainder(x: Any, y: Any, sign: int) -> tuple[Any, Any]:
    """Return the result of `rem`, with the sign of x, and a mask of signs that differ from y's.

    `sign` is that of y if it is known. For integers y = 0 must have been dealt with.
    """
    r = rem_p.bind(x, y)
    zero = zero_like(r)
    if sign:
        return r, (lt_p if sign > 0 else gt_p).bind(r, zero)
    differ = ne_p.bind(lt_p.bind(r, zero), lt_p.bind(y, zero_like(y)))
    return r, and_p.bind(differ, ne_p.bind(r, zero))


def _nonzero_divisor(y: Any, sign: int) -> Any:
    """Replace 0 by 1 in an integer divisor; the remainder is then defined to be 0."""
    if sign or dtypes.is_inexact(dtype_of(y)):
        return y
    return select(eq_p.bind(y, zero_like(y)), number_like(1, y), y)


@operation2
def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Compute floor(x1 / x2) elementwise, in the common dtype; booleans become integers.

    Raises DtypeError for complex operands. An integer divided by zero gives a meaningless number.

    >>> snp.floor_divide(snp.array([7, -7]), 2)
    Array([ 3, -4], dtype=int32)
    """
    x, y = _numeric(*operands2("floor_divide", x1, x2))
    kind = _real_kind("floor_divide", x)
    if kind == "u":
        return div_p.bind(x, y)
    if kind == "f":
        return _floor_divmod(x, y)[0]
    quotient = div_p.bind(x, y)
    sign = _static_sign(x2)
    if sign:
        _, below = _remainder(x, y, sign)
    else:
        rest = ne_p.bind(rem_p.bind(x, y), zero_like(x))
        below = and_p.bind(rest, ne_p.bind(sign_p.bind(x), sign_p.bind(y)))
    return select(below, sub_p.bind(quotient, number_like(1, quotient)), quotient)


@operation2
def remainder(x1: Any, x2: Any, /) -> Array:
    """Compute x1 - x2 * floor(x1 / x2) elementwise: the remainder with the sign of `x2`.

    For integers and x2 = 0 it is 0. Raises DtypeError for complex operands.

    >>> snp.remainder(snp.array([7, -7]), 4)
    Array([3, 1], dtype=int32)
    """
    x, y = _numeric(*operands2("remainder", x1, x2))
    kind = _real_kind("remainder", x)
    sign = _static_sign(x2)
    y = _nonzero_divisor(y, sign)
    if kind == "u":
        return rem_p.bind(x, y)
    r, below = _remainder(x, y, sign)
    return select(below, add_p.bind(r, y), r)


mod = remainder


@operation2
def fmod(x1: Any, x2: Any, /) -> Array:
    """Compute x1 - x2 * trunc(x1 / x2) elementwise: the remainder with the sign of `x1`.

    For integers and x2 = 0 it is 0. Raises DtypeError for complex operands.

    >>> snp.fmod(snp.array([7, -7]), 4)
    Array([ 3, -3], dtype=int32)
    """
    x, y = _numeric(*operands2("fmod", x1, x2))
    _real_kind("fmod", x)
    return rem_p.bind(x, _nonzero_divisor(y, _static_sign(x2)))


@operation2
def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """Return the pair (floor_divide(x1, x2), remainder(x1, x2)).

    >>> snp.divmod(snp.array([7, -7]), 4)
    (Array([ 1, -2], dtype=int32), Array([3, 1], dtype=int32))
    """
    x, y = _numeric(*operands2("divmod", x1, x2))
    if _real_kind("divmod", x) == "f":
        return _floor_divmod(x, y)
    if _static_sign(x2):  # a number tells more than the operand made of it
        y = x2
    return floor_divide(x, y), remainder(x, y)


@fused
def _floor_divmod(x: Any, y: Any) -> tuple[Array, Array]:
    """Compute the floor of x / y and the matching remainder, in floating point."""
    r, below = _remainder(x, y, 0)
    # x - r is a multiple of y, up to rounding that the last step takes away
    multiple = select(eq_p.bind(y, zero_like(y)), x, sub_p.bind(x, r))
    quotient = div_p.bind(multiple, y)
    quotient = select(below, sub_p.bind(quotient, number_like(1, quotient)), quotient)
    quotient = round_p.bind(quotient, rounding_method=RoundingMethod.AWAY_FROM_ZERO)
    return quotient, select(below, add_p.bind(r, y), r)


# --- powers --------------------------------------------------------------------------------------


def power(x1: Any, x2: Any, /) -> Array:
    """Compute x1 ** x2 elementwise, in the common dtype; booleans become integers.

    An exponent that is a Python int is a fixed one, computed by repeated multiplication. Integers have
    no negative powers: a fixed one, or a known array of shape (), raises TypeError, and other arrays of them give
    numbers without meaning. Integer powers of integers are exact modulo the width.

    >>> snp.power(snp.arange(4), 2)
    Array([0, 1, 4, 9], dtype=int32)
    """
    kind = type(x2)
    if kind is int or (kind is not bool and isinstance(x2, np.integer)):
        (x,) = _numeric(_base.as_operand("power", x1))
        return integer_pow_p.bind(x, y=int(x2))
    x, y = _base.as_operand("power", x1), _base.as_operand("power", x2, 1)
    if dtypes.is_inexact(dtype_of(x)) and dtypes.kind(dtype_of(y)) in "iu":
        dtype, weak = _base.common_dtype("power", (x, y))
        if dtype == dtype_of(x):  # the exponents may stay integers
            x = x if type(x) not in _SCALARS or weak else _base.cast(x, dtype, weak)
            return power_family.pow_p.bind(*_base.align_ranks("power", (x, y)))
    x, y = _numeric(*operands2("power", x, y))
    if dtypes.is_inexact(dtype_of(x)):
        return power_family.pow_p.bind(x, y)
    if isinstance(x2, (np.ndarray, ConcreteArray)) and x2.shape == () and int(x2) < 0:
        return integer_pow_p.bind(x, y=int(x2))  # raises
    result = _integer_power(x, y)
    # as in jax: an array of exponents decides the type, one integer does not
    one = _base.shape_of(x2) == () and (type(x2) is bool or dtype_of(x2) != _BOOL)
    return result if one and aval_of(x1).weak_type else _base.strong(result)


pow = power


@fused
def _integer_power(x: Any, y: Any) -> Array:
    """Raise integers to integer powers by squaring.

    Exponents below the number of bits, the only ones whose powers fit the dtype (but those of 0, 1 and -1), take
    one elementwise loop, the others another pass.
    """
    shape = _base.broadcast_shapes("power", [_base.shape_of(x), _base.shape_of(y)])
    divided = not (aval_of(x).explicit_sharding is None and aval_of(y).explicit_sharding is None)
    steps = (dtype_of(y).itemsize * 8).bit_length() - 1
    others = None if divided else _has_beyond(y, steps)
    x, y = _base.broadcast_to(x, shape), _base.broadcast_to(y, shape)
    if others is None:
        return _power_by_loop(x, y)
    start = power_of_few_bits(x, y, steps)

    def by_loop(state: tuple) -> tuple:
        # XLA would take what does not depend on the state out of the loop, and so compute it always
        bases, exponents, _ = optimization_barrier((x, y, state[0]))
        return np.False_, _power_by_loop(bases, exponents)

    return loops.while_loop(lambda state: state[0], by_loop, (others, start))[1]


def power_of_few_bits(x: Any, y: Any, bits: int) -> Array:
    """Raise integers to powers below 2 ** bits, by squaring; both have one shape and dtype."""
    one, zero = number_like(1, x), zero_like(y)
    out = _base.broadcast_to(_base.as_array("power", one), _base.shape_of(x))
    for i in range(bits):
        x = mul_p.bind(x, x) if i else x
        bit = ne_p.bind(and_p.bind(y, number_like(1 << i, y)), zero)
        out = select(bit, mul_p.bind(out, x) if i else x, out)
    return out


def _has_beyond(y: Any, bits: int) -> Array:
    """Return whether an element, as an unsigned number, has more than so many bits."""
    aval = aval_of(y)
    axes = tuple(range(aval.ndim))
    if not dims.is_static(aval.shape) or aval.size < tuning.NUMPY_MAX_ELEMENTS:
        high = shift_right_logical_p.bind(y, number_like(bits, y))
        return reduce_or_p.bind(ne_p.bind(high, zero_like(y)), axes=axes)
    least, greatest = least_and_greatest(y)
    return or_p.bind(
        lt_p.bind(least, zero_like(least)), ge_p.bind(greatest, number_like(1 << bits, greatest))
    )


def least_and_greatest(x: Any) -> tuple[Array, Array]:
    """Compute the minimum and the maximum of all integers of `x`, in one pass; unsigned ones count as signed."""
    dtype = np.dtype(f"i{dtype_of(x).itemsize}")
    x = bitcast_convert_type(x, dtype)
    info = np.iinfo(dtype)
    ends = (dtype.type(info.max), dtype.type(info.min))
    return reduce((x, x), ends, _extended, tuple(range(aval_of(x).ndim)))


def _extended(a: tuple, b: tuple) -> tuple:
    return min_p.bind(a[0], b[0]), max_p.bind(a[1], b[1])


def _power_by_loop(x: Any, y: Any) -> Array:
    """Take one step for each bit of the greatest exponent."""
    shape = _base.shape_of(x)
    one, zero = number_like(1, y), zero_like(y)

    def unfinished(state: tuple) -> Array:
        return reduce_or_p.bind(ne_p.bind(state[2], zero), axes=tuple(range(len(shape))))

    def step(state: tuple) -> tuple:
        out, x, y = state
        odd = ne_p.bind(and_p.bind(y, one), zero)
        out = select(odd, mul_p.bind(out, x), out)
        return out, mul_p.bind(x, x), shift_right_logical_p.bind(y, one)

    if aval_of(x).explicit_sharding is None and aval_of(y).explicit_sharding is None:
        start = _base.broadcast_to(_base.as_array("power", number_like(1, x)), shape)
    else:  # all of the carry divided as products are
        start = _base.full_like(mul_p.bind(x, y), 1)
        x, y = (mul_p.bind(v, start) for v in (x, y))
    return loops.while_loop(unfinished, step, (start, x, y))[0]


@operation2
def float_power(x1: Any, x2: Any, /) -> Array:
    """Compute x1 ** x2 elementwise, always in floating point.

    >>> snp.float_power(snp.arange(1, 4), -1)
    Array([1.        , 0.5       , 0.33333334], dtype=float32)
    """
    x, y = operands2_inexact("float_power", x1, x2)
    return power_family.pow_p.bind(x, y)


# --- sizes and signs -----------------------------------------------------------------------------


@operation1
def absolute(x: Any, /) -> Array:
    """Compute the absolute value of each element; for complex numbers the modulus, which is real.

    >>> snp.absolute(snp.array([-1.5, 3 + 4j]))
    Array([1.5, 5. ], dtype=float32)
    """
    x = _base.as_operand("absolute", x)
    if dtypes.kind(dtype_of(x)) in "bu":
        return _base.as_array("absolute", x)
    return abs_p.bind(x)


abs = absolute


@operation1
def fabs(x: Any, /) -> Array:
    """Compute the absolute value of each element, in floating point. Real numbers only.

    >>> snp.fabs(snp.array([-1, 2]))
    Array([1., 2.], dtype=float32)
    """
    x = operand_inexact("fabs", x)
    if dtypes.is_complex(dtype_of(x)):
        raise DtypeError(
            "ufunc 'fabs' does not support complex dtypes",
            function="fabs",
            got=x,
            expected="real numbers",
            fix="use abs",
        )
    return abs_p.bind(x)


@operation1
def sign(x: Any, /) -> Array:
    """Compute the sign of each element: -1, 0 or 1; x / |x| for complex numbers.

    >>> snp.sign(snp.array([-1.5, 0.0, 2.0]))
    Array([-1.,  0.,  1.], dtype=float32)
    """
    return sign_p.bind(_base.as_operand("sign", x))


# --- extremes ------------------------------------------------------------------------------------


@operation2
def maximum(x: Any, y: Any, /) -> Array:
    """Compute the elementwise maximum of x and y; NaN where either is NaN.

    Complex numbers are compared by their real parts, and by their imaginary parts where those agree.

    >>> snp.maximum(snp.array([1.0, -2.0]), 0)
    Array([1., 0.], dtype=float32)
    """
    x, y = operands2("maximum", x, y)
    return max_p.bind(x, y)


@operation2
def minimum(x: Any, y: Any, /) -> Array:
    """Compute the elementwise minimum of x and y; NaN where either is NaN.

    Complex numbers are compared by their real parts, and by their imaginary parts where those agree.

    >>> snp.minimum(snp.array([1.0, -2.0]), 0)
    Array([ 0., -2.], dtype=float32)
    """
    x, y = operands2("minimum", x, y)
    return min_p.bind(x, y)


@operation2
def fmax(x1: Any, x2: Any) -> Array:
    """Compute the elementwise maximum of x1 and x2; where one of them is NaN, the other.

    >>> snp.fmax(snp.array([1.0, snp.nan]), 0)
    Array([1., 0.], dtype=float32)
    """
    x, y = operands2("fmax", x1, x2)
    chosen = or_p.bind(_lexicographic(gt_p, x, y), ne_p.bind(y, y))
    return select(chosen, x, y)


@operation2
def fmin(x1: Any, x2: Any) -> Array:
    """Compute the elementwise minimum of x1 and x2; where one of them is NaN, the other.

    >>> snp.fmin(snp.array([1.0, snp.nan]), 0)
    Array([0., 0.], dtype=float32)
    """
    x, y = operands2("fmin", x1, x2)
    chosen = or_p.bind(_lexicographic(lt_p, x, y), ne_p.bind(y, y))
    return select(chosen, x, y)


def _lexicographic(compare: Any, x: Any, y: Any) -> Array:
    """Compare complex numbers by real parts, then by imaginary parts."""
    if not dtypes.is_complex(dtype_of(x)):
        return compare.bind(x, y)
    (rx, ix), (ry, iy) = _parts(x), _parts(y)
    return select(eq_p.bind(rx, ry), compare.bind(ix, iy), compare.bind(rx, ry))


def _parts(x: Any) -> tuple:
    return real_p.bind(x), imag_p.bind(x)
