"""Lower the sine, cosine and tangent of many float32 numbers to a formula that SIMD vectors take.

XLA's CPU code calls a function for each element, which takes four times as long. The formula has no branches and no
tables, for any argument, after M. Payne, R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter
18 (1983):

- The argument is m * 2**s with an integer m of 24 bits. Of the binary digits of 2 / pi only 96 count for its
  quarters of a turn: those before are multiples of four quarters, those after are too small. They are selected by s.
- The product of m with these digits gives the quarter in its two highest bits, and in 64 bits the angle within it.
- A series in float64 gives the sine or cosine of the angle, rounded once: at most 0.51 ulp from the exact value.
  The tangent is the quotient of both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_U32, _U64, _I32, _F32, _F64 = map(
    np.dtype, (np.uint32, np.uint64, np.int32, np.float32, np.float64)
)

# The binary digits of 2 / pi, after 64 zeros, in words of 32.
_DIGITS = (
    0, 0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
)  # fmt: skip
# Coefficients of the powers of r**2 from the second on: those of cos(r), and of sin(r) / r.
_SERIES = tuple([((-1) ** k / math.factorial(2 * k), (-1) ** k / math.factorial(2 * k + 1)) for k in range(1, 6)])  # fmt: skip

_FIRST, _LAST = 126, 254  # exponents, as stored: of numbers from 1/2 on, and of the greatest
_OFFSET = 88  # from such an exponent to the first digit that counts
_QUARTER = 0x3F490FDB  # the bits of pi / 4
_SMALLEST_NORMAL, _INFINITY = 0x00800000, 0x7F800000


def lower(b: Any, x: Any, *, function: str) -> Any:
    """Append the operations of a "sine", "cosine" or "tangent" of x in float32."""
    avals = {d: x.aval.update(dtype=d, weak_type=False) for d in (_U32, _U64, _I32, _F32, _F64)}

    def op(name: str, dtype: np.dtype, *xs: Any) -> Any:
        return b.op(name, list(xs), avals[dtype])

    def words(name: str, v: Any, w: Any) -> Any:
        return op(name, _U32, v, word(w) if isinstance(w, int) else w)

    def word(value: int) -> Any:
        return b.full(value, avals[_U32])

    def double(value: float) -> Any:
        return b.full(value, avals[_F64])

    def upper(v: Any) -> Any:
        return b.convert(op("shift_right_logical", _U64, v, b.full(32, avals[_U64])), _U32)

    # the formula reads its operand several times: written once, it is not computed for each of them
    x = op("optimization_barrier", _F32, x)
    bits = op("bitcast_convert", _U32, x)
    magnitude = words("and", bits, 0x7FFFFFFF)
    exponent = words("shift_right_logical", magnitude, 23)
    m = words("or", words("and", magnitude, 0x7FFFFF), 0x800000)

    # 96 digits from the one on that counts
    first = words("subtract", words("maximum", exponent, _FIRST), _OFFSET)
    number, shift = words("shift_right_logical", first, 5), words("and", first, 31)
    rest = words("subtract", word(31), shift)
    start = (_FIRST - _OFFSET) // 32
    others = range(start + 1, (_LAST - _OFFSET) // 32 + 1)
    chosen = [(k, b.compare("EQ", number, word(k))) for k in others]

    def digits(i: int) -> Any:
        found = word(_DIGITS[start + i])
        for k, is_it in chosen:
            found = b.select(is_it, word(_DIGITS[k + i]), found)
        return found

    four = [digits(i) for i in range(4)]
    high, middle, low = [
        words(
            "or",
            words("shift_left", before, shift),
            words("shift_right_logical", words("shift_right_logical", after, 1), rest),
        )
        for before, after in zip(four, four[1:])
    ]

    # the product, of which the upper 64 of 96 bits matter
    wide_m = b.convert(m, _U64)
    carry = upper(op("multiply", _U64, wide_m, b.convert(low, _U64)))
    second = op("multiply", _U64, wide_m, b.convert(middle, _U64))
    second = op("add", _U64, second, b.convert(carry, _U64))
    top = words("add", words("multiply", m, high), upper(second))
    quarter = words("shift_right_logical", words("add", top, 1 << 29), 30)
    angle = op("bitcast_convert", _I32, words("subtract", top, words("shift_left", quarter, 30)))
    angle = op("multiply", _F64, b.convert(angle, _F64), double(2.0**32))
    angle = op("add", _F64, angle, b.convert(b.convert(second, _U32), _F64))
    angle = op("multiply", _F64, angle, double(math.pi / 2 * 2.0**-62))
    small = b.compare("LT", magnitude, word(_QUARTER))
    absolute = op("bitcast_convert", _F32, magnitude)
    angle = b.select(small, b.convert(absolute, _F64), angle)
    quarter = b.select(small, word(0), quarter)
    if function == "cosine":
        quarter = words("add", quarter, 1)

    square = op("multiply", _F64, angle, angle)
    is_odd = b.compare("EQ", words("and", quarter, 1), word(1))
    one = double(1.0)

    def series(coefficients: Any, factor: Any) -> Any:
        """Return factor * (1 + the polynomial in r**2)."""
        total: Any = None
        for c in reversed(coefficients):
            if total is not None:
                c = op("add", _F64, op("multiply", _F64, total, square), c)
            total = c
        total = op("multiply", _F64, square, total)
        return op("add", _F64, factor, op("multiply", _F64, factor, total))

    cosines, sines = [[double(c) for c in column] for column in zip(*_SERIES, strict=True)]
    if function == "tangent":
        sine, cosine = series(sines, angle), series(cosines, one)
        upper_part = b.select(is_odd, cosine, sine)
        lower_part = b.select(is_odd, op("negate", _F64, sine), cosine)
        result = op("divide", _F64, upper_part, lower_part)
    else:
        chosen_series = [b.select(is_odd, c, s) for c, s in zip(cosines, sines, strict=True)]
        result = series(chosen_series, b.select(is_odd, one, angle))
    result = b.convert(result, _F32)

    sign = words("and", bits, 1 << 31)
    if function != "tangent":
        turned = words("and", words("shift_left", quarter, 30), 1 << 31)
        sign = turned if function == "cosine" else words("xor", turned, sign)
    result = words("xor", op("bitcast_convert", _U32, result), sign)
    result = op("bitcast_convert", _F32, result)
    if function != "cosine":  # the compiler may take subnormal numbers for zero
        result = b.select(b.compare("LT", magnitude, word(_SMALLEST_NORMAL)), x, result)
    finite = b.compare("LT", magnitude, word(_INFINITY))
    return b.select(finite, result, b.full(np.nan, avals[_F32]))
