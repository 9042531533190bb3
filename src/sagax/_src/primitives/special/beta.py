"""Define the regularized incomplete beta function.

With the logit y of t as variable the lower tail of the beta distribution is

    I_x(a, b) = x**a (1 - x)**b / B(a, b) * integral of exp(-E(w)) dw over w > 0,
    E(w) = a w + (a + b) log(1 - x + x e**-w),

where w is the distance of the logit below that of x. For x below the mean E is convex and rises from 0;
Gauss's quadrature as far as E = log(1/accuracy) is exact for all large parameters. If one of them is small,
a continued fraction converges in less than a hundred iterations. Above the mean the parameters are
swapped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src.core.samples import Sample, bf16, f32
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.arithmetic import add, div, mul, sub
from sagax._src.primitives.formulas import (
    Number,
    absolute,
    exact_product,
    exact_sum,
    exp,
    expm1,
    formula,
    log,
    log1p,
    maximum,
    minimum,
    repeat,
    repeat_while,
    sqrt,
    where,
    where_rare,
)
from sagax._src.primitives.makers import elementwise, floating, operands
from sagax._src.primitives.special.common import scipy_reference
from sagax._src.primitives.special.gamma import digamma, log_gamma_1p
from sagax._src.primitives.special.rests import LARGE, exp_rest, gauss, log1p_rest, stirling_rest
from sagax._src.primitives.transcendental import log as log_of
from sagax._src.primitives.transcendental import log1p as log1p_of
from sagax._src.primitives.transcendental import widened

# The parts; x is in (0, 1), y = 1 - x -------------------------------------------------------------------


def _excess(a: Number, b: Number, x: Number) -> Number:
    """Return (a + b) x - a, the excess of x over the mean: a small difference of large numbers."""
    total, lost = exact_sum(a, b)
    product, rest = exact_product(total, x)
    return (product - a) + (rest + lost * x)


def _logit_density(a: Number, b: Number, x: Number, y: Number) -> Number:
    """Return x**a y**b / B(a, b), the density of the logit.

    Exponents are written so that they are as small as the result permits. With s the smaller
    parameter, 1 / B = s gamma(s + l) / (gamma(l) gamma(1 + s)).
    """
    swap = b < a
    s, l = where(swap, b, a), where(swap, a, b)  # noqa: E741
    xs, log_xl = where(swap, y, x), where(swap, log(x), log1p(-x))
    total = s + l
    # both small: by gamma functions of 1 + s, 1 + l and 1 + s + l
    s_in, l_in = minimum(s, LARGE), minimum(l, LARGE)
    logs = log_gamma_1p(s_in + l_in) - log_gamma_1p(s_in) - log_gamma_1p(l_in)
    small = s * (l / total) * exp(s * log(xs) + l * log_xl + logs)

    def mixed() -> Number:  # l large: gamma(s + l) / gamma(l) by Stirling's series
        big = maximum(l, LARGE)
        shift = stirling_rest(s_in + big) - stirling_rest(big) + (big - 0.5) * log1p(s_in / big)
        power = s_in * (log(xs * (s_in + big)) - 1) + big * log_xl
        return s * exp(power + shift - log_gamma_1p(s_in))

    def large() -> Number:  # both large: the distance from the mean only
        p, q = maximum(a, LARGE), maximum(b, LARGE)
        excess = _excess(p, q, x)
        rests = stirling_rest(p) + stirling_rest(q) - stirling_rest(p + q)
        exponent = p * log1p_rest(excess / p) + q * log1p_rest(-excess / q) + rests
        return exp(-exponent) * sqrt(p * (q / (p + q)) * (0.5 / math.pi))

    out = where_rare((l >= LARGE) & (s < LARGE), mixed, small)
    return where_rare(s >= LARGE, large, out)


def _mean_rest(x: Number, v: Number) -> Number:
    """Return log(1 + x (e**v - 1)) - x v; for x > 1/2 by the symmetry of x, v and 1 - x, -v."""
    turn = x > 0.5
    x, v = where(turn, 1 - x, x), where(turn, -v, v)
    return x * exp_rest(v) - log1p_rest(x * expm1(v))


def _tail(a: Number, b: Number, x: Number, y: Number, slope: Number, needed: Number) -> Number:
    """Integrate exp(-E), where E has the given slope a y - b x at w = 0."""
    a, b, slope = where(needed, a, LARGE), where(needed, b, LARGE), where(needed, slope, 0.0)
    x, y = where(needed, x, 0.5), where(needed, y, 0.5)
    total = a + b
    reach, count = (39.0, 28) if a.double else (19.0, 16)

    def height(w: Number) -> Number:
        return slope * w + total * _mean_rest(x, -w)

    # the root of slope w + curvature w**2 / 2 = reach; from there by Newton, E being convex
    curvature = total * x * y
    window = 2 * reach / (slope + sqrt(slope * slope + 2 * reach * curvature))
    for _ in range(4):
        odds = x * exp(-window)
        steepness = slope + total * (x - odds / (y + odds))
        window = window - (height(window) - reach) / steepness

    def body(so_far: Number, node: Number, weight: Number) -> list[Number]:
        return [so_far + weight * exp(-height(window * node))]

    (out,) = repeat(count, needed, [x.like(0.0)], body, gauss(count))
    return out * window


def _fraction(a: Number, b: Number, x: Number, y: Number, needed: Number) -> Number:
    """Return B(a, b) I / (x**a y**b) as the contracted continued fraction, by Steed's method: two quotients an iteration.

    A. R. DiDonato and A. H. Morris, Algorithm 708, ACM Trans. Math. Softw. 18 (1992), equation 9;
    I. J. Thompson and A. R. Barnett, J. Comput. Phys. 64 (1986).
    """
    a, b = where(needed, a, 1.0), where(needed, b, 1.0)
    x, y = where(needed, x, 0.5), where(needed, y, 0.5)
    accuracy = 4e-16 if a.double else 3e-8
    total, distance = a + b, a * y - b * x + 1
    start = (a + 1) / (a * distance)

    def body(n: Number, ratio: Number, change: Number, h: Number) -> list[Number]:
        odd = a + 2 * n - 1
        next_odd = odd + 2
        inverse = 1 / (odd * next_odd)
        inverse_odd = inverse * next_odd
        share = n * (b - n) * x * inverse_odd
        numerator = share * x * ((a + n - 1) * inverse_odd) * (total + n - 1)
        denominator = n + share + (a + n) * (inverse * odd) * (distance + n * (1 + y))
        after = 1 / (denominator + numerator * ratio)  # of the denominators of two convergents
        change = -change * (numerator * ratio * after)
        h = h + change
        return [absolute(change) > accuracy * absolute(h), after, change, h]

    first = (
        a + 1
    ) / distance  # the ratio is that of denominators: the first is 1 / (a / (a + 1) * distance)
    _, _, h = repeat_while(400, needed, [first / a, start, start], body)
    return h


# regularized_incomplete_beta ------------------------------------------------------------------------------


def _no_derivative_in_parameter(*_: Any) -> Any:
    raise ArgumentValueError(
        "there is no derivative with respect to the parameters a and b",
        function="betainc",
        argument="a or b",
        fix="differentiate with respect to x only, or wrap the parameters in stop_gradient",
    )


def _samples(**options: Any) -> list[Sample]:
    one = {"low": 0.3, "high": 5}
    unit = {"low": 0.05, "high": 0.95}
    return [
        Sample(f32(2, 3, **one), f32(2, 3, **one), f32(2, 3, **unit), **options),
        Sample(f32(4, low=9, high=30), f32(4, low=9, high=30), f32(4, **unit), **options),
        Sample(f32(**one), f32(3, **one), f32(**unit), **options),
        Sample(f32(2, 3, **one), f32(2, 1, **one), f32(1, 3, **unit), **options),
        Sample(bf16(3, **one), bf16(3, **one), bf16(3, **unit), **options),
    ]


regularized_incomplete_beta_p = elementwise(
    "regularized_incomplete_beta",
    3,
    numpy=scipy_reference("betainc"),
    accepts=floating,
    jvp=(
        _no_derivative_in_parameter,
        _no_derivative_in_parameter,
        lambda t, out, a, b, x: mul(t, beta_density(a, b, x)),
    ),
    samples=_samples(derivatives=False),
)


def _split(a: Number, b: Number, large: Number) -> Number:
    """Return the boundary between computing the lower tail and the upper one.

    It is the mean, moved away from 0 and 1 so that the fraction converges on either side.
    """
    mean, inner = a / (a + b), (a + 1) / (a + b + 2)
    limited = where(
        a > b, maximum(inner, minimum(mean, 0.999)), minimum(inner, maximum(mean, 0.001))
    )
    return where(large, mean, limited)


def _inside(a: Number, b: Number, x: Number) -> Number:
    return (a > 0) & (b > 0) & (x > 0) & (x < 1) & (a < math.inf) & (b < math.inf)


def _invalid(a: Number, b: Number, x: Number) -> Number:
    out = (a < 0) | (b < 0) | (x < 0) | (x > 1) | a.is_nan() | b.is_nan() | x.is_nan()
    undecided = (a.equals(0.0) & b.equals(0.0)) | (a.equals(math.inf) & b.equals(math.inf))
    return out | undecided


@formula(regularized_incomplete_beta_p, tiled=True)
def _incomplete_beta(a: Number, b: Number, x: Number) -> Number:
    inside = _inside(a, b, x)
    p, q, t = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5)
    density = _logit_density(p, q, t, 1 - t)
    large = minimum(p, q) >= LARGE
    above = t > _split(p, q, large)
    slope = absolute(_excess(p, q, t))
    p, q = where(above, q, p), where(above, p, q)
    x_in, y_in = where(above, 1 - t, t), where(above, t, 1 - t)
    fraction = _fraction(p, q, x_in, y_in, ~large)
    integral = where_rare(large, lambda: _tail(p, q, x_in, y_in, slope, large), fraction)
    part = minimum(density * integral, 1.0)
    out = where(above, 1 - part, part)
    # if one side has no mass, all of it is at the other end
    out = where(a.equals(0.0) | b.equals(math.inf), 1.0, out)
    out = where(b.equals(0.0) | a.equals(math.inf), 0.0, out)
    out = where(x.equals(0.0), 0.0, where(x.equals(1.0), 1.0, out))
    return where(_invalid(a, b, x), math.nan, out)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function: the distribution function of Beta(a, b) at `x`.

    It is the integral of t**(a-1) (1-t)**(b-1) / B(a, b) from 0 to `x`, for a, b > 0 and 0 <= x <= 1.
    All arguments have one floating dtype. Differentiable with respect to `x` only.

    >>> lax.betainc(2.0, 3.0, np.array([0.25, 0.5])).round(4)
    Array([0.2617, 0.6875], dtype=float32)
    """
    return regularized_incomplete_beta_p.bind(*operands(a, b, x))


# The density, which is the derivative in x ------------------------------------------------------------------


def _density_numpy(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> Any:
    import scipy.special  # imported here, since it loads slowly and only references need it

    powers = scipy.special.xlogy(a - 1, x) + scipy.special.xlog1py(b - 1, -x)
    return np.exp(powers - scipy.special.betaln(a, b))


def _log_slope(a: Any, b: Any, log_x: Any) -> Any:
    """Return the derivative of the logarithm of the density in `a`."""
    return add(log_x, sub(digamma(add(a, b)), digamma(a)))


beta_density_p = elementwise(
    "beta_density",
    3,
    numpy=widened(_density_numpy),
    accepts=floating,
    jvp=(
        lambda t, out, a, b, x: mul(t, mul(out, _log_slope(a, b, log_of(x)))),
        lambda t, out, a, b, x: mul(t, mul(out, _log_slope(b, a, log1p_of(mul(-1.0, x))))),
        lambda t, out, a, b, x: mul(
            t, mul(out, sub(div(sub(a, 1.0), x), div(sub(b, 1.0), sub(1.0, x))))
        ),
    ),
    samples=_samples(),
)


@formula(beta_density_p)
def _beta_density(a: Number, b: Number, x: Number) -> Number:
    inside = _inside(a, b, x)
    p, q, t = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5)
    out = _logit_density(p, q, t, 1 - t) / (t * (1 - t))

    def end(own: Number, other: Number) -> Number:
        """Return the value where the factor with the parameter `own` is 0 ** (own - 1)."""
        return where(own < 1, math.inf, where(own.equals(1.0), other, 0.0))

    out = where(x.equals(0.0), end(a, b), where(x.equals(1.0), end(b, a), out))
    degenerate = a.equals(0.0) | b.equals(0.0) | a.equals(math.inf) | b.equals(math.inf)
    return where(_invalid(a, b, x), math.nan, where(degenerate, 0.0, out))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return x**(a-1) (1-x)**(b-1) / B(a, b), accurate also for large parameters."""
    return beta_density_p.bind(*operands(a, b, x))
