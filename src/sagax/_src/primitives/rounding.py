"""Define rounding of floats to integers (floor, ceil, round), and nextafter.

Constant between their steps, floor, ceil and round have the derivative zero everywhere.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from sagax._src.core import dtypes
from sagax._src.core.families import EXACT, SIMPLE
from sagax._src.core.samples import Sample, bf16, f16, f32
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.makers import elementwise, floating, operands

_EDGES = np.array(
    [
        -2.5,
        -1.5,
        -0.5,
        -0.4,
        -0.0,
        0.0,
        0.49999997,
        0.5,
        1.5,
        2.5,
        8388609.0,
        np.inf,
        -np.inf,
        np.nan,
    ],
    np.float32,
)
_ROUNDED = [Sample(f32(2, 3)), Sample(_EDGES, derivatives=False), Sample(f16(4)), Sample(bf16(4))]


class RoundingMethod(enum.IntEnum):
    """Specify the rounding of halfway cases in `round`."""

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1


floor_p = elementwise(
    "floor",
    family=EXACT,
    numpy=np.floor,
    accepts=floating,
    hlo="floor",
    exact=True,
    samples=_ROUNDED,
)
ceil_p = elementwise(
    "ceil", family=EXACT, numpy=np.ceil, accepts=floating, hlo="ceil", exact=True, samples=_ROUNDED
)


def floor(x: Any) -> Any:
    """Round `x` down to integers, in the floating point dtype of `x`.

    >>> lax.floor(np.array([1.5, -1.5]))
    Array([ 1., -2.], dtype=float32)
    """
    return floor_p.bind(x)


def ceil(x: Any) -> Any:
    """Round `x` up to integers, in the floating point dtype of `x`.

    >>> lax.ceil(np.array([1.5, -1.5]))
    Array([ 2., -1.], dtype=float32)
    """
    return ceil_p.bind(x)


def _round_numpy(x: np.ndarray, *, rounding_method: RoundingMethod) -> Any:
    if rounding_method == RoundingMethod.TO_NEAREST_EVEN:
        return np.rint(x)
    whole = np.trunc(x)
    # x - whole is exact, unlike x + 0.5
    up = np.abs(x - whole) >= np.array(0.5, x.dtype)
    return np.where(up, whole + np.copysign(np.ones((), x.dtype), x), whole)


round_p = elementwise(
    "round",
    family=EXACT,
    numpy=_round_numpy,
    accepts=floating,
    exact=True,
    samples=[
        Sample(*s.operands, rounding_method=m, derivatives=s.derivatives)
        for s in _ROUNDED
        for m in RoundingMethod
    ],
)


@round_p.lower
def _(b: Any, x: Any, *, rounding_method: RoundingMethod) -> Any:
    even = rounding_method == RoundingMethod.TO_NEAREST_EVEN
    return b.op("round_nearest_even" if even else "round_nearest_afz", [x], b.out)


def round(x: Any, rounding_method: RoundingMethod = RoundingMethod.AWAY_FROM_ZERO) -> Any:
    """Round `x` to the nearest integers, in the floating point dtype of `x`.

    Halves are rounded away from zero, or with TO_NEAREST_EVEN to the even integer.

    >>> lax.round(np.array([1.4, 2.5, -2.5]))
    Array([ 1.,  3., -3.], dtype=float32)
    >>> lax.round(np.array([1.4, 2.5, -2.5]), lax.RoundingMethod.TO_NEAREST_EVEN)
    Array([ 1.,  2., -2.], dtype=float32)
    """
    try:
        method = RoundingMethod(rounding_method)
    except ValueError:
        raise ArgumentValueError.about(
            "round", "rounding_method", rounding_method, "a RoundingMethod"
        ) from None
    return round_p.bind(x, rounding_method=method)


# nextafter ----------------------------------------------------------------------------------------


def _nextafter_numpy(x: np.ndarray, y: np.ndarray) -> Any:
    if x.dtype.kind == "f":
        # NumPy's versions differ in which of two equal zeros they return
        return np.where(x == y, y, np.nextafter(x, y))
    return _next_bits(*np.broadcast_arrays(x, y))


def _next_bits(x: np.ndarray, y: np.ndarray) -> Any:
    """Compute nextafter by bit patterns, for floating types that NumPy does not support."""
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    raw = np.asarray(x, order="C").view(unsigned).astype(np.int64)
    sign = 1 << (dtypes.itemsize_bits(x.dtype) - 1)
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    outward = (wide_y > wide_x) == (raw < sign)
    step = np.where(outward, raw + 1, raw - 1)
    step = np.where(wide_x == 0, np.where(wide_y > 0, 1, sign + 1), step)
    out = step.astype(unsigned).view(x.dtype)
    out = np.where(wide_x == wide_y, y, out)
    return np.where(np.isnan(wide_x) | np.isnan(wide_y), np.asarray(np.nan, x.dtype), out)


nextafter_p = elementwise(
    "nextafter",
    2,
    family=SIMPLE,
    numpy=_nextafter_numpy,
    in_numpy="nextafter",
    accepts=floating,
    hlo="chlo.next_after",
    exact=True,
    jvp=(lambda t, out, x, y: t, None),
    samples=[
        Sample(f32(3), f32(3), derivatives=False),
        Sample(f32(2, 3), f32(), derivatives=False),
        Sample(
            np.array([0, -0.0, 1, 1, 1, np.inf, np.nan], np.float32),
            np.array([1, 1, 1, 2, 0, 0, 1], np.float32),
            derivatives=False,
        ),
        Sample(bf16(4), bf16(4), derivatives=False),
    ],
)


def nextafter(x1: Any, x2: Any) -> Any:
    """Return the floating point numbers next to `x1` in the direction of `x2`; `x2` where they are equal.

    >>> lax.nextafter(np.float32([1, 1]), np.float32([2, 0]))
    Array([1.0000001 , 0.99999994], dtype=float32)
    """
    return nextafter_p.bind(*operands(x1, x2))
