"""Define Pochhammer's symbol, the quotient gamma(z + m) / gamma(z).

Both gamma functions are moved to arguments from LARGE on, where Stirling's series holds (DLMF 5.11.1). For arguments
T = B + D and B

    gamma(T) / gamma(B) = B**D exp((T - 1/2) log(1 + D/B) - D + rest(T) - rest(B)),

where no large logarithms are subtracted: D is m, up to the shifts, however large T and B are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src.core.samples import Sample, bf16, f32
from sagax._src.primitives.arithmetic import add, mul, sub
from sagax._src.primitives.formulas import (
    Number,
    absolute,
    exp,
    floor,
    formula,
    is_widened,
    log,
    log1p,
    maximum,
    minimum,
    power,
    sin_pi_of_half,
    where,
)
from sagax._src.primitives.makers import elementwise, floating
from sagax._src.primitives.special.common import scipy_reference
from sagax._src.primitives.special.gamma import digamma, rising_8
from sagax._src.primitives.special.rests import LARGE, stirling_rest

pochhammer_p = elementwise(
    "pochhammer",
    2,
    numpy=scipy_reference("poch"),
    accepts=floating,
    jvp=(
        lambda t, out, z, m: mul(t, mul(out, sub(digamma(add(z, m)), digamma(z)))),
        lambda t, out, z, m: mul(t, mul(out, digamma(add(z, m)))),
    ),
    samples=[
        Sample(f32(2, 3, low=0.3, high=6), f32(2, 3, low=0.3, high=6)),
        Sample(f32(3, low=-0.9, high=-0.1), f32(3, low=1.1, high=2)),
        Sample(f32(low=0.3, high=6), f32(3, low=0.3, high=6)),
        Sample(f32(2, 3, low=0.3, high=6), f32(2, 1, low=0.3, high=6)),
        Sample(bf16(3, low=0.5, high=4), bf16(3, low=0.5, high=4)),
    ],
)


def _moved_up(x: Number) -> tuple[Number, Number, Number]:
    """Return y >= LARGE, the product p with gamma(x) = gamma(y) / p, and y - x, for x >= 0."""
    low = x < LARGE
    product = where(low, rising_8(minimum(x, LARGE)), 1.0)
    return where(low, x + 8, x), product, where(low, x.like(8.0), 0.0)


def _half_wave(x: Number) -> tuple[Number, Number]:
    """Return the absolute value of sin(pi x), and its sign where x is negative; 0 is approached from above."""
    size = absolute(x)
    below = floor(size)
    part = size - below
    return sin_pi_of_half(minimum(part, 1 - part)), where(
        _is_odd(below) | size.equals(0.0), x.like(1.0), -1.0
    )


def _is_odd(x: Number) -> Number:
    return ~(floor(0.5 * x) * 2).equals(x)


@formula(pochhammer_p)
def _pochhammer(z: Number, m: Number) -> Number:
    y = z + m
    # on the left gamma(x) = pi / (sin(pi x) gamma(1 - x)), DLMF 5.5.3
    z_left, y_left = z <= 0, y <= 0
    both = z_left & y_left
    same = both | ~(z_left | y_left)
    z_right, y_right = where(z_left, 1 - z, z), where(y_left, 1 - y, y)
    base, p, up = _moved_up(where(both, y_right, z_right))
    top, q, top_up = _moved_up(where(both, z_right, y_right))
    is_wide = z.value.dtype == np.float64
    end = 1e300 if is_wide else 1e37
    base = minimum(base, end)
    difference = where(same, m + (top_up - up), top - base)
    difference = minimum(maximum(difference, -end), end)
    total = base + difference
    # the quotient, or else the product, of both gamma functions
    exponent = where(same, difference, base + total - 1)
    rest, base_rest = stirling_rest(maximum(total, LARGE)), stirling_rest(base)
    rest = rest + where(same, -base_rest, base_rest)
    rest = rest + (total - 0.5) * log1p(difference * (1 / base))
    rest = rest - where(same, difference, base + total)
    inverse = y_left & ~z_left
    exponent, rest = where(inverse, -exponent, exponent), where(inverse, -rest, rest)
    found = exp(exponent * log(base) + rest)
    if not is_widened(z):  # the exponential of a large logarithm loses digits
        half = power(base, 0.5 * exponent)
        inside = absolute(rest) < (600.0 if is_wide else 80.0)
        found = where(inside, half * exp(where(inside, rest, 0.0)) * half, found)

    z_wave, z_sign = _half_wave(z)
    y_wave, y_sign = _half_wave(y)
    z_pole, y_pole = z_left & z_wave.equals(0.0), y_left & y_wave.equals(0.0)
    # from one pole to another the quotient has a limit
    whole = z_pole & y_pole & floor(m).equals(m)
    z_wave = where(z_left & ~whole, z_wave * z_sign, 1.0)
    y_wave = where(y_left & ~whole, y_wave * y_sign, where(whole & _is_odd(m), z.like(-1.0), 1.0))
    factor = z_wave * where(same, p, where(z_left, z.like(2.0), p * q))
    factor = factor / (y_wave * where(same, q, where(z_left, p * q, 2.0)))
    found = where(z_pole & ~whole, 0.0, factor * found)
    found = where(z.equals(math.inf), where(m > 0, z, 0.0), found)
    outside = (y_pole & (y < 0) & ~whole) | z.equals(-math.inf) | y.equals(-math.inf)
    found = where(outside | y.is_nan(), math.nan, found)
    return where(m.equals(0.0), 1.0, found)


def pochhammer(z: Any, m: Any) -> Any:
    """Return gamma(z + m) / gamma(z), for arguments of one floating dtype."""
    return pochhammer_p.bind(z, m)
