"""Samplers of real numbers that are functions of a few uniform or normal ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src import config
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
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
from sagax._src.primitives.resharding import takes_out_sharding
from sagax._src.primitives.rounding import nextafter
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import unstack
from sagax._src.primitives.special.erf import erf, erf_inv
from sagax._src.primitives.transcendental import exp, log, log1p, tan
from sagax.random._arguments import (
    checked_parameter,
    float_dtype,
    full_shape,
    joint_shape,
    lift,
    no_sharding,
    parameter,
    program,
    scalar,
    shape_of,
    stretch,
    total,
    typed_key,
)
from sagax.random._basic import between, signs, standard_normal, subkeys, unit

_thread = config.thread
_SQRT2 = float(np.sqrt(2))


def _tiny(dtype: Any) -> Any:
    """The least positive normal number of a dtype."""
    return ml_dtypes.finfo(dtype).smallest_normal


def _eps(dtype: Any) -> Any:
    return ml_dtypes.finfo(dtype).eps


def _simple(name: str, draw: Callable[[Any, tuple, Any], Any]) -> Callable[..., Any]:
    """The program of a sampler without parameters."""

    def body(shape: tuple, dtype: Any) -> Callable[..., Any]:
        return lambda key: draw(key, shape, dtype)

    body.__name__ = name
    return program(body)


def _sampled(
    function: str, run: Callable[..., Any], key: Any, shape: Any, dtype: Any, sharding: Any
) -> Array:
    no_sharding(function, sharding)
    typed = typed_key(function, key)
    dtype = float_dtype(function, dtype)
    return run(shape_of(function, shape), dtype)(typed)


# without parameters ---------------------------------------------------------------------------------


def standard_exponential(key: Any, shape: tuple, dtype: Any) -> Any:
    """Exponential numbers of rate 1, inside of a program."""
    return neg(log1p(neg(unit(key, shape, dtype))))


_exponential = _simple("_exponential", standard_exponential)


@takes_out_sharding
def exponential(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the exponential distribution with rate 1: density exp(-x) for x >= 0.

    Raises TypeError for what is no key, ValueError for an array of keys or a dtype that is not
    floating.

    >>> from sagax import random
    >>> random.exponential(random.key(0), (2,)).shape
    (2,)
    """
    return _sampled("exponential", _exponential, key, shape, dtype, out_sharding)


def _draw_laplace(key: Any, shape: tuple, dtype: Any) -> Any:
    low = scalar(-1 + float(ml_dtypes.finfo(dtype).epsneg), dtype)
    u = between(key, shape, dtype, low, scalar(1, dtype))
    return mul(sign(u), log1p(neg(abs(u))))


_laplace = _simple("_laplace", _draw_laplace)


@takes_out_sharding
def laplace(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Laplace distribution: density exp(-|x|) / 2.

    Raises TypeError for what is no key, ValueError for an array of keys or a dtype that is not
    floating.

    >>> from sagax import random
    >>> random.laplace(random.key(0), (2,)).shape
    (2,)
    """
    return _sampled("laplace", _laplace, key, shape, dtype, out_sharding)


def _draw_logistic(key: Any, shape: tuple, dtype: Any) -> Any:
    u = between(key, shape, dtype, scalar(_tiny(dtype), dtype), scalar(1, dtype))
    return sub(log(u), log1p(neg(u)))


_logistic = _simple("_logistic", _draw_logistic)


@takes_out_sharding
def logistic(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the logistic distribution: distribution function 1 / (1 + exp(-x)).

    Raises TypeError for what is no key, ValueError for an array of keys or a dtype that is not
    floating.

    >>> from sagax import random
    >>> random.logistic(random.key(0), (2,)).shape
    (2,)
    """
    return _sampled("logistic", _logistic, key, shape, dtype, out_sharding)


def _draw_cauchy(key: Any, shape: tuple, dtype: Any) -> Any:
    u = between(key, shape, dtype, scalar(_eps(dtype), dtype), scalar(1, dtype))
    return tan(mul(scalar(np.pi, dtype), sub(u, scalar(0.5, dtype))))


_cauchy = _simple("_cauchy", _draw_cauchy)


@takes_out_sharding
def cauchy(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Cauchy distribution: density 1 / (pi (1 + x**2)).

    Raises TypeError for what is no key, ValueError for an array of keys or a dtype that is not
    floating.

    >>> from sagax import random
    >>> random.cauchy(random.key(0), (2,)).shape
    (2,)
    """
    return _sampled("cauchy", _cauchy, key, shape, dtype, out_sharding)


def draw_gumbel(key: Any, shape: tuple, dtype: Any, mode: str) -> Any:
    """Numbers of the Gumbel distribution, inside of a program."""
    if mode == "low":
        u = between(key, shape, dtype, scalar(_tiny(dtype), dtype), scalar(1, dtype))
        return neg(log(neg(log(u))))
    # Two draws make the bits of a number near 0; near 1 the first one alone is exact enough.
    u, v = unstack(unit(key, (2, *shape), dtype))
    eps = float(_eps(dtype))
    least = scalar(eps * eps / 2 if eps * eps / 2 > float(_tiny(dtype)) else _tiny(dtype), dtype)
    fine = add(add(u, mul(scalar(eps, dtype), v)), least)
    x = select_n(ge(u, scalar(0.5, dtype)), fine, u)
    return neg(log(neg(log1p(neg(x)))))


def gumbel_mode(function: str, mode: Any) -> str:
    """The `mode` argument: None means what the option high_dynamic_range_gumbel says."""
    if mode is None:
        return "high" if _thread.settings.high_dynamic_range_gumbel else "low"
    if mode not in ("low", "high"):
        raise ArgumentValueError(
            function=function, argument="mode", got=repr(mode), expected="'high', 'low' or None"
        )
    return mode


@program
def _gumbel(shape: tuple, dtype: Any, mode: str) -> Callable[..., Any]:
    return lambda key: draw_gumbel(key, shape, dtype, mode)


@takes_out_sharding
def gumbel(
    key: Any,
    shape: Any = (),
    dtype: Any = None,
    mode: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Numbers of the Gumbel distribution: distribution function exp(-exp(-x)).

    With `mode="high"` the far tail has twice as many bits, at twice the cost; None means what the
    option high_dynamic_range_gumbel says.

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating or another mode.

    >>> from sagax import random
    >>> random.gumbel(random.key(0), (2,)).shape
    (2,)
    """
    no_sharding("gumbel", out_sharding)
    typed = typed_key("gumbel", key)
    dtype = float_dtype("gumbel", dtype)
    return _gumbel(shape_of("gumbel", shape), dtype, gumbel_mode("gumbel", mode))(typed)


def _draw_maxwell(key: Any, shape: tuple, dtype: Any) -> Any:
    x = standard_normal(key, (*shape, 3), dtype)
    return sqrt(total(mul(x, x), len(shape)))


_maxwell = _simple("_maxwell", _draw_maxwell)


@takes_out_sharding
def maxwell(key: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None) -> Array:
    """Numbers of the Maxwell distribution: lengths of vectors of three normal numbers.

    Raises TypeError for what is no key, ValueError for an array of keys or a dtype that is not
    floating.

    >>> from sagax import random
    >>> random.maxwell(random.key(0), (2,)).shape
    (2,)
    """
    return _sampled("maxwell", _maxwell, key, shape, dtype, out_sharding)


# with parameters ------------------------------------------------------------------------------------


@program
def _double_sided_maxwell(shape: tuple, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, loc: Any, scale: Any) -> Any:
        first, second = subkeys(key, 2)
        x = mul(signs(second, shape, dtype), _draw_maxwell(first, shape, dtype))
        return add(mul(x, lift(scale, len(shape))), lift(loc, len(shape)))

    return draw


def double_sided_maxwell(
    key: Any, loc: Any, scale: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Numbers loc + scale * s * m, with m of the Maxwell distribution and a random sign s.

    `loc` and `scale` are numbers or arrays; the result has the shape `shape` followed by the shape
    that they have in common, which also takes the place of an empty `shape`.

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating or parameters that do not broadcast.

    >>> from sagax import random
    >>> random.double_sided_maxwell(random.key(0), 0.0, 2.0, (2,)).shape
    (2,)
    """
    name = "double_sided_maxwell"
    typed = typed_key(name, key)
    dtype = float_dtype(name, dtype)
    loc, scale = parameter(name, "loc", loc, dtype), parameter(name, "scale", scale, dtype)
    joint = joint_shape(name, [loc.shape, scale.shape])
    shape = (*(shape_of(name, shape) or joint), *joint)
    return _double_sided_maxwell(shape, dtype)(typed, loc, scale)


@program
def _truncated_normal(shape: tuple, dtype: Any) -> Callable[..., Any]:
    root = scalar(_SQRT2, dtype)

    def draw(key: Any, lower: Any, upper: Any) -> Any:
        lower, upper = lift(lower, len(shape)), lift(upper, len(shape))
        u = between(key, shape, dtype, erf(div(lower, root)), erf(div(upper, root)))
        x = mul(root, erf_inv(u))
        # roundings must not lead out of the open interval
        least = nextafter(stop_gradient(lower), scalar(np.inf, dtype))
        most = nextafter(stop_gradient(upper), scalar(-np.inf, dtype))
        return min(max(least, x), most)

    return draw


@takes_out_sharding
def truncated_normal(
    key: Any,
    lower: Any,
    upper: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Numbers of the standard normal distribution under the condition that they lie in (lower, upper).

    The bounds are numbers, or arrays that broadcast to `shape` (default: the shape they have in
    common).

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating or bounds that do not broadcast.

    >>> from sagax import random
    >>> bool((random.truncated_normal(random.key(0), -1.0, 1.0, (100,)) < 1).all())
    True
    """
    name = "truncated_normal"
    no_sharding(name, out_sharding)
    typed = typed_key(name, key)
    dtype = float_dtype(name, dtype)
    lower, upper = parameter(name, "lower", lower, dtype), parameter(name, "upper", upper, dtype)
    return _truncated_normal(full_shape(name, shape, lower, upper), dtype)(typed, lower, upper)


def _one_parameter(
    function: str,
    argument: str,
    run: Callable[..., Any],
    key: Any,
    x: Any,
    shape: Any,
    dtype: Any,
    sharding: Any,
) -> Array:
    no_sharding(function, sharding)
    typed = typed_key(function, key)
    dtype = float_dtype(function, dtype)
    x = checked_parameter(function, argument, x, dtype)
    return run(full_shape(function, shape, x), dtype)(typed, x)


@program
def _lognormal(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key, sigma: exp(mul(standard_normal(key, shape, dtype), lift(sigma, len(shape))))


@takes_out_sharding
def lognormal(
    key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Numbers whose logarithms are normal with mean 0 and standard deviation `sigma`.

    `sigma` is a number, or an array that broadcasts to `shape` (default: its shape).

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating, or a `sigma` that does not broadcast or has a wider dtype.

    >>> from sagax import random
    >>> random.lognormal(random.key(0), 0.5, (2,)).shape
    (2,)
    """
    return _one_parameter("lognormal", "sigma", _lognormal, key, sigma, shape, dtype, out_sharding)


@program
def _rayleigh(shape: tuple, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, scale: Any) -> Any:
        log_u = log(unit(key, shape, dtype))
        return mul(stretch(scale, shape), sqrt(mul(log_u, scalar(-2, dtype))))

    return draw


@takes_out_sharding
def rayleigh(
    key: Any, scale: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Numbers of the Rayleigh distribution: `scale` times the length of two normal numbers.

    `scale` is a number, or an array that broadcasts to `shape` (default: its shape).

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating, or a `scale` that does not broadcast or has a wider dtype.

    >>> from sagax import random
    >>> random.rayleigh(random.key(0), 2.0, (2,)).shape
    (2,)
    """
    return _one_parameter("rayleigh", "scale", _rayleigh, key, scale, shape, dtype, out_sharding)


@program
def _pareto(shape: tuple, dtype: Any) -> Callable[..., Any]:
    return lambda key, b: exp(div(standard_exponential(key, shape, dtype), lift(b, len(shape))))


@takes_out_sharding
def pareto(
    key: Any, b: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Numbers of the Pareto distribution: density b / x**(b + 1) for x >= 1.

    `b` is a number, or an array that broadcasts to `shape` (default: its shape).

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating, or a `b` that does not broadcast or has a wider dtype.

    >>> from sagax import random
    >>> random.pareto(random.key(0), 3.0, (2,)).shape
    (2,)
    """
    return _one_parameter("pareto", "b", _pareto, key, b, shape, dtype, out_sharding)


@program
def _wald(shape: tuple, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, mean: Any) -> Any:
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

    return draw


@takes_out_sharding
def wald(
    key: Any, mean: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Numbers of the Wald (inverse Gaussian) distribution with a mean, and scale 1.

    `mean` is a number, or an array that broadcasts to `shape` (default: its shape).

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating, or a `mean` that does not broadcast or has a wider dtype.

    >>> from sagax import random
    >>> random.wald(random.key(0), 2.0, (2,)).shape
    (2,)
    """
    return _one_parameter("wald", "mean", _wald, key, mean, shape, dtype, out_sharding)


@program
def _weibull_min(shape: tuple, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, scale: Any, concentration: Any) -> Any:
        # parameters of more dimensions than `shape` share the draws
        joint = joint_shape("weibull_min", [shape, scale.shape, concentration.shape])
        e = stretch(standard_exponential(key, shape, dtype), joint)
        power = div(scalar(1, dtype), lift(concentration, len(joint)))
        return mul(pow(e, stretch(power, joint)), lift(scale, len(joint)))

    return draw


def weibull_min(
    key: Any, scale: Any, concentration: Any, shape: Any = (), dtype: Any = None
) -> Array:
    """Numbers of the Weibull distribution: scale * e**(1 / concentration) with e exponential.

    The parameters are numbers, or arrays that broadcast with `shape`.

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating or parameters that do not broadcast.

    >>> from sagax import random
    >>> random.weibull_min(random.key(0), 1.0, 2.0, (2,)).shape
    (2,)
    """
    name = "weibull_min"
    typed = typed_key(name, key)
    dtype = float_dtype(name, dtype)
    scale = parameter(name, "scale", scale, dtype)
    concentration = parameter(name, "concentration", concentration, dtype)
    shape = shape_of(name, shape)
    joint_shape(name, [shape, scale.shape, concentration.shape])
    return _weibull_min(shape, dtype)(typed, scale, concentration)


@program
def _triangular(shape: tuple, dtype: Any) -> Callable[..., Any]:
    def draw(key: Any, left: Any, mode: Any, right: Any) -> Any:
        # the inverse of the distribution function, which has a branch on each side of the mode
        left, mode, right = [stretch(x, shape) for x in (left, mode, right)]
        u = unit(key, shape, dtype)
        rising = add(left, sqrt(mul(mul(u, sub(right, left)), sub(mode, left))))
        rest = mul(sub(scalar(1, dtype), u), sub(right, left))
        falling = sub(right, sqrt(mul(rest, sub(right, mode))))
        return select_n(lt(u, div(sub(mode, left), sub(right, left))), falling, rising)

    return draw


@takes_out_sharding
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
    """Numbers in [left, right] whose density rises linearly up to `mode` and falls from there.

    The parameters are numbers, or arrays that broadcast to `shape` (default: the shape they have in
    common).

    Raises TypeError for what is no key, ValueError for an array of keys, a dtype that is not
    floating, or parameters that do not broadcast or have a wider dtype.

    >>> from sagax import random
    >>> random.triangular(random.key(0), 0.0, 0.5, 1.0, (2,)).shape
    (2,)
    """
    name = "triangular"
    no_sharding(name, out_sharding)
    typed = typed_key(name, key)
    dtype = float_dtype(name, dtype)
    params = [
        checked_parameter(name, argument, x, dtype)
        for argument, x in (("left", left), ("mode", mode), ("right", right))
    ]
    return _triangular(full_shape(name, shape, *params), dtype)(typed, *params)


__all__ = [
    "cauchy",
    "double_sided_maxwell",
    "exponential",
    "gumbel",
    "laplace",
    "logistic",
    "lognormal",
    "maxwell",
    "pareto",
    "rayleigh",
    "triangular",
    "truncated_normal",
    "wald",
    "weibull_min",
]
