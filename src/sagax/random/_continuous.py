"""Draw from continuous distributions, by transforming uniform or normal variates."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from sagax._src import config
from sagax._src.core.value import Array
from sagax._src.primitives.arithmetic import (
    abs,
    add,
    div,
    integer_pow,
    max,
    min,
    mul,
    neg,
    sign,
    sqrt,
    sub,
)
from sagax._src.primitives.comparison import ge, le, lt
from sagax._src.primitives.identities import stop_gradient
from sagax._src.primitives.power import pow
from sagax._src.primitives.rounding import nextafter
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import unstack
from sagax._src.primitives.special.erf import erf, erf_inv
from sagax._src.primitives.transcendental import exp, log, log1p, tan
from sagax.numpy._arguments import check_choice
from sagax.random._arguments import (
    checked_parameter,
    inexact_dtype,
    joint_shape,
    lift,
    scalar,
    shape_of,
    stretch,
    total,
)
from sagax.random._basic import between, signs, standard_normal, subkeys, unit
from sagax.random._sampler import sampler

_thread = config.thread
_SQRT2 = float(np.sqrt(2))


def _tiny(dtype: Any) -> Any:
    """Return the least positive normal number of a dtype."""
    return ml_dtypes.finfo(dtype).smallest_normal


def _eps(dtype: Any) -> Any:
    return ml_dtypes.finfo(dtype).eps


# without parameters ---------------------------------------------------------------------------------


def standard_exponential(key: Any, shape: tuple, dtype: Any) -> Any:
    """Draw exponential variates of rate 1, in a traced function."""
    return neg(log1p(neg(unit(key, shape, dtype))))


@sampler()
def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the exponential distribution with rate 1: density exp(-x) for x >= 0.

    >>> random.exponential(random.key(0), (2,)).shape
    (2,)
    """
    return standard_exponential(key, shape, dtype)


@sampler()
def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the Laplace distribution: density exp(-|x|) / 2.

    >>> random.laplace(random.key(0), (2,)).shape
    (2,)
    """
    low = scalar(-1 + float(ml_dtypes.finfo(dtype).epsneg), dtype)
    u = between(key, shape, dtype, low, scalar(1, dtype))
    return mul(sign(u), log1p(neg(abs(u))))


@sampler()
def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the logistic distribution: distribution function 1 / (1 + exp(-x)).

    >>> random.logistic(random.key(0), (2,)).shape
    (2,)
    """
    u = between(key, shape, dtype, scalar(_tiny(dtype), dtype), scalar(1, dtype))
    return sub(log(u), log1p(neg(u)))


@sampler()
def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the Cauchy distribution: density 1 / (pi (1 + x**2)).

    >>> random.cauchy(random.key(0), (2,)).shape
    (2,)
    """
    u = between(key, shape, dtype, scalar(_eps(dtype), dtype), scalar(1, dtype))
    return tan(mul(scalar(np.pi, dtype), sub(u, scalar(0.5, dtype))))


def draw_gumbel(key: Any, shape: tuple, dtype: Any, mode: str) -> Any:
    """Draw Gumbel variates, in a traced function."""
    if mode == "low":
        u = between(key, shape, dtype, scalar(_tiny(dtype), dtype), scalar(1, dtype))
        return neg(log(neg(log(u))))
    # Two draws make the bits of a number near 0. Near 1 the first alone is exact enough.
    u, v = unstack(unit(key, (2, *shape), dtype))
    eps = float(_eps(dtype))
    least = scalar(eps * eps / 2 if eps * eps / 2 > float(_tiny(dtype)) else _tiny(dtype), dtype)
    fine = add(add(u, mul(scalar(eps, dtype), v)), least)
    x = select_n(ge(u, scalar(0.5, dtype)), fine, u)
    return neg(log(neg(log1p(neg(x)))))


def gumbel_mode(function: str, mode: Any) -> str:
    """Check the `mode` argument: None is as the option high_dynamic_range_gumbel says."""
    if mode is None:
        return "high" if _thread.settings.high_dynamic_range_gumbel else "low"
    check_choice(function, "mode", mode, ("low", "high"), "'high', 'low' or None")
    return mode


@sampler(mode=gumbel_mode)
def gumbel(
    key: Any, shape: Any = (), dtype: Any = None, mode: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the Gumbel distribution: distribution function exp(-exp(-x)).

    `mode="high"` doubles the bits of the far tail, at twice the cost. None is as the option
    high_dynamic_range_gumbel says.

    >>> random.gumbel(random.key(0), (2,)).shape
    (2,)
    """
    return draw_gumbel(key, shape, dtype, mode)


def _draw_maxwell(key: Any, shape: tuple, dtype: Any) -> Any:
    x = standard_normal(key, (*shape, 3), dtype)
    return sqrt(total(mul(x, x), len(shape)))


@sampler()
def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Draw from the Maxwell distribution: the length of a vector of three normal variates.

    >>> random.maxwell(random.key(0), (2,)).shape
    (2,)
    """
    return _draw_maxwell(key, shape, dtype)


# with parameters ------------------------------------------------------------------------------------


def _prepended_shape(function: str, shape: Any, *params: Any) -> tuple:
    """`shape`, or else the joint shape of the parameters, followed by that joint shape."""
    joint = joint_shape(function, [p.shape for p in params])
    return (*(shape_of(function, shape) or joint), *joint)


@sampler("loc", "scale", shape=_prepended_shape)
def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw loc + scale * s * m, with m of the Maxwell distribution and a random sign s.

    `loc` and `scale` are numbers or arrays. The result has the shape `shape` followed by their joint
    shape, which also replaces an empty `shape`.

    >>> random.double_sided_maxwell(random.key(0), 0.0, 2.0, (2,)).shape
    (2,)
    """
    first, second = subkeys(key, 2)
    x = mul(signs(second, shape, dtype), _draw_maxwell(first, shape, dtype))
    return add(mul(x, lift(scale, len(shape))), lift(loc, len(shape)))


@sampler("lower", "upper")
def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the standard normal distribution truncated to (lower, upper).

    The bounds are numbers, or arrays that broadcast to `shape` (default: their joint shape).

    >>> bool((random.truncated_normal(random.key(0), -1.0, 1.0, (100,)) < 1).all())
    True
    """
    root = scalar(_SQRT2, dtype)
    lower, upper = lift(lower, len(shape)), lift(upper, len(shape))
    u = between(key, shape, dtype, erf(div(lower, root)), erf(div(upper, root)))
    x = mul(root, erf_inv(u))
    # roundings must not lead out of the open interval
    least = nextafter(stop_gradient(lower), scalar(np.inf, dtype))
    most = nextafter(stop_gradient(upper), scalar(-np.inf, dtype))
    return min(max(least, x), most)


@sampler("sigma", convert=checked_parameter, dtype=inexact_dtype)
def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw variates whose logarithms are normal, real or complex, with mean 0 and deviation `sigma`.

    `sigma` is a number, or an array that broadcasts to `shape` (default: its shape).

    >>> random.lognormal(random.key(0), 0.5, (2,)).shape
    (2,)
    """
    return exp(mul(standard_normal(key, shape, dtype), lift(sigma, len(shape))))


@sampler("scale", convert=checked_parameter)
def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the Rayleigh distribution: `scale` times the length of two normal variates.

    `scale` is a number, or an array that broadcasts to `shape` (default: its shape).

    >>> random.rayleigh(random.key(0), 2.0, (2,)).shape
    (2,)
    """
    log_u = log(unit(key, shape, dtype))
    return mul(stretch(scale, shape), sqrt(mul(log_u, scalar(-2, dtype))))


@sampler("b", convert=checked_parameter)
def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the Pareto distribution: density b / x**(b + 1) for x >= 1.

    `b` is a number, or an array that broadcasts to `shape` (default: its shape).

    >>> random.pareto(random.key(0), 3.0, (2,)).shape
    (2,)
    """
    return exp(div(standard_exponential(key, shape, dtype), lift(b, len(shape))))


@sampler("mean", convert=checked_parameter)
def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the Wald (inverse Gaussian) distribution with a mean, and scale 1.

    `mean` is a number, or an array that broadcasts to `shape` (default: its shape).

    >>> random.wald(random.key(0), 2.0, (2,)).shape
    (2,)
    """
    # J. Michael, W. Schucany, R. Haas, "Generating random variates using transformations with
    # multiple roots", The American Statistician 30 (1976)
    first, second = subkeys(key, 2)
    m = stretch(mean, shape)
    normal, u = standard_normal(first, shape, dtype), unit(second, shape, dtype)
    v = integer_pow(normal, 2)
    m2 = integer_pow(m, 2)
    four, two = scalar(4, dtype), scalar(2, dtype)
    root = sqrt(add(mul(mul(four, m), v), mul(m2, integer_pow(v, 2))))
    w = sub(add(m, div(mul(m2, v), two)), mul(div(m, two), root))
    return select_n(le(u, div(m, add(m, w))), div(m2, w), w)


def _shape_of_draws(function: str, shape: Any, *params: Any) -> tuple:
    """Return the shape of the draws, which parameters of more dimensions share."""
    shape = shape_of(function, shape)
    joint_shape(function, [shape, *[p.shape for p in params]])
    return shape


@sampler("scale", "concentration", shape=_shape_of_draws)
def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Draw from the Weibull distribution: scale * e**(1 / concentration) with e exponential.

    The parameters are numbers, or arrays that broadcast with `shape`.

    >>> random.weibull_min(random.key(0), 1.0, 2.0, (2,)).shape
    (2,)
    """
    joint = joint_shape("weibull_min", [shape, scale.shape, concentration.shape])
    e = stretch(standard_exponential(key, shape, dtype), joint)
    power = div(scalar(1, dtype), lift(concentration, len(joint)))
    return mul(pow(e, stretch(power, joint)), lift(scale, len(joint)))


@sampler("left", "mode", "right", convert=checked_parameter)
def triangular(
    key: Any,
    left: Any,
    mode: Any,
    right: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from [left, right], with a density that rises linearly up to `mode` and falls from there.

    The parameters are numbers, or arrays that broadcast to `shape` (default: their joint shape).

    >>> random.triangular(random.key(0), 0.0, 0.5, 1.0, (2,)).shape
    (2,)
    """
    # the inverse of the distribution function, which has a branch on each side of the mode
    left, mode, right = [stretch(x, shape) for x in (left, mode, right)]
    u = unit(key, shape, dtype)
    rising = add(left, sqrt(mul(mul(u, sub(right, left)), sub(mode, left))))
    rest = mul(sub(scalar(1, dtype), u), sub(right, left))
    falling = sub(right, sqrt(mul(rest, sub(right, mode))))
    return select_n(lt(u, div(sub(mode, left), sub(right, left))), falling, rising)
