"""Draw from the gamma distribution and its relatives: beta, Dirichlet, chi-square, t, F, ball."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src.core import dims
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import KEYS, Fusion
from sagax._src.core.primitive import Primitive
from sagax._src.core.tangents import Zero
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, ShapeError
from sagax._src.higher_order.while_loop import while_loop
from sagax._src.primitives.arithmetic import abs, add, div, max, mul, neg, rsqrt, sqrt, sub
from sagax._src.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from sagax._src.primitives.comparison import eq, ge, gt
from sagax._src.primitives.identities import optimization_barrier, stop_gradient
from sagax._src.primitives.power import pow
from sagax._src.primitives.random_bits import (
    folds_like_splits,
    in_order,
    is_key_dtype,
    legacy_order,
    random_fold_in_p,
    random_split,
)
from sagax._src.primitives.reductions import reduce_max, reduce_or
from sagax._src.primitives.resharding import left_to_compiler, takes_out_sharding
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.shaping import iota_p, unstack
from sagax._src.primitives.special.incomplete import random_gamma_grad
from sagax._src.primitives.structural import (
    broadcast,
    convert,
    expand_dims,
    moveaxis,
    reduce_sum,
    reshape,
)
from sagax._src.primitives.transcendental import exp, log
from sagax.random._arguments import (
    batch_shape,
    checked_parameter,
    float_dtype,
    full_shape,
    lift,
    method_of,
    parameter,
    scalar,
    size_of,
    stretch,
    total,
    typed_key,
)
from sagax.random._basic import signs, standard_normal, subkeys, unit
from sagax.random._continuous import standard_exponential
from sagax.random._sampler import cached_jit, sampler

# the primitive --------------------------------------------------------------------------------------

# As one operation, so that its derivative is the implicit one: that of the inverse of the
# distribution function. The loop below has no useful derivative of its own.
random_gamma_p = Primitive("random_gamma", family=KEYS, fusion=Fusion.SEPARATE)


@random_gamma_p.abstract
def _(
    key: ShapedArray, alpha: ShapedArray, *, log_space: bool, partitionable: bool = True
) -> ShapedArray:
    if not is_key_dtype(key.dtype) or alpha.shape[: key.ndim] != key.shape:
        raise ShapeError(
            function="random_gamma",
            argument="key",
            got=key,
            expected=f"a key, or keys for the leading dimensions of {alpha.str_short(short_dtypes=True)}",
        )
    return intern_aval(alpha.shape, alpha.dtype, False, None)


@random_gamma_p.shard
def _(call: Any) -> list:
    return [((),) * call.outs[0].ndim]


@random_gamma_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], *, log_space: bool, **order: Any) -> tuple:
    out = random_gamma_p.bind(*primals, log_space=log_space, **order)
    alpha, t = primals[1], tangents[1]
    if type(t) is Zero:
        return out, Zero.like(aval_of(out))
    if not log_space:
        return out, mul(t, random_gamma_grad(alpha, out))
    x = exp(out)
    dtype = aval_of(x).dtype
    tiny = stretch(scalar(ml_dtypes.finfo(dtype).smallest_normal, dtype), aval_of(x).shape)
    x = select_n(eq(x, scalar(0, dtype)), x, tiny)  # where the variate itself underflows
    return out, mul(t, div(random_gamma_grad(alpha, x), x))


@random_gamma_p.batch
def _(axis: Any, args: Sequence[Any], in_dims: Sequence[Any], **params: Any) -> tuple:
    leading = [
        broadcast(x, (axis.size,)) if d is None else moveaxis(x, d, 0)
        for x, d in zip(args, in_dims, strict=True)
    ]
    if in_dims[0] is None:
        # XLA would move the broadcast behind the cipher, an operation in each run of its simplifier, and give up
        leading[0] = optimization_barrier(leading[0])
    return random_gamma_p.bind(*leading, **params), 0


@random_gamma_p.composite
def _(key: Any, alpha: Any, *, log_space: bool, partitionable: bool = True) -> Any:
    with in_order(partitionable):
        return _exact_gamma(left_to_compiler(key), left_to_compiler(alpha), log_space)


def _exact_gamma(key: Any, alpha: Any, log_space: bool) -> Any:
    """G. Marsaglia, W. Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000).

    For alpha < 1 a number for alpha + 1 is multiplied by u**(1 / alpha).
    """
    shape, dtype = aval_of(alpha).shape, aval_of(alpha).dtype
    inner = shape[aval_of(key).ndim :]
    keys, boost_keys = _split_all(random_split(key, inner), 2)
    one = scalar(1, dtype)
    large = ge(alpha, one)
    third = scalar(1 / 3, dtype)
    d = sub(select_n(large, add(alpha, one), alpha), third)
    v = _accepted(keys, d, div(third, sqrt(d)), shape, dtype)
    if not log_space:
        u = sub(one, _uniform_each(boost_keys, dtype))
        boost = select_n(large, pow(u, div(one, alpha)), stretch(one, shape))
        return mul(mul(d, v), boost)
    zero = scalar(0, dtype)
    log_u = _log_uniform_each(boost_keys, dtype)
    none = bitwise_or(large, eq(log_u, zero))
    boost = select_n(none, mul(log_u, div(one, alpha)), stretch(zero, shape))
    return add(add(log(d), log(v)), boost)


def _accepted(keys: Any, d: Any, c: Any, shape: tuple, dtype: Any) -> Any:
    """The accepted v = (1 + c x)**3 for normal x, by a loop until all elements have theirs.

    An element draws from three keys of its own in each trial: the next trial's, that of a chain of
    normal numbers until 1 + c x is positive, and that of the variate which decides.
    """
    yes = stretch(np.bool_(True), shape)
    valid = gt(d, scalar(0, dtype))  # where it is not, no trial would ever be accepted
    nothing = select_n(
        valid, stretch(scalar(np.nan, dtype), shape), stretch(scalar(1, dtype), shape)
    )
    start = (keys, keys, keys, yes, valid, nothing)
    if len(shape) > 1 and dims.is_static(shape):  # a short last dimension would not be vectorized
        flat = (math.prod(shape),)
        start, d, c = tuple([reshape(x, flat) for x in start]), reshape(d, flat), reshape(c, flat)
    found = while_loop(lambda s: _any(s[4]), lambda s: _trial(s, d, c, dtype), start)[5]
    return reshape(found, shape)


def _trial(state: tuple, d: Any, c: Any, dtype: Any) -> tuple:
    one = scalar(1, dtype)
    key, normal_key, decision_key, fresh, waiting, found = state
    next_key, new_normal_key, new_decision_key = _split_all(key, 3)
    key = select_n(fresh, key, next_key)
    normal_key = select_n(fresh, normal_key, new_normal_key)
    decision_key = select_n(fresh, decision_key, new_decision_key)
    normal_key, part = _split_all(normal_key, 2)
    x = _normal_each(part, dtype)
    v = add(one, mul(x, c))
    positive = gt(v, scalar(0, dtype))
    x, v = mul(x, x), mul(mul(v, v), v)
    u = _uniform_each(decision_key, dtype)
    limit = sub(one, mul(scalar(0.0331, dtype), mul(x, x)))
    log_limit = add(mul(x, scalar(0.5, dtype)), mul(d, add(sub(one, v), log(v))))
    reject = bitwise_and(ge(u, limit), ge(log(u), log_limit))
    accept = bitwise_and(positive, bitwise_not(reject))
    found = select_n(bitwise_and(waiting, accept), found, v)
    # rejected elements begin a new trial; where 1 + c x was not positive the chain goes on
    waiting = bitwise_and(waiting, bitwise_not(accept))
    return key, normal_key, decision_key, positive, waiting, found


def _any(x: Any) -> Any:
    return reduce_or(x, tuple(range(aval_of(x).ndim)))


def _split_all(keys: Any, count: int) -> tuple:
    """Split each of an array of keys into `count` keys."""
    aval = aval_of(keys)
    if aval.ndim and folds_like_splits(aval.dtype.impl):
        # the same keys, each by a loop over all keys, which SIMD vectors take; behind a barrier, since compiling
        # a cipher into each of its readers takes minutes
        folded = [random_fold_in_p.bind(keys, np.uint32(i)) for i in range(count)]
        return tuple(optimization_barrier(folded))
    return unstack(random_split(keys, (count,)), aval.ndim)


def _uniform_each(keys: Any, dtype: Any) -> Any:
    """A uniform variate in [0, 1) for each key of an array."""
    return unit(keys, (), dtype)


def _log_uniform_each(keys: Any, dtype: Any) -> Any:
    return neg(standard_exponential(keys, (), dtype))


def _normal_each(keys: Any, dtype: Any) -> Any:
    return standard_normal(keys, (), dtype)


# Polynomials in 1 / (2 g), highest power last, that are the coefficients of a polynomial in a normal
# variate divided by sqrt(2 g): the cube root of a gamma variate of shape g, over the cube root of g.
_CUBE_ROOT = (
    (1.0, -0.22373679280281067, -0.015139039605855942),
    (0.4713940918445587, 0.02607082948088646, -0.008986007422208786),
    (0.00013480280176736414, 0.011281860060989857, 0.022776789963245392),
    (-0.008553069084882736, -0.011537609621882439, -0.01323292963206768),
    (0.0031255800276994705, 0.005169653799384832, -0.006950356066226959),
    (-0.0008426812128163874, 0.00253000995144248, 0.0010604379931464791),
    (9.780498658074066e-05, -0.001450116978958249, 0.0015653260052204132),
)


def _horner(x: Any, coefficients: Sequence[Any]) -> Any:
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = add(mul(total, x), c)
    return total


def _log_gamma_approximately(key: Any, alpha: Any, shape: tuple, dtype: Any) -> Any:
    """Logarithms of gamma variates without a loop, by a transformation of normal ones.

    After E. Wilson, M. Hilferty, "The distribution of chi-square", PNAS 17 (1931), with a fitted
    correction. It is good for shapes from 4 on: smaller ones start at alpha + 4, and go down by
    factors u**(1 / a).
    """
    first, second = subkeys(key, 2)
    steps = 4
    g = add(alpha, scalar(steps, dtype))
    twice = mul(scalar(2, dtype), g)
    normal = standard_normal(first, shape, dtype)
    inverse = div(scalar(1, dtype), twice)
    z = mul(normal, rsqrt(twice))
    terms = [_horner(inverse, [scalar(c, dtype) for c in row]) for row in _CUBE_ROOT]
    root = max(_horner(z, terms), scalar(ml_dtypes.finfo(dtype).smallest_normal, dtype))
    start = add(log(g), mul(scalar(3, dtype), log(root)))
    count = reshape(
        iota_p.bind(dtype=dtype, shape=(steps,), dimension=0), (steps, *(1 for _ in shape))
    )
    e = standard_exponential(second, (steps, *shape), dtype)
    factors = div(neg(e), add(expand_dims(alpha, (0,)), count))
    return add(start, reduce_sum(factors, (0,)))


# gamma ----------------------------------------------------------------------------------------------


def draw_gamma(
    key: Any, alpha: Any, shape: tuple, dtype: Any, method: str, *, log_space: bool
) -> Any:
    """Draw gamma variates, or their logs, in a traced function; `alpha` broadcasts to `shape`."""
    alpha = stretch(alpha, shape)
    if method == "approximate":
        real = _wide_enough(dtype)
        x = _log_gamma_approximately(key, convert(alpha, real), shape, real)
        return convert(x if log_space else exp(x), dtype)
    return random_gamma_p.bind(key, alpha, log_space=log_space, **legacy_order())


def _wide_enough(dtype: Any) -> Any:
    """The dtype to approximate in: narrow ones have too few digits."""
    return np.dtype(np.float32) if dtype.itemsize < 4 else dtype


@cached_jit
def _gamma(shape: tuple, dtype: Any, method: str, log_space: bool) -> Callable[..., Any]:
    return lambda key, a: draw_gamma(key, a, shape, dtype, method, log_space=log_space)


def _sample_gamma(
    function: str,
    key: Any,
    a: Any,
    shape: Any,
    dtype: Any,
    method: Any,
    sharding: Any,
    log_space: bool,
) -> Array:
    typed = typed_key(function, key)
    method = method_of(function, method)
    dtype = float_dtype(function, dtype)
    a = parameter(function, "a", a, _wide_enough(dtype) if method == "approximate" else dtype)
    return _gamma(full_shape(function, shape, a), dtype, method, log_space)(typed, a)


@takes_out_sharding
def gamma(
    key: Any,
    a: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the gamma distribution: density x**(a - 1) exp(-x) / gamma(a) for x >= 0.

    `a` is a number, or an array that broadcasts to `shape` (default: its shape). The result is
    differentiable in `a`. `method="approximate"` needs no loop, and is a little off.

    Raises TypeError if `key` is no key, ValueError for an array of keys, a dtype that is not
    floating, an `a` that does not broadcast or another method.

    >>> random.gamma(random.key(0), 2.0, (3,)).shape
    (3,)
    """
    return _sample_gamma("gamma", key, a, shape, dtype, method, out_sharding, False)


@takes_out_sharding
def loggamma(
    key: Any,
    a: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw logarithms of gamma variates, exact where these would underflow.

    Arguments and errors are those of `gamma`.

    >>> bool(random.loggamma(random.key(0), 0.001) < -10)
    True
    """
    return _sample_gamma("loggamma", key, a, shape, dtype, method, out_sharding, True)


# from gamma variates ---------------------------------------------------------------------------------


@sampler("a", "b", convert=checked_parameter, method=method_of)
def beta(
    key: Any,
    a: Any,
    b: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the beta distribution: density in proportion to x**(a - 1) (1 - x)**(b - 1).

    The parameters are numbers, or arrays that broadcast to `shape` (default: their joint
    shape). The result is differentiable in them.

    >>> random.beta(random.key(0), 2.0, 3.0, (3,)).shape
    (3,)
    """
    x, y = [
        draw_gamma(k, p, shape, dtype, method, log_space=True)
        for k, p in zip(subkeys(key, 2), (a, b), strict=True)
    ]
    most = max(x, y)  # so that one of the two is 1, however small they are
    x, y = exp(sub(x, most)), exp(sub(y, most))
    return div(x, add(x, y))


def _shape_with_vectors(function: str, shape: Any, alpha: Any) -> tuple:
    if not alpha.shape:
        raise ArgumentValueError(
            "requires alpha.ndim >= 1, got alpha.ndim == 0",
            function=function,
            argument="alpha",
            got=alpha,
            expected="a vector of concentrations, or an array of such",
        )
    return (*batch_shape(function, shape, alpha.shape[:-1]), alpha.shape[-1])


@sampler("alpha", shape=_shape_with_vectors)
def dirichlet(
    key: Any, alpha: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw probability vectors from the Dirichlet distribution; they are along the last axis.

    `alpha` has the concentrations along its last axis; its other dimensions broadcast to `shape`
    (default: them). The result has the shape `shape` followed by the length of the vectors. It is
    differentiable in `alpha`.

    >>> random.dirichlet(random.key(0), np.ones(3), (2,)).shape
    (2, 3)
    """
    x = draw_gamma(key, alpha, shape, dtype, "exact", log_space=True)
    last = len(shape) - 1
    most = max(scalar(-np.inf, dtype), reduce_max(x, (last,)))
    x = exp(sub(x, stop_gradient(expand_dims(most, (last,)))))
    return div(x, expand_dims(total(x, last), (last,)))


def _draw_chisquare(key: Any, df: Any, shape: tuple, dtype: Any, method: str) -> Any:
    two = scalar(2, dtype)
    return mul(exp(draw_gamma(key, div(df, two), shape, dtype, method, log_space=True)), two)


@sampler("df", convert=checked_parameter, method=method_of)
def chisquare(
    key: Any,
    df: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the chi-square distribution: sums of the squares of `df` normal variates.

    `df`, not only integers, is a number, or an array that broadcasts to `shape` (default: its
    shape). The result is differentiable in it.

    >>> random.chisquare(random.key(0), 3.0, (2,)).shape
    (2,)
    """
    return _draw_chisquare(key, df, shape, dtype, method)


@sampler("dfnum", "dfden", convert=checked_parameter)
def f(
    key: Any,
    dfnum: Any,
    dfden: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw from the F distribution: ratios of chi-square variates over their degrees of freedom.

    The parameters are numbers, or arrays that broadcast to `shape` (default: their joint
    shape). The result is differentiable in them.

    >>> random.f(random.key(0), 2.0, 3.0, (2,)).shape
    (2,)
    """
    below, above = subkeys(key, 2)
    x = div(_draw_chisquare(above, dfnum, shape, dtype, "exact"), lift(dfnum, len(shape)))
    y = div(_draw_chisquare(below, dfden, shape, dtype, "exact"), lift(dfden, len(shape)))
    return div(x, y)


@sampler("df", convert=checked_parameter)
def t(
    key: Any, df: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from Student's t distribution with `df` degrees of freedom.

    `df` is a number, or an array that broadcasts to `shape` (default: its shape). The result is
    differentiable in it.

    >>> random.t(random.key(0), 3.0, (2,)).shape
    (2,)
    """
    first, second = subkeys(key, 2)
    normal = standard_normal(first, shape, dtype)
    half = div(df, scalar(2, dtype))
    g = draw_gamma(second, half, shape, dtype, "exact", log_space=False)
    return mul(normal, sqrt(div(lift(half, len(shape)), g)))


def _draw_generalized_normal(key: Any, p: Any, shape: tuple, dtype: Any) -> Any:
    first, second = subkeys(key, 2)
    inverse = div(scalar(1, dtype), p)
    g = draw_gamma(first, inverse, shape, dtype, "exact", log_space=False)
    return mul(signs(second, shape, dtype), pow(g, stretch(inverse, shape)))


@sampler("p")
def generalized_normal(
    key: Any, p: Any, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the generalized normal distribution: density in proportion to exp(-|x|**p).

    `p` is a number, or an array that broadcasts to `shape`.

    >>> random.generalized_normal(random.key(0), 1.5, (2,)).shape
    (2,)
    """
    return _draw_generalized_normal(key, p, shape, dtype)


def _scalar_exponent(function: str, argument: str, x: Any, dtype: Any) -> Any:
    x = parameter(function, argument, x, dtype)
    if x.shape:
        raise ArgumentValueError.about(function, argument, x, "a number")
    return x


@sampler("p", convert=_scalar_exponent, d=lambda function, d: size_of(function, "d", d))
def ball(
    key: Any, d: int, p: Any = 2, shape: Any = (), dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw points uniformly from the unit ball of the p-norm in d dimensions; shape (*shape, d).

    >>> random.ball(random.key(0), 3, shape=(2,)).shape
    (2, 3)
    """
    # F. Barthe, O. Guédon, S. Mendelson, A. Naor, "A probabilistic approach to the geometry of
    # the l_p^n ball", Annals of Probability 33 (2005)
    first, second = subkeys(key, 2)
    g = _draw_generalized_normal(first, p, (*shape, d), dtype)
    e = standard_exponential(second, shape, dtype)
    powers = pow(abs(g), stretch(p, (*shape, d)))
    norm = add(total(powers, len(shape)), e)
    length = pow(norm, stretch(div(scalar(1, dtype), p), shape))
    return div(g, expand_dims(length, (len(shape),)))
