"""Compare arrays within tolerances and for equality; common divisors and multiples."""

from __future__ import annotations

from typing import Any

import sagax.numpy._base as _base
import sagax.numpy._floats as _floats
import sagax.numpy._logic as _logic
from sagax._src.core import dtypes
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.while_loop import while_loop
from sagax._src.primitives.arithmetic import abs_p, add_p, div_p, mul_p, rem_p, sub_p
from sagax._src.primitives.bitwise import and_p, or_p
from sagax._src.primitives.comparison import eq_p, le_p, ne_p
from sagax.numpy._base import dtype_of, operands2, select
from sagax.numpy._conversion import asarray
from sagax.numpy._fused import fused, fused_function, operation2
from sagax.numpy._reductions import all as reduce_all
from sagax.numpy._reductions import any as reduce_any


@fused_function(2, floats="operands")
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Return elementwise whether |a - b| <= atol + rtol * |b|; equal infinities are close.

    NaN is close to nothing, or with `equal_nan` to NaN.

    >>> snp.isclose(snp.array([1.0, 2.0]), snp.array([1.000001, 2.1]))
    Array([ True, False], dtype=bool)
    """
    return _isclose("isclose", a, b, rtol, atol, equal_nan)


def _isclose(function: str, a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> Array:
    a, b = _base.as_operand(function, a), _base.as_operand(function, b, 1)
    if dtypes.is_extended(dtype_of(a)) and dtype_of(a) == dtype_of(b):
        return _logic.equal(a, b)  # of keys, that have no distance
    a, b = _base.operands2_inexact(function, a, b)
    part = dtypes.real_part_dtype(dtype_of(a))
    rtol, atol = (
        _base.cast(_base.as_operand(function, x, i), part, False)
        for i, x in enumerate((rtol, atol), 2)
    )
    return _close(*_base.align_ranks(function, (a, b, rtol, atol)), equal_nan=bool(equal_nan))


@fused
def _close(a: Any, b: Any, rtol: Any, atol: Any, *, equal_nan: bool) -> Array:
    distance = abs_p.bind(sub_p.bind(a, b))
    within = le_p.bind(distance, add_p.bind(atol, mul_p.bind(rtol, abs_p.bind(b))))
    out = or_p.bind(eq_p.bind(a, b), and_p.bind(_floats.isfinite(b), within))
    if equal_nan:
        out = or_p.bind(out, and_p.bind(ne_p.bind(a, a), ne_p.bind(b, b)))
    return _base.strong(out)


@fused_function(2, floats="operands")
def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Return whether `isclose` holds for all elements, as a boolean array of shape ().

    >>> snp.allclose(snp.ones(3), 1.000001)
    Array(True, dtype=bool)
    """
    return reduce_all(_isclose("allclose", a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Return whether two arrays have the same shape and equal elements, as a boolean array of shape ().

    >>> snp.array_equal(snp.arange(2), snp.array([0, 1]))
    Array(True, dtype=bool)
    """
    x, y = asarray(a1), asarray(a2)
    if x.shape != y.shape:
        return asarray(False)
    return reduce_all(_equal("array_equal", x, y, equal_nan))


def _equal(function: str, x: Any, y: Any, equal_nan: bool) -> Any:
    x, y = operands2(function, x, y)
    out = eq_p.bind(x, y)
    if equal_nan and dtypes.is_inexact(dtype_of(x)):
        out = or_p.bind(out, and_p.bind(ne_p.bind(x, x), ne_p.bind(y, y)))
    return out


def array_equiv(a1: Any, a2: Any) -> Array:
    """Return whether two arrays have equal elements once they are broadcast, as a boolean array of shape ().

    >>> snp.array_equiv(snp.ones((2, 2)), 1)
    Array(True, dtype=bool)
    """
    x, y = asarray(a1), asarray(a2)
    try:
        _base.broadcast_shapes("array_equiv", [x.shape, y.shape])
    except _base.ShapeError:
        return asarray(False)
    return reduce_all(_equal("array_equiv", x, y, False))


# --- divisors ------------------------------------------------------------------------------------


def _integers(function: str, x1: Any, x2: Any) -> tuple:
    x, y = operands2(function, x1, x2)
    if dtypes.kind(dtype_of(x)) not in "iu":
        raise ArgumentValueError(
            f"Arguments to numpy.{function} must be integers.",
            function=function,
            got=f"{dtypes.name(dtype_of(x))} in common",
            fix="convert them first, with x.astype(int)",
        )
    return x, y


@operation2
def gcd(x1: Any, x2: Any, /) -> Array:
    """Compute the greatest common divisor of integers elementwise; gcd(0, 0) = 0.

    >>> snp.gcd(snp.array([12, -8]), 8)
    Array([4, 8], dtype=int32)
    """
    x, y = _integers("gcd", x1, x2)
    return _base.strong_array(_gcd(x, y))


@fused
def _gcd(x: Any, y: Any) -> Array:
    shape = _base.broadcast_shapes("gcd", [_base.shape_of(x), _base.shape_of(y)])
    x, y = (_base.broadcast_to(_base.as_array("gcd", v), shape) for v in (x, y))
    if dtypes.kind(x.dtype) == "i":
        x, y = abs_p.bind(x), abs_p.bind(y)

    def unfinished(pair: tuple) -> Array:
        return reduce_any(ne_p.bind(pair[1], _base.zero_like(pair[1])))

    def step(pair: tuple) -> tuple:  # Euclid's algorithm; finished elements do not change
        a, b = pair
        go = ne_p.bind(b, _base.zero_like(b))
        return select(go, b, a), select(go, rem_p.bind(a, b), b)

    return while_loop(unfinished, step, (x, y))[0]


@operation2
def lcm(x1: Any, x2: Any, /) -> Array:
    """Compute the least common multiple of integers elementwise; 0 where one is 0.

    >>> snp.lcm(snp.array([4, -6]), 6)
    Array([12,  6], dtype=int32)
    """
    x, y = _integers("lcm", x1, x2)
    if dtypes.kind(dtype_of(x)) == "i":
        x, y = abs_p.bind(x), abs_p.bind(y)
    divisor = _gcd(x, y)
    zero = eq_p.bind(divisor, _base.zero_like(divisor))
    safe = select(zero, _base.number_like(1, divisor), divisor)
    out = mul_p.bind(div_p.bind(x, safe), y)
    return _base.strong_array(out)
