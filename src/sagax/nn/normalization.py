"""Normalize along axes: softmax, log-softmax, log-sum-exp, standardization.

Exponentials are taken of differences from the greatest element, so that none overflows. The greatest
element itself differs from itself by nothing, even if it is infinite: so infinite elements have the
limits as results, and derivatives that are finite.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import sagax.numpy as snp
from sagax._src.api.derivatives import jvp
from sagax._src.core import dtypes
from sagax._src.core.trace import axis_size
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.higher_order.custom_derivatives import custom_jvp
from sagax._src.lazy_import import lazy_imports
from sagax._src.primitives.arithmetic import rsqrt
from sagax._src.primitives.casting import bitcast_convert_type
from sagax._src.primitives.identities import optimization_barrier, stop_gradient
from sagax._src.primitives.reductions import reduce_max
from sagax.numpy._arguments import axis_tuple, has_names
from sagax.numpy._base import (
    as_array,
    as_operand,
    broadcast_shapes,
    dtype_of,
    number_like,
    operand_inexact,
    promote_inexact,
    promotes_freely,
    select,
    shape_of,
)
from sagax.numpy._fused import fused, fused_function

if TYPE_CHECKING or lazy_imports():
    from sagax._src.higher_order import while_loop as loops

Axis = int | Sequence[int] | None


# what they share ----------------------------------------------------------------------------------


def _axes(function: str, axis: Any, ndim: int) -> tuple:
    """Normalize `axis`; named axes of vmap, pmap and shard_map stay names."""
    if has_names(axis):
        return (axis,) if isinstance(axis, str) else tuple(axis)
    return axis_tuple(function, axis, ndim)


def _mask(function: str, where: Any) -> tuple:
    """Check the mask, if there is one; return it as operands for a fused function."""
    if where is None:
        return ()
    where = as_array(function, where)
    if where.dtype != np.bool_:
        raise ArgumentError.about(
            function, "where", where, "booleans", fix="compare first, as in where=x > 0"
        )
    return (where,)


def _with_mask(function: str, x: Any, axis: Axis, where: Any) -> tuple:
    """Broadcast an array against its mask: (the array, the mask as operands, the axes)."""
    mask = _mask(function, where)
    if mask:
        x = snp.broadcast_to(x, broadcast_shapes(function, [x.shape, mask[0].shape]))
    return x, mask, _axes(function, axis, x.ndim)


def _masked(x: Any, where: tuple, fill: float) -> Any:
    """Select `x` where the mask, if there is one, is true, else `fill`."""
    return select(where[0], x, number_like(fill, x)) if where else x


def _maximum(x: Any, axes: tuple, empty_value: float = -np.inf) -> Any:
    """Compute the maximum along axes that stay; -inf is replaced by `empty_value`.

    Derivatives do not pass, since they cancel in all that follows.
    """
    if has_names(axes):
        found = snp.max(stop_gradient(x), axis=axes, keepdims=True)
    else:
        found = snp.expand_dims(reduce_max(stop_gradient(x), axes), axes)
    if empty_value == -np.inf:
        return found
    return select(found == -np.inf, number_like(empty_value, found), found)


@custom_jvp
def _less(x: Any, shift: Any) -> Any:
    """Subtract x - shift: 0 where they are equal, infinities too. `shift` has no derivative."""
    return select(x == shift, number_like(0.0, x), x - shift)


@_less.defjvp
def _less_jvp(primals: tuple, tangents: tuple) -> tuple:
    return _less(*primals), tangents[0]


# softmax ------------------------------------------------------------------------------------------


def _exponentials(x: Any, where: tuple, axes: tuple) -> tuple:
    """Compute differences from the maximum, their exponentials, and sums of these."""
    x = _masked(x, where, -np.inf)
    # Nothing may lie between the maximum and the exponentials: XLA compiles them as one kernel then.
    differences = x - _maximum(x, axes)
    exponentials = snp.exp(differences)
    if where:
        exponentials = _masked(exponentials, where, 0.0)
    total = snp.sum(exponentials, axis=axes, keepdims=True)
    if where:  # an empty mask must not divide by zero: derivatives would be NaN
        counts = snp.broadcast_to(where[0], x.shape)
        some = snp.max if has_names(axes) else snp.any  # the maximum has a form over names
        none = snp.logical_not(some(counts, axis=axes, keepdims=True))
        total = select(none, number_like(1.0, total), total)
    return differences, exponentials, total


@fused
def _softmax(x: Any, *where: Any, axes: tuple) -> Any:
    return _shares(x, where, axes)


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def _shares(x: Any, where: tuple, axes: tuple) -> Any:
    _, exponentials, total = _exponentials(x, where, axes)
    return exponentials / total


# By the chain rule the exponentials would be kept beside their shares.
@_shares.defjvp
def _shares_jvp(axes: tuple, primals: tuple, tangents: tuple) -> tuple:
    shares = _shares(*primals, axes)
    terms = shares * tangents[0]
    return shares, terms - shares * snp.sum(terms, axis=axes, keepdims=True)


@fused
def _log_softmax(x: Any, *where: Any, axes: tuple) -> Any:
    differences, _, total = _exponentials(x, where, axes)
    return _masked(differences - snp.log(total), where, -np.inf)


def softmax(x: Any, axis: Axis = -1, where: Any = None) -> Array:
    """Compute exp(x) / sum(exp(x)), summed along `axis` (one, several, or None: all).

    `where` chooses the elements that take part (booleans that broadcast against `x`); others become 0. The result is NaN where an element is +inf, or all are -inf.

    >>> nn.softmax(snp.array([1000.0, 1000.0, -1000.0]))
    Array([0.5, 0.5, 0. ], dtype=float32)
    """
    x = as_array("softmax", operand_inexact("softmax", x))
    x, mask, axes = _with_mask("softmax", x, axis, where)
    return _softmax(x, *mask, axes=axes)


@fused_function(1)
def log_softmax(x: Any, axis: Axis = -1, where: Any = None) -> Array:
    """Compute the logarithm of `softmax`, exact also where that is near 0 or 1.

    `where` chooses the elements that take part (booleans that broadcast against `x`); others become -inf.

    >>> nn.log_softmax(snp.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    x = as_array("log_softmax", operand_inexact("log_softmax", x))
    x, mask, axes = _with_mask("log_softmax", x, axis, where)
    return _log_softmax(x, *mask, axes=axes)


# log-sum-exp --------------------------------------------------------------------------------------


# Values alone need no care at each element: with a finite shift an infinite element gives an infinite sum. Derivatives
# do: they are quotients of the terms by their sum.
@functools.partial(custom_jvp, nondiff_argnums=(2, 3))
def _log_of_sum(x: Any, where: tuple, axes: tuple, keepdims: bool) -> Any:
    """Compute the logarithm of the sum of exponentials of real numbers, masked ones being -inf."""
    greatest = _maximum(x, axes)
    finite = select(snp.isfinite(greatest), greatest, number_like(0.0, greatest))
    total = snp.sum(snp.exp(x - finite), axis=axes, keepdims=keepdims)
    return snp.log(total) + (finite if keepdims else snp.squeeze(finite, axis=axes))


@_log_of_sum.defjvp
def _log_of_sum_jvp(axes: tuple, keepdims: bool, primals: tuple, tangents: tuple) -> tuple:
    def careful(x: Any) -> Any:
        # where all are -inf, the sum depends on each of them alike
        shift = _maximum(x, axes)
        terms = _masked(snp.exp(_less(x, shift)), where, 0.0)
        # With `abs` XLA lets a loop write the terms, which their slopes then read and replace. Without, the slopes
        # are computed together with the sums, from differences that are kept beside them.
        total = abs(snp.sum(terms, axis=axes, keepdims=keepdims))
        return snp.log(total) + (shift if keepdims else snp.squeeze(shift, axis=axes))

    (x, where), (tangent, _) = primals, tangents
    return jvp(careful, (x,), (tangent,))


@promotes_freely
@fused
def _logsumexp(
    x: Any, *others: Any, axes: tuple, keepdims: bool, weighted: bool, return_sign: bool
) -> Any:
    """The function of `x`, of weights if it is `weighted`, and of a mask if there is one more array."""
    weights = others[0] if weighted else None
    where = others[1:] if weighted else others
    if weighted:
        shape = broadcast_shapes("logsumexp", [x.shape, shape_of(weights)])
        x = snp.broadcast_to(x, shape)
        # an element without weight does not count, however great
        x = select(weights == 0, number_like(-np.inf, x), x)
    x = _masked(x, where, -np.inf)
    if dtypes.is_complex(dtype_of(x)):
        shift = _maximum(snp.real(x), axes, empty_value=0.0)
        shift = select(shift == np.inf, number_like(0.0, shift), shift)
        terms = snp.exp(x - shift)
    elif not weighted and not return_sign and not has_names(axes):
        return _log_of_sum(x, where, axes, keepdims)
    else:
        # where all are -inf, the sum depends on each of them alike, but there is no sum of weights
        shift = _maximum(x, axes, empty_value=0.0 if weighted else -np.inf)
        terms = snp.exp(_less(x, shift))
    if weighted:
        terms = terms * weights
    total = snp.sum(_masked(terms, where, 0.0), axis=axes, keepdims=keepdims)
    if not keepdims:
        shift = snp.squeeze(shift, axis=tuple([a for a in axes if not isinstance(a, str)]))
    if return_sign:
        return snp.log(abs(total)) + shift, snp.sign(total)
    if not dtypes.is_complex(dtype_of(x)) and weighted:
        # a sum below zero has no logarithm
        return select(total < 0, number_like(np.nan, total), snp.log(abs(total)) + shift)
    return snp.log(total) + shift


def logsumexp(
    a: Any,
    axis: Axis = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """Compute log(sum(b exp(a))) along `axis` (one, several, or None: all), without overflow.

    Args:
      a: an array; integers become floating point.
      axis: the axes to sum along.
      b: weights, which broadcast against `a`; 1 if absent.
      keepdims: whether the axes stay, with size 1.
      return_sign: to return the logarithm of the absolute sum and, as a second array, its sign.
        Otherwise the logarithm of a negative sum is NaN.
      where: booleans that broadcast against `a`; only elements where they are true count.

    >>> nn.logsumexp(snp.array([1000.0, 1000.0]))
    Array(1000.6932, dtype=float32)
    """
    name = "logsumexp"
    if b is None:
        (a,) = promote_inexact(name, as_operand(name, a))
        arrays = [as_array(name, a)]
    else:
        a, b = promote_inexact(name, as_operand(name, a), as_operand(name, b, 1))
        arrays = [as_array(name, a), as_array(name, b)]
    arrays[0], mask, _ = _with_mask(name, arrays[0], None, where)
    shape = broadcast_shapes(name, [x.shape for x in arrays])
    axes = _axes(name, axis, len(shape))
    return _logsumexp(
        *arrays,
        *mask,
        axes=axes,
        keepdims=bool(keepdims),
        weighted=b is not None,
        return_sign=bool(return_sign),
    )


@fused_function(1)
def logmeanexp(x: Any, axis: Axis = None, where: Any = None, keepdims: bool = False) -> Array:
    """Compute log(mean(exp(x))) along `axis` (one, several, or None: all), without overflow.

    Only elements where `where` is true count (booleans that broadcast against `x`).

    >>> nn.logmeanexp(snp.array([1000.0, 1000.0]))
    Array(1000., dtype=float32)
    """
    x = as_array("logmeanexp", operand_inexact("logmeanexp", x))
    x, _, axes = _with_mask("logmeanexp", x, axis, where)
    out = logsumexp(x, axes, keepdims=keepdims, where=where)
    if where is None:
        count: Any = 1
        for i in axes:
            count = count * (axis_size(i) if isinstance(i, str) else x.shape[i])
        return out - snp.log(snp.asarray(count, dtype_of(out)))
    chosen = snp.broadcast_to(where, x.shape)
    count = snp.sum(chosen, axis=axes, keepdims=keepdims, dtype=dtype_of(out))
    return out - snp.log(count)


# standardization ----------------------------------------------------------------------------------


@fused_function(1, floats="operands")
def standardize(
    x: Any,
    axis: Axis = -1,
    mean: Any = None,
    variance: Any = None,
    epsilon: Any = 1e-5,
    where: Any = None,
    *,
    algorithm: str = "fast",
) -> Array:
    """Compute (x - mean) / sqrt(variance + epsilon), with mean and variance along `axis`.

    Args:
      x: an array; integers become floating point.
      axis: one axis, several, or None: all.
      mean: to subtract, if not that of `x`; it broadcasts against `x`, as the variance does.
      variance: to divide by, if not that of `x` (around `mean`).
      epsilon: keeps the result finite where elements are equal.
      where: booleans that broadcast to the shape of `x`; only elements where they are true count in
        mean and variance.
      algorithm: "fast" computes the variance from the mean of squares, in one pass; "stable" from the
        squares of differences, which keeps digits where the mean is great.

    Raises ValueError for another algorithm.

    >>> nn.standardize(snp.array([1.0, 3.0]), epsilon=0.0)
    Array([-1.,  1.], dtype=float32)
    """
    name = "standardize"
    if algorithm not in ("fast", "stable"):
        raise ArgumentValueError(
            f"Unknown algorithm {algorithm!r}. Expected 'fast' or 'stable'.",
            function=name,
            argument="algorithm",
        )
    x = as_array(name, operand_inexact(name, x))
    axes = _axes(name, axis, x.ndim)
    mask = _mask(name, where)
    if mask and broadcast_shapes(name, [x.shape, mask[0].shape]) != x.shape:
        raise ArgumentValueError.about(
            name, "where", where, f"a mask that broadcasts to the shape of the array, {x.shape}"
        )
    given = [as_operand(name, v) for v in (mean, variance) if v is not None]
    return _standardize(
        x,
        epsilon,
        *given,
        *mask,
        axes=axes,
        fast=algorithm == "fast",
        with_mean=mean is not None,
        with_variance=variance is not None,
    )


@fused
def _standardize(
    x: Any,
    epsilon: Any,
    *others: Any,
    axes: tuple,
    fast: bool,
    with_mean: bool,
    with_variance: bool,
) -> Any:
    rest = list(others)
    mean = rest.pop(0) if with_mean else None
    variance = rest.pop(0) if with_variance else None
    where = tuple(rest)
    average = _average_of(where, axes)
    if (
        mean is None
        and variance is None
        and not has_names(axes)
        and not dtypes.is_complex(dtype_of(x))
    ):
        mean, variance, scale = _moments(x, where, axes, fast)
        x, epsilon = x * scale, epsilon * (scale * scale)
        return (x - mean) * rsqrt(variance + epsilon)
    if variance is None:
        # the result does not depend on the scale, with which squares do not overflow
        scale = _scale(x, where, axes, mean)
        x, epsilon = x * scale, epsilon * (scale * scale)
        mean = None if mean is None else mean * scale
    if mean is None:
        mean = average(x)
    if variance is None:
        variance = _variance(x, mean, average, fast)
    return (x - mean) * rsqrt(variance + epsilon)


def _average_of(where: tuple, axes: tuple) -> Callable[[Any], Any]:
    return functools.partial(snp.mean, axis=axes, keepdims=True, where=where[0] if where else None)


def _variance(x: Any, mean: Any, average: Callable[[Any], Any], fast: bool) -> Any:
    if fast:
        return snp.maximum(0, average(snp.square(x)) - snp.square(mean))
    return average(snp.square(x - mean))


@functools.partial(custom_jvp, nondiff_argnums=(2, 3))
def _moments(x: Any, where: tuple, axes: tuple, fast: bool) -> tuple:
    """Return mean and variance along axes, and what `x` was scaled by for them so that squares do not overflow.

    That happens so rarely that squares are taken first, and again if there are infinite or NaN ones. It is a loop, not a
    branch, since `vmap` keeps loops that run for no example from running.
    """
    average = _average_of(where, axes)

    def of(x: Any) -> tuple:
        mean = average(x)
        return mean, _variance(x, mean, average, fast)

    def of_scaled(state: tuple) -> tuple:
        # XLA would take what does not depend on the state out of the loop, and so compute it always
        elements, _ = optimization_barrier((x, state))
        scale = _scale(elements, where, axes)
        return np.False_, *of(elements * scale), scale

    mean, variance = of(x)
    overflows = snp.any(~(variance < np.inf))
    state = (overflows, mean, variance, snp.ones_like(mean))
    return loops.while_loop(lambda state: state[0], of_scaled, state)[1:]


@_moments.defjvp
def _moments_jvp(axes: tuple, fast: bool, primals: tuple, tangents: tuple) -> tuple:
    x, where = primals
    mean, variance, scale = _moments(x, where, axes, fast)
    average = _average_of(where, axes)
    scale = stop_gradient(scale)
    x, change = x * scale, tangents[0] * scale
    moved = average(change)
    # as the variance is computed, so that errors of both cancel
    spread = average(x * change) - mean * moved if fast else average((x - mean) * (change - moved))
    spread = spread + spread
    return (mean, variance, scale), (moved, spread, snp.zeros_like(scale))


def _scale(x: Any, where: tuple, axes: tuple, mean: Any = None) -> Any:
    """Return a scale with which squares of elements do not overflow: 1 if they do not without."""
    info = dtypes.finfo(dtype_of(x))
    counted = _masked(x, where, 0.0)
    size = snp.max(abs(stop_gradient(counted)), axis=axes, keepdims=True, initial=0.0)
    if mean is not None:
        size = snp.maximum(size, abs(stop_gradient(mean)))
    small = snp.maximum(1 / size, float(info.tiny))
    overflows = (size > float(info.max) ** 0.5 / 64) & (size < np.inf)
    return snp.where(overflows, small, 1)
