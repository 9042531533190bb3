"""Define the incomplete gamma functions, their derivatives in `a`, and that of gamma samples.

With t = x e**v the two tails of the gamma distribution become

    P or Q = x**a e**-x / gamma(a) * integral of exp(-E(v)) dv,    E(v) = (x - a) v + x (e**v - 1 - v)

over v < 0 or v > 0. E is entire, convex, and zero at 0. Where v points away from the mode (x >= a upwards,
x <= a downwards) Gauss's quadrature as far as E = log(1/accuracy) is accurate for all large parameters and
all tails. Derivatives in `a` only add factors v to the integrand. The remaining case, small `a` with small
`x`, is the power series (DLMF 8.7.1 and 8.7.3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src.core.samples import Sample, bf16, f32
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.primitives.arithmetic import add, div, mul, neg, strong_array, sub
from sagax._src.primitives.formulas import (
    Number,
    absolute,
    exp,
    expm1,
    formula,
    is_widened,
    log,
    log1p,
    maximum,
    minimum,
    repeat,
    sqrt,
    where,
    where_rare,
)
from sagax._src.primitives.makers import elementwise, floating, operands
from sagax._src.primitives.special.common import scipy_reference
from sagax._src.primitives.special.gamma import (
    digamma,
    digamma_of,
    log_gamma_1p,
    rising_8,
    zeta_positive,
)
from sagax._src.primitives.special.rests import (
    LARGE,
    exp_rest,
    gauss,
    log1p_rest,
    log_less_digamma,
    stirling_rest,
)
from sagax._src.primitives.transcendental import log as log_of
from sagax._src.primitives.transcendental import widened

# The parts -------------------------------------------------------------------------------------------


def _in_series(a: Number, x: Number) -> Number:
    """Mark elements whose lower function is the power series."""
    return (a < LARGE) & (x <= maximum(a, 1.0))


def _scaled_density(a: Number, x: Number) -> Number:
    """Return x**a e**-x / gamma(a + 1)."""
    small = minimum(a, LARGE)
    if is_widened(x):  # logarithms may lose digits: one exponential, and Stirling's series at a + 9
        at = small + 9
        stirling = (at - 0.5) * log(at) - at + 0.5 * math.log(2 * math.pi) + stirling_rest(at)
        direct = exp(small * log(x) - x - stirling) * rising_8(small + 1)
        return where_rare(a >= LARGE, lambda: _saddle(a, x), direct)
    half = exp(-0.5 * x)  # squared, since the whole may underflow before the power raises it
    direct = half * exp(small * log(x) - log_gamma_1p(small)) * half
    return where(a < LARGE, direct, _saddle(a, x))


def _saddle(a: Number, x: Number) -> Number:
    """Return the same for a >= LARGE."""
    large = maximum(a, LARGE)
    exponent = large * log1p_rest((x - large) / large) + stirling_rest(large)
    return exp(-exponent) / sqrt(2 * math.pi * large)


def _log_ratio(a: Number, x: Number) -> Number:
    """Return log x - digamma(a), the derivative in `a` of the logarithm of the density."""
    large = maximum(a, LARGE)
    q = (x - large) / large
    far = q - log1p_rest(q) + log_less_digamma(large)
    return where(a < LARGE, log(x) - digamma_of(minimum(a, LARGE)), far)


def _series(a: Number, x: Number, needed: Number) -> tuple[Number, Number, Number]:
    """Sum x**n / ((a + 1) ... (a + n)), n = 0, 1, ..., and its first two derivatives in `a`.

    The term t has the derivatives -u t and (u**2 + w) t, with u and w the sums of 1 / (a + k) and
    1 / (a + k)**2 over k = 1 ... n.
    """
    a, x = where(needed, a, 1.0), where(needed, x, 1.0)
    iterations = 36 if a.double else 23  # enough for a = x = LARGE
    one, zero = a.like(1.0), a.like(0.0)

    def body(k: Number, term: Number, u: Number, w: Number, *sums: Number) -> list[Number]:
        r = 1 / k
        term, u, w = term * x * r, u + r, w + r * r
        terms = (term, -u * term, (u * u + w) * term)
        return [k + 1, term, u, w, *[s + t for s, t in zip(sums, terms, strict=True)]]

    start = [a + 1, one, zero, zero, one, zero, zero]
    *_, total, first, second = repeat(iterations, needed, start, body)
    return total, first, second


def _series_sum(a: Number, x: Number) -> Number:
    """Sum the series of `_series` as one fraction, from its last term on: without loops and divisions."""
    top = bottom = a.like(1.0)
    for k in range(36 if a.double else 23, 0, -1):
        factor = a + k
        top, bottom = bottom * factor + x * top, bottom * factor
    return top / bottom


def _window(a: Number, x: Number, up: Number, distance: Number, reach: float) -> Number:
    """Return the |v| at which E = reach, from above: bounds of E by simpler functions, then Newton."""

    def root(square: Number, linear: Number) -> Number:
        """Return the positive root of square w**2 + linear w = reach, for square > 0."""
        half, free = linear / (2 * square), reach / square
        r = sqrt(half * half + free)
        return where(half > 0, free / (half + r), r - half)

    # upwards e**v - 1 - v exceeds v**2 / 2, and beyond 1.3 also half of e**v
    ratio = reach / x
    above = root(0.5 * x, distance)
    above = where(ratio > 1.3, minimum(above, log1p(2 * ratio)), above)
    # downwards e**-w - 1 + w exceeds w**2 / (2 + 2 w / 3)
    below = root(distance * (1 / 3) + 0.5 * x, distance - reach / 3)
    w, sign = where(up, above, below), where(up, x.like(1.0), -1.0)
    for _ in range(2):
        height = distance * w + x * exp_rest(sign * w) - reach
        w = w - height / (distance + x * absolute(expm1(sign * w)))
    return w


def _tail(a: Number, x: Number, needed: Number, powers: int = 3) -> list[Number]:
    """Integrate exp(-E), v exp(-E) and v**2 exp(-E), or the first of them, away from the mode."""
    a, x = where(needed, a, LARGE), where(needed, x, LARGE)
    up, distance = x > a, absolute(x - a)
    sign = where(up, x.like(1.0), -1.0)
    reach, count = (39.0, 28) if a.double else (19.0, 14)
    window = _window(a, x, up, distance, reach)

    def body(*state: Number) -> list[Number]:
        sums, entries = list(state[:powers]), state[powers:]
        for node, weight in zip(entries[::2], entries[1::2], strict=True):
            w = window * node
            v = sign * w
            part = weight * exp(-(distance * w + x * exp_rest(v)))
            for k in range(powers):
                sums[k] = sums[k] + part
                part = part * v
        return sums

    # two nodes in an iteration: what they read and write is in memory
    tables = [table[k::2] for k in range(2) for table in gauss(count)]
    sums = repeat(count // 2, needed, [x.like(0.0)] * powers, body, tables)
    return [window * s for s in sums]


def _lower_derivatives(a: Number, x: Number) -> tuple[Number, Number]:
    """Return the first two derivatives of the lower function in `a`, divided by the scaled density.

    Those of the density itself bring in log x - digamma, of `a` in the tail and of a + 1 in the series.
    """
    series = _in_series(a, x)
    total, total_1, total_2 = _series(a, x, series)
    tail, tail_1, tail_2 = _tail(a, x, ~series)
    r = where(series, log(x) - digamma_of(minimum(a, LARGE) + 1), _log_ratio(a, x))
    sums = [where(series, x, y) for x, y in ((total, tail), (total_1, tail_1), (total_2, tail_2))]
    trigamma = zeta_positive(a.like(2.0), where(series, a + 1, a))
    first = r * sums[0] + sums[1]
    second = (r * r - trigamma) * sums[0] + 2 * r * sums[1] + sums[2]
    factor = where(series, 1.0, where(x > a, -a, a))
    return factor * first, factor * second


def _inside(a: Number, x: Number) -> tuple[Number, Number, Number]:
    """Mark elements with positive finite arguments; and replace the other arguments by 1."""
    inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    return inside, where(inside, a, 1.0), where(inside, x, 1.0)


def _invalid(a: Number, x: Number) -> Number:
    both = (a.equals(0.0) & x.equals(0.0)) | (a.equals(math.inf) & x.equals(math.inf))
    return (a < 0) | (x < 0) | a.is_nan() | x.is_nan() | both


def _limits(a: Number, x: Number, out: Number, low: float, high: float) -> Number:
    """Return the value `low` where all mass lies above `x`, `high` where below, NaN outside of the domain."""
    out = where(x.equals(0.0) | a.equals(math.inf), low, out)
    out = where((a.equals(0.0) | x.equals(math.inf)) & ~x.equals(0.0), high, out)
    return where(_invalid(a, x), math.nan, out)


def _smaller_part(a: Number, x: Number) -> tuple[Number, Number]:
    """Compute one of the two functions, usually the smaller, and mark where it is the upper one."""
    series = _in_series(a, x)
    total = _series_sum(a, x)
    total = where_rare(~series, lambda: a * _tail(a, x, ~series, 1)[0], total)
    part = _scaled_density(a, x) * total
    return minimum(part, 1.0), ~series & (x > a)


def _upper_of_small(a: Number, x: Number) -> Number:
    """Compute the upper function for x <= 1 and small `a`, where the lower one is almost 1.

    With P = e**u (1 - a V) it is -(e**u - 1) + e**u a V. W. Gautschi, A computational procedure for
    incomplete gamma functions, ACM Trans. Math. Softw. 5 (1979).
    """
    x, a = minimum(x, 1.0), minimum(a, 1.0)
    u = a * log(x) - log_gamma_1p(a)
    terms = 19 if x.double else 12
    total, factor = x.like(0.0), x.like(1.0)
    for n in range(1, terms):
        factor = factor * x * (1 / n if n == 1 else -1 / n)
        total = total + factor / (a + n)
    return exp(u) * a * total - expm1(u)


# igamma, igammac ---------------------------------------------------------------------------------------

_SAMPLES = [
    Sample(f32(2, 3, low=0.3, high=6), f32(2, 3, low=0.3, high=6)),
    Sample(f32(4, low=9, high=30), f32(4, low=5, high=40)),
    Sample(f32(low=0.3, high=6), f32(3, low=0.3, high=6)),
    Sample(f32(2, 3, low=0.3, high=6), f32(2, 1, low=0.3, high=6)),
    Sample(bf16(3, low=0.5, high=4), bf16(3, low=0.5, high=4)),
]

igamma_p = elementwise(
    "igamma",
    2,
    numpy=scipy_reference("gammainc"),
    accepts=floating,
    jvp=(
        lambda t, out, a, x: mul(t, igamma_grad_a(a, x)),
        lambda t, out, a, x: mul(t, gamma_density(a, x)),
    ),
    samples=_SAMPLES,
)


@formula(igamma_p, tiled=True)
def _igamma(a: Number, x: Number) -> Number:
    _, a_in, x_in = _inside(a, x)
    part, upper = _smaller_part(a_in, x_in)
    return _limits(a, x, where(upper, 1 - part, part), 0.0, 1.0)


def igamma(a: Any, x: Any) -> Any:
    """Return the lower incomplete gamma function of `x`, regularized: the distribution function of Gamma(a).

    It is the integral of t**(a-1) exp(-t) / gamma(a) from 0 to `x`, for a > 0 and x >= 0. Both
    arguments have one floating dtype. Differentiable in both.

    >>> lax.igamma(2.0, np.array([1.0, 2.0])).round(4)
    Array([0.2642, 0.594 ], dtype=float32)
    """
    return igamma_p.bind(*operands(a, x))


igammac_p = elementwise(
    "igammac",
    2,
    numpy=scipy_reference("gammaincc"),
    accepts=floating,
    jvp=(
        lambda t, out, a, x: neg(mul(t, igamma_grad_a(a, x))),
        lambda t, out, a, x: neg(mul(t, gamma_density(a, x))),
    ),
    samples=_SAMPLES,
)


@formula(igammac_p, tiled=True)
def _igammac(a: Number, x: Number) -> Number:
    _, a_in, x_in = _inside(a, x)
    part, upper = _smaller_part(a_in, x_in)
    # the line on which both are about 1/2 for small x; to its left the lower one is larger
    line = where(x_in < 0.5, -0.4 / log(minimum(x_in, 0.5)), x_in)
    small = (x_in <= 1) & (a_in <= line)
    out = where(small, _upper_of_small(a_in, x_in), where(upper, part, 1 - part))
    return _limits(a, x, out, 1.0, 0.0)


def igammac(a: Any, x: Any) -> Any:
    """Return 1 - igamma(a, x), without cancellation where that is small.

    >>> lax.igammac(2.0, np.array([1.0, 5.0])).round(2)
    Array([0.74, 0.04], dtype=float32)
    """
    return igammac_p.bind(*operands(a, x))


# The density, which is the derivative in x ----------------------------------------------------------------


def _density_numpy(a: np.ndarray, x: np.ndarray) -> Any:
    import scipy.special  # imported here, since it loads slowly and only references need it

    return np.exp(scipy.special.xlogy(a - 1, x) - x - scipy.special.gammaln(a))


gamma_density_p = elementwise(
    "gamma_density",
    2,
    numpy=widened(_density_numpy),
    accepts=floating,
    jvp=(
        lambda t, out, a, x: mul(t, mul(out, sub(log_of(x), digamma(a)))),
        lambda t, out, a, x: mul(t, mul(out, sub(div(sub(a, 1.0), x), 1.0))),
    ),
    samples=_SAMPLES,
)


@formula(gamma_density_p)
def _gamma_density(a: Number, x: Number) -> Number:
    _, a_in, x_in = _inside(a, x)
    out = _scaled_density(a_in, x_in) * a_in / x_in
    start = where(a < 1, math.inf, where(a.equals(1.0), x.like(1.0), 0.0))
    out = where(x.equals(0.0), start, out)
    out = where(a.equals(0.0) | a.equals(math.inf) | x.equals(math.inf), 0.0, out)
    return where(_invalid(a, x), math.nan, out)


def gamma_density(a: Any, x: Any) -> Any:
    """Return x**(a-1) exp(-x) / gamma(a), accurate also for large parameters."""
    return gamma_density_p.bind(*operands(a, x))


# Derivatives in the parameter -----------------------------------------------------------------------------


def _slope_in_first(f: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the derivative of f(a, x) in a, from five points in double precision."""
    a, x = a.astype(np.float64), x.astype(np.float64)
    h = 5e-3 * a
    return (8 * (f(a + h, x) - f(a - h, x)) - (f(a + 2 * h, x) - f(a - 2 * h, x))) / (12 * h)


def _igamma_grad_a_numpy(a: np.ndarray, x: np.ndarray) -> Any:
    import scipy.special  # imported here, since it loads slowly and only references need it

    below = _slope_in_first(scipy.special.gammainc, a, x)
    above = _slope_in_first(scipy.special.gammaincc, a, x)
    return np.where(x > a, -above, below)


def _random_gamma_grad_numpy(a: np.ndarray, x: np.ndarray) -> Any:
    return -_igamma_grad_a_numpy(a, x) / _density_numpy(*[y.astype(np.float64) for y in (a, x)])


igamma_grad_a_p = elementwise(
    "igamma_grad_a",
    2,
    numpy=widened(_igamma_grad_a_numpy),
    accepts=floating,
    jvp=(
        lambda t, out, a, x: mul(t, neg(mul(gamma_density(a, x), _sample_bend(a, x)))),
        lambda t, out, a, x: mul(t, mul(gamma_density(a, x), sub(log_of(x), digamma(a)))),
    ),
    samples=_SAMPLES,
)


def _sample_bend(a: Any, x: Any) -> Any:
    """Return minus the second derivative of the lower function in `a`, divided by the density."""
    slope = random_gamma_grad(a, x)
    return add(random_gamma_curvature_p.bind(a, x), mul(slope, sub(log_of(x), digamma(a))))


@formula(igamma_grad_a_p, tiled=True)
def _igamma_grad_a(a: Number, x: Number) -> Number:
    _, a_in, x_in = _inside(a, x)
    slope, _ = _lower_derivatives(a_in, x_in)
    out = _scaled_density(a_in, x_in) * slope
    return where(a.equals(0.0), math.nan, _limits(a, x, out, 0.0, 0.0))


def igamma_grad_a(a: Any, x: Any) -> Any:
    """Return the derivative of `igamma` in its first argument.

    >>> lax.igamma_grad_a(2.0, np.array([1.0, 2.0])).round(4)
    Array([-0.2762, -0.294 ], dtype=float32)
    """
    return igamma_grad_a_p.bind(*operands(a, x))


random_gamma_grad_p = elementwise(
    "random_gamma_grad",
    2,
    numpy=widened(_random_gamma_grad_numpy),
    accepts=floating,
    jvp=(
        lambda t, out, a, x: mul(t, random_gamma_curvature_p.bind(a, x)),
        # the density at the sample does not depend on the path to it
        lambda t, out, a, x: mul(
            t, sub(mul(out, sub(1.0, div(sub(a, 1.0), x))), sub(log_of(x), digamma(a)))
        ),
    ),
    samples=_SAMPLES,
)


@formula(random_gamma_grad_p, tiled=True)
def _random_gamma_grad(a: Number, x: Number) -> Number:
    inside, a_in, x_in = _inside(a, x)
    slope, _ = _lower_derivatives(a_in, x_in)
    out = -slope * x_in / a_in
    return where(inside, out, where(x.equals(0.0) & (a > 0), 0.0, x.like(math.nan)))


def random_gamma_grad(*args: Any) -> Any:
    """Differentiate a sample `x` of Gamma(a) with respect to `a`, at a fixed value of igamma(a, x).

    Called with `a` and `x`, of one floating dtype.

    >>> lax.random_gamma_grad(2.0, np.array([1.0, 2.0])).round(2)
    Array([0.75, 1.09], dtype=float32)
    """
    if len(args) != 2:
        raise ArgumentError(
            function="random_gamma_grad", got=f"{len(args)} arguments", expected="two, a and x"
        )
    a, x = args
    return strong_array(random_gamma_grad_p.bind(*operands(a, x)))


random_gamma_curvature_p = elementwise(
    "random_gamma_curvature",
    2,
    numpy=widened(lambda a, x: _slope_in_first(_random_gamma_grad_numpy, a, x)),
    accepts=floating,
    samples=[Sample(*s.operands, derivatives=False, tolerance=s.tolerance) for s in _SAMPLES],
)
random_gamma_curvature_p.jvp_rule = None  # type: ignore[assignment]


@formula(random_gamma_curvature_p, tiled=True)
def _random_gamma_curvature(a: Number, x: Number) -> Number:
    """Return the derivative of `random_gamma_grad` in `a`, at fixed `x`."""
    inside, a_in, x_in = _inside(a, x)
    slope, curvature = _lower_derivatives(a_in, x_in)
    out = (slope * _log_ratio(a_in, x_in) - curvature) * x_in / a_in
    return where(inside, out, where(x.equals(0.0) & (a > 0), 0.0, x.like(math.nan)))
