"""Draw from discrete distributions: geometric, Poisson, binomial, multinomial."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from sagax._src import config
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.scan import scan
from sagax._src.higher_order.while_loop import while_loop
from sagax._src.primitives.arithmetic import abs, add, div, max, min, mul, neg, sqrt, square, sub
from sagax._src.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from sagax._src.primitives.comparison import eq, ge, gt, le, lt, ne
from sagax._src.primitives.cumulative import cumsum
from sagax._src.primitives.random_bits import random_clone_p, random_split
from sagax._src.primitives.reductions import reduce_or
from sagax._src.primitives.rounding import ceil, floor
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.special.erf import erf, erfc
from sagax._src.primitives.special.gamma import lgamma
from sagax._src.primitives.structural import convert, moveaxis
from sagax._src.primitives.transcendental import exp, log, log1p
from sagax.random._arguments import (
    batch_shape,
    default_float_of,
    integer_dtype,
    joint_shape,
    lift,
    method_of,
    operand_aval,
    parameter,
    scalar,
    stretch,
)
from sagax.random._basic import standard_normal, subkeys, unit
from sagax.random._sampler import sampler
from sagax.random._selection import take

_thread = config.thread
_F32 = np.dtype(np.float32)
_I32 = np.dtype(np.int32)


def _any(x: Any) -> Any:
    return reduce_or(x, tuple(range(aval_of(x).ndim)))


def _below_limit(count: Any, limit: Any) -> Any:
    """Return whether a loop has run fewer iterations than the greatest number of a dtype."""
    dtype = aval_of(limit).dtype
    return lt(convert(count, dtype), limit)


# geometric ------------------------------------------------------------------------------------------


def _probability(function: str, argument: str, x: Any, _: Any) -> Any:
    """A parameter as an array of its own float dtype, whatever the dtype of the result is."""
    operand_aval(function, argument, x)
    return parameter(function, argument, x, default_float_of(function, x))


@sampler("p", convert=_probability, dtype=integer_dtype)
def geometric(
    key: Any, p: Any, shape: Any = None, dtype: Any = None, *, out_sharding: Any = None
) -> Array:
    """Draw from the geometric distribution: trials up to the first success, of probability `p`.

    `p` is a number, or an array that broadcasts to `shape` (default: its shape); `dtype` is an
    integer dtype.

    >>> random.geometric(random.key(0), 0.5, (2,)).shape
    (2,)
    """
    weights = aval_of(p).dtype
    one = scalar(1, weights)
    u = unit(key, shape, weights)
    u = select_n(eq(u, scalar(0, weights)), u, stretch(one, shape))
    failures = floor(div(log(u), stretch(log1p(neg(p)), shape)))
    return convert(add(failures, one), dtype)


# Poisson --------------------------------------------------------------------------------------------


def _poisson_by_products(key: Any, lam: Any, dtype: Any) -> Any:
    """Count uniform factors until their product falls below exp(-lam).

    D. Knuth, The Art of Computer Programming, volume 2, section 3.4.1.
    """
    shape = aval_of(lam).shape
    most = scalar(dtypes.iinfo(dtype).max, dtype)
    bound = neg(lam)

    def more(state: tuple) -> Any:
        iterations, _, _, log_product = state
        return bitwise_and(_any(gt(log_product, bound)), _below_limit(iterations, most))

    def body(state: tuple) -> tuple:
        iterations, count, key, log_product = state
        key, part = subkeys(key, 2)
        count = select_n(gt(log_product, bound), count, add(count, scalar(1, dtype)))
        log_product = add(log_product, log(unit(part, shape, aval_of(lam).dtype)))
        return add(iterations, scalar(1, aval_of(iterations).dtype)), count, key, log_product

    zero = stretch(scalar(0, aval_of(lam).dtype), shape)
    start = (_zero_iterations(), stretch(scalar(0, dtype), shape), key, zero)
    return sub(while_loop(more, body, start)[1], scalar(1, dtype))


def _zero_iterations() -> Any:
    return scalar(0, dtypes.default_int(_thread.settings.x64))


def _poisson_by_rejection(key: Any, lam: Any, dtype: Any) -> Any:
    """W. Hörmann, "The transformed rejection method for generating Poisson random variables",
    Insurance: Mathematics and Economics 12 (1993), algorithm PTRS; for lam >= 10."""
    shape, real = aval_of(lam).shape, aval_of(lam).dtype
    c = _constants(real)
    most = scalar(dtypes.iinfo(dtype).max, dtype)
    log_lam = log(lam)
    b = add(mul(c(2.53), sqrt(lam)), c(0.931))
    a = add(mul(c(0.02483), b), c(-0.059))
    inverse_alpha = add(div(c(1.1328), sub(b, c(3.4))), c(1.1239))
    v_r = sub(c(0.9277), div(c(3.6224), sub(b, c(2))))

    def more(state: tuple) -> Any:
        iterations, _, accepted, _ = state
        return bitwise_and(_any(bitwise_not(accepted)), _below_limit(iterations, most))

    def body(state: tuple) -> tuple:
        iterations, found, accepted, key = state
        key, first, second = subkeys(key, 3)
        u = sub(unit(first, shape, real), c(0.5))
        v = unit(second, shape, real)
        us = sub(c(0.5), abs(u))
        k = floor(add(add(mul(add(div(mul(c(2), a), us), b), u), lam), c(0.43)))
        s = log(div(mul(v, inverse_alpha), add(div(a, mul(us, us)), b)))
        t = sub(add(neg(lam), mul(k, log_lam)), lgamma(add(k, c(1))))
        squeeze = bitwise_and(ge(us, c(0.07)), le(v, v_r))
        reject = bitwise_or(lt(k, c(0)), bitwise_and(lt(us, c(0.013)), gt(v, us)))
        accept = bitwise_or(squeeze, bitwise_and(bitwise_not(reject), le(s, t)))
        # a later accepted value replaces an earlier one: the loop ends for all elements together
        found = select_n(accept, found, k)
        one = scalar(1, aval_of(iterations).dtype)
        return add(iterations, one), found, bitwise_or(accepted, accept), key

    start = (_zero_iterations(), stretch(c(-1), shape), stretch(np.bool_(False), shape), key)
    return convert(while_loop(more, body, start)[1], dtype)


def _constants(dtype: Any) -> Callable[[float], Any]:
    """Python numbers as scalars of a dtype."""
    return lambda value: scalar(value, dtype)


def _draw_poisson(key: Any, lam: Any, dtype: Any) -> Any:
    c = _constants(aval_of(lam).dtype)
    shape = aval_of(lam).shape
    small = bitwise_or(ne(lam, lam), lt(lam, c(10)))
    few = _poisson_by_products(key, select_n(small, stretch(c(0), shape), lam), dtype)
    key = random_clone_p.bind(key)  # only one of the two variates drawn with it is used
    many = _poisson_by_rejection(key, select_n(small, lam, stretch(c(1e5), shape)), dtype)
    found = select_n(small, many, few)
    return select_n(eq(lam, c(0)), found, stretch(scalar(0, dtype), shape))


def _probability_below(z: Any) -> Any:
    """The distribution function of the normal distribution, without loss in either tail."""
    c = _constants(aval_of(z).dtype)
    root = c(math.sqrt(0.5))
    x = mul(z, root)
    size = abs(x)
    tail = erfc(size)
    outside = select_n(gt(x, c(0)), tail, sub(c(2), tail))
    return mul(c(0.5), select_n(lt(size, root), outside, add(c(1), erf(x))))


def _peizer_pratt(k: Any, lam: Any) -> Any:
    """The normal quantile of the probability of at most `k` events, approximately.

    D. Peizer, J. Pratt, "A normal approximation for binomial, F, beta, and other common, related tail
    probabilities", JASA 63 (1968).
    """
    c = _constants(aval_of(k).dtype)
    below = lt(k, c(0))
    k = max(k, c(0))
    ratio = div(add(k, c(0.5)), lam)
    away = sub(ratio, c(1))
    near = lt(abs(away), c(0.25))
    series = stretch(c(0), aval_of(away).shape)
    for n in range(9, 0, -1):  # near 1 the quotient below loses its digits
        series = mul(away, add(series, c((-1) ** n * 2 / ((n + 1) * (n + 2)))))
    safe_ratio = select_n(near, ratio, stretch(c(2), aval_of(ratio).shape))
    safe_away = select_n(near, away, stretch(c(1), aval_of(away).shape))
    top = add(sub(c(1), square(safe_ratio)), mul(mul(c(2), safe_ratio), log(safe_ratio)))
    g = select_n(near, div(top, square(safe_away)), series)
    distance = add(add(sub(k, lam), c(2 / 3)), div(c(0.02), add(k, c(1))))
    z = mul(distance, sqrt(div(add(c(1), g), lam)))
    return select_n(below, z, stretch(c(-np.inf), aval_of(z).shape))


def _poisson_approximately(key: Any, lam: Any, shape: tuple, dtype: Any) -> Any:
    """Poisson variates from normal ones, without a loop.

    Below 7 by the distribution function, summed; from there on by the expansion of its inverse (E.
    Cornish, R. Fisher, 1938), corrected by at most two with a closer approximation.
    """
    real = aval_of(lam).dtype
    c = _constants(real)
    lam = lift(lam, len(shape))
    z = standard_normal(key, shape, real)
    u = _probability_below(z)
    term = exp(neg(lam))
    total, few = term, convert(lt(term, u), real)
    for n in range(1, 19):
        term = mul(term, div(lam, c(n)))
        total = add(total, term)
        few = add(few, convert(lt(total, u), real))
    root = sqrt(lam)
    guess = add(sub(add(lam, mul(root, z)), c(2 / 3)), div(square(z), c(6)))
    guess = add(guess, div(mul(z, sub(c(1), square(z))), mul(c(72), root)))
    k = ceil(add(guess, c(0.6)))
    many = add(k, c(1))
    for candidate in (k, sub(k, c(1))):
        many = sub(many, convert(ge(_peizer_pratt(candidate, lam), z), real))
    found = select_n(stretch(lt(lam, c(7)), shape), max(many, c(0)), few)
    return convert(found, dtype)


def _rate(function: str, argument: str, x: Any, _: Any) -> Any:
    return parameter(function, argument, x, _F32)


@sampler("lam", convert=_rate, dtype=integer_dtype, method=method_of)
def poisson(
    key: Any,
    lam: Any,
    shape: Any = None,
    dtype: Any = None,
    *,
    method: str = "exact",
    out_sharding: Any = None,
) -> Array:
    """Draw from the Poisson distribution with mean `lam`.

    `lam` is a number, or an array that broadcasts to `shape` (default: its shape); `dtype` is an
    integer dtype, to whose range results are clipped. `method="approximate"` needs no loop, and is
    a little off.

    >>> random.poisson(random.key(0), 4.0, (2,)).shape
    (2,)
    """
    if method == "approximate":
        return _poisson_approximately(key, lam, shape, dtype)
    return _draw_poisson(key, stretch(lam, shape), dtype)


# binomial -------------------------------------------------------------------------------------------


def _binomial_by_waiting(key: Any, count: Any, p: Any, most: Any) -> Any:
    """Count the geometric waiting times that fit into `count` trials, for small count * p."""
    shape, real = aval_of(count).shape, aval_of(count).dtype
    one = scalar(1, real)
    log_failure = log1p(neg(p))

    def more(state: tuple) -> Any:
        iterations, _, waited, _ = state
        return bitwise_and(_any(le(waited, count)), _below_limit(iterations, most))

    def body(state: tuple) -> tuple:
        iterations, successes, waited, key = state
        part, key = subkeys(key, 2)
        successes = select_n(le(waited, count), successes, add(successes, one))
        waited = add(waited, ceil(div(log(unit(part, shape, real)), log_failure)))
        return add(iterations, scalar(1, aval_of(iterations).dtype)), successes, waited, key

    zero = stretch(scalar(0, real), shape)
    return sub(while_loop(more, body, (_zero_iterations(), zero, zero, key))[1], one)


# The remainder of Stirling's formula for log k!, for k from 0 to 9.
_STIRLING_REMAINDER = np.array(
    [
        math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi))
        for k in range(10)
    ]
)


def _stirling_remainder(k: Any) -> Any:
    dtype = aval_of(k).dtype
    c = _constants(dtype)
    small = min(max(c(0), k), c(9))
    n = add(small, c(1))
    n2 = mul(n, n)
    series = div(sub(c(1 / 12), div(sub(c(1 / 360), div(c(1 / 1260), n2)), n2)), n)
    table = take(_STIRLING_REMAINDER.astype(dtype), convert(floor(small), _I32), 0)
    return select_n(le(k, c(9)), series, table)


def _binomial_by_rejection(key: Any, count: Any, p: Any, most: Any) -> Any:
    """W. Hörmann, "The generation of binomial random variates", Journal of Statistical Computation and
    Simulation 46 (1993), algorithm BTRS; for count * p >= 10 and p <= 1/2."""
    shape, real = aval_of(count).shape, aval_of(count).dtype
    c = _constants(real)
    one = c(1)
    deviation = sqrt(mul(mul(count, p), sub(one, p)))
    b = add(mul(c(2.53), deviation), c(1.15))
    a = add(add(mul(c(0.0248), b), c(-0.0873)), mul(c(0.01), p))
    middle = add(mul(count, p), c(0.5))
    v_r = sub(c(0.92), div(c(4.2), b))
    odds = div(p, sub(one, p))
    alpha = mul(add(div(c(5.1), b), c(2.83)), deviation)
    mode = floor(mul(add(count, one), p))

    def more(state: tuple) -> Any:
        iterations, _, accepted, _ = state
        return bitwise_and(_any(bitwise_not(accepted)), _below_limit(iterations, most))

    def body(state: tuple) -> tuple:
        iterations, found, accepted, key = state
        key, first, second = subkeys(key, 3)
        u = sub(unit(first, shape, real), c(0.5))
        v = unit(second, shape, real)
        us = sub(c(0.5), abs(u))
        squeeze = bitwise_and(ge(us, c(0.07)), le(v, v_r))
        k = floor(add(mul(add(div(mul(c(2), a), us), b), u), middle))
        reject = bitwise_or(lt(k, c(0)), gt(k, count))
        v = log(div(mul(v, alpha), add(div(a, mul(us, us)), b)))
        above_mode, above_k = add(sub(count, mode), one), add(sub(count, k), one)
        limit = mul(add(mode, c(0.5)), log(div(add(mode, one), mul(odds, above_mode))))
        limit = add(limit, mul(add(count, one), log(div(above_mode, above_k))))
        limit = add(limit, mul(add(k, c(0.5)), log(div(mul(odds, above_k), add(k, one)))))
        limit = add(limit, _stirling_remainder(mode))
        limit = add(limit, _stirling_remainder(sub(count, mode)))
        limit = sub(limit, _stirling_remainder(k))
        limit = sub(limit, _stirling_remainder(sub(count, k)))
        accept = bitwise_or(squeeze, bitwise_and(bitwise_not(reject), le(v, limit)))
        # a later accepted value replaces an earlier one: the loop ends for all elements together
        found = select_n(accept, found, k)
        counted = add(iterations, scalar(1, aval_of(iterations).dtype))
        return counted, found, bitwise_or(accepted, accept), key

    start = (_zero_iterations(), stretch(c(-1), shape), stretch(np.bool_(False), shape), key)
    return while_loop(more, body, start)[1]


def draw_binomial(key: Any, n: Any, p: Any, dtype: Any) -> Any:
    """Draw binomial variates, in a traced function; `n` and `p` have the shape of the result."""
    shape, real = aval_of(n).shape, aval_of(n).dtype
    c = _constants(real)
    most = scalar(ml_dtypes.finfo(dtype).max, dtype)
    likely = lt(p, c(0.5))
    q = select_n(likely, sub(c(1), p), p)  # of successes or failures, the rarer ones
    no_count = bitwise_or(ne(n, n), lt(n, c(0)))
    endless = eq(abs(n), c(np.inf))
    q_nan, q_negative = ne(q, q), lt(q, c(0))
    q = select_n(bitwise_or(q_nan, q_negative), q, stretch(c(0.01), shape))
    few = bitwise_or(no_count, le(mul(n, q), c(10)))
    trials = floor(n)
    by_waiting = _binomial_by_waiting(key, select_n(few, stretch(c(0), shape), trials), q, most)
    by_rejection = _binomial_by_rejection(
        random_clone_p.bind(key),  # only one of the two variates drawn with the key is used
        select_n(few, trials, stretch(c(1e4), shape)),
        select_n(few, q, stretch(c(0.5), shape)),
        most,
    )
    found = select_n(few, convert(by_rejection, dtype), convert(by_waiting, dtype))
    invalid = bitwise_or(bitwise_or(q_negative, q_nan), no_count)
    found = select_n(invalid, found, stretch(scalar(np.nan, dtype), shape))
    endless_valid = bitwise_and(endless, bitwise_not(invalid))
    found = select_n(endless_valid, found, stretch(scalar(np.inf, dtype), shape))
    unflipped = bitwise_or(bitwise_or(bitwise_or(likely, no_count), q_nan), endless)
    return select_n(unflipped, sub(convert(trials, dtype), found), found)


def _default_float(function: str, argument: str, x: Any, _: Any) -> Any:
    if argument == "p" and not isinstance(x, (int, float)):
        return _probability(function, argument, x, None)  # which is computed with in its own dtype
    x = float(x) if type(x) is int else x
    return parameter(function, argument, x, dtypes.default_float(_thread.settings.x64))


@sampler("n", "p", convert=_default_float)
def binomial(key: Any, n: Any, p: Any, shape: Any = None, dtype: Any = None) -> Array:
    """Draw from the binomial distribution: successes in `n` trials of probability `p`.

    The parameters are numbers, or arrays that broadcast to `shape` (default: their joint
    shape). The result has a float dtype. It is NaN where `p` is no probability or `n` negative.

    >>> random.binomial(random.key(0), 10, 0.5, (2,)).shape
    (2,)
    """
    n = convert(n, aval_of(p).dtype)
    return draw_binomial(key, stretch(n, shape), stretch(p, shape), dtype)


# multinomial ----------------------------------------------------------------------------------------


def _any_dtype(function: str, dtype: Any) -> Any:
    found = dtypes.requested_dtype(float if dtype is None else dtype, function)
    return dtypes.canonicalize(found, _thread.settings.x64)


def _shape_without_categories(function: str, shape: Any, n: Any, p: Any) -> tuple:
    if not p.shape:
        raise ArgumentValueError(
            function=function,
            argument="p",
            got=p,
            expected="an array with the probabilities of the categories along its last axis",
        )
    return batch_shape(function, shape, joint_shape(function, [n.shape, p.shape[:-1]]))


@sampler(
    "n",
    "p",
    convert=_default_float,
    dtype=_any_dtype,
    shape=_shape_without_categories,
    unroll=lambda _, unroll: unroll,
)
def multinomial(
    key: Any, n: Any, p: Any, *, shape: Any = None, dtype: Any = None, unroll: int = 1
) -> Array:
    """Draw counts of categories in `n` trials; their probabilities are along the last axis of `p`.

    `n` and the other dimensions of `p` broadcast to `shape` (default: their joint shape).
    The result has that shape, followed by the number of categories. `unroll` is that of `lax.scan`
    over the categories.

    >>> float(random.multinomial(random.key(0), 10, np.array([0.2, 0.3, 0.5])).sum())
    10.0
    """
    # One category after another, each with its probability among those that are left.
    real = aval_of(p).dtype
    n = convert(n, real)
    c = _constants(real)
    k = aval_of(p).shape[-1]
    p = moveaxis(stretch(p, (*shape, k)), len(shape), 0)
    left = cumsum(p, 0, True)
    left = select_n(eq(left, c(0)), left, stretch(c(1), aval_of(left).shape))
    conditional = div(p, left)

    def category(remaining: Any, x: tuple) -> tuple:
        ratio, part = x
        ratio = min(max(c(0), ratio), c(1))
        count = draw_binomial(part, remaining, ratio, real)
        return sub(remaining, count), count

    keys = random_split(key, (k,))
    _, counts = scan(category, stretch(n, shape), (conditional, keys), unroll=unroll)
    return convert(moveaxis(counts, 0, len(shape)), dtype)
