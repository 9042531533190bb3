"""Compute weighted averages, quantiles, covariances and correlations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src import config
from sagax._src.core import dims, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, SagaxError
from sagax._src.primitives import structural
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.rounding import ceil, floor
from sagax._src.primitives.shaping import size_as_value
from sagax._src.primitives.slicing import slice_in_dim
from sagax._src.primitives.sorting import sort_p
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import (
    UnsupportedArgumentError,
    axes_in_order,
    axis_tuple,
    check_choice,
    renamed,
    with_aval,
)
from sagax.numpy._base import promotes_freely
from sagax.numpy._contraction import diagonal, dot
from sagax.numpy._cumulative import cumsum
from sagax.numpy._elementary import conj, imag, real, sqrt
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._indexing import getitem, take_along_axis
from sagax.numpy._joining import concatenate
from sagax.numpy._reductions import Axis, mean, mean_dtypes
from sagax.numpy._reductions import all as all_along
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._selection import clip, where
from sagax.numpy._shaping import broadcast_to, expand_dims, moveaxis, reshape, squeeze, transpose

_thread = config.thread


# average ------------------------------------------------------------------------------------------


@fused_function(1)
def average(
    a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """Compute the mean of `a` along `axis` (one, several, or None: all), weighted by `weights`.

    `weights` has the shape of `a`, or of its axes `axis` in that order. With `returned` the result is
    a pair: the average, and the sum of the weights.

    >>> float(snp.average(snp.array([1.0, 2.0]), weights=snp.array([3, 1])))
    1.25
    """
    a, aval = with_aval("average", a)
    axes = tuple(range(aval.ndim)) if axis is None else axes_in_order("average", axis, aval.ndim)
    if weights is None:
        found = mean(a, axes, keepdims=keepdims)
        count = size_as_value(dims.size([aval.shape[d] for d in axes]))
        total = structural.full_of(found.aval, 0) + count if returned else None
        return (found, total) if returned else found
    weights, w_aval = with_aval("average", weights, 2)
    a, weights = _base.promote_inexact("average", a, weights)
    if not dims.same_shape(w_aval.shape, aval.shape):
        if axis is None:
            raise ArgumentValueError(
                "Axis must be specified when shapes of a and weights differ.",
                function="average",
                got=f"shapes {aval.shape} and {w_aval.shape}",
            )
        if not dims.same_shape(w_aval.shape, tuple([aval.shape[d] for d in axes])):
            raise ArgumentValueError(
                "Shape of weights must be consistent with shape of a along specified axis.",
                function="average",
                got=f"shapes {aval.shape} and {w_aval.shape}, axis={axis}",
            )
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        weights = transpose(weights, order)
        weights = structural.reshape(
            weights, tuple([d if i in axes else 1 for i, d in enumerate(aval.shape)])
        )
    total = sum_along(weights, axes, keepdims=keepdims)
    found = sum_along(a * weights, axes, keepdims=keepdims) / total
    return (found, broadcast_to(total, found.shape)) if returned else found


# quantiles ----------------------------------------------------------------------------------------

# The position of the quantile q among n sorted elements is  n*q + m - 1  (counted from 0), where
# m = alpha + q*(1 - alpha - beta): R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
# packages", The American Statistician 50 (1996). Between two elements one interpolates.
_ALPHA_BETA = {
    "linear": (1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
# how methods that do not interpolate choose, from the position, the one before and after it
_CHOICES = ("lower", "higher", "nearest", "midpoint")
_STEPS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation")
_METHODS = (*_ALPHA_BETA, *_CHOICES, *_STEPS)


@fused_function(1, floats="static")
@promotes_freely
def quantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute the quantiles `q` (from 0 to 1) of `a` along `axis` (one, several, or None: all).

    The result is floating point; for a vector `q` its first dimension goes along with `q`. NaN among
    the elements gives NaN.

    Args:
      method: what to do between two elements, one of NumPy's: 'linear', 'lower', 'higher',
        'nearest', 'midpoint', 'inverted_cdf', 'averaged_inverted_cdf', 'closest_observation',
        'interpolated_inverted_cdf', 'hazen', 'weibull', 'median_unbiased', 'normal_unbiased'.
      weights: of the elements, in the shape of `a` or of its one axis; method 'inverted_cdf' only.

    >>> float(snp.quantile(snp.array([1.0, 2.0, 4.0]), 0.75))
    3.0
    """
    _refuse_overwriting("quantile", out, overwrite_input)
    return _quantiles("quantile", a, q, axis, method, keepdims, weights)


@fused_function(1, floats="static")
@promotes_freely
def percentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Compute the percentiles `q` (from 0 to 100) of `a` along `axis`; otherwise as `quantile`.

    >>> float(snp.percentile(snp.array([1.0, 2.0, 4.0]), 75))
    3.0
    """
    _refuse_overwriting("percentile", out, overwrite_input)
    return _quantiles("percentile", a, q, axis, method, keepdims, weights, scale=100)


@fused_function(1, floats="operands")
@promotes_freely
def nanquantile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute quantiles as `quantile` does, with NaN left out; NaN where there is nothing else.

    >>> float(snp.nanquantile(snp.array([1.0, 2.0, snp.nan, 4.0]), 0.75))
    3.0
    """
    _refuse_overwriting("nanquantile", out, overwrite_input)
    return _quantiles("nanquantile", a, q, axis, method, keepdims, weights, skip_nan=True)


@fused_function(1, floats="operands")
@promotes_freely
def nanpercentile(
    a: Any,
    q: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Compute percentiles as `percentile` does, with NaN left out; NaN where there is nothing else.

    >>> float(snp.nanpercentile(snp.array([1.0, 2.0, snp.nan, 4.0]), 75))
    3.0
    """
    _refuse_overwriting("nanpercentile", out, overwrite_input)
    return _quantiles(
        "nanpercentile", a, q, axis, method, keepdims, weights, scale=100, skip_nan=True
    )


@fused_function(1)
@promotes_freely
def median(
    a: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Compute the median of `a` along `axis` (one, several, or None: all), floating point.

    That is the element in the middle, or the mean of the two there; NaN if there is a NaN.

    >>> float(snp.median(snp.array([3, 1, 2, 9])))
    2.5
    """
    _refuse_overwriting("median", out, overwrite_input)
    return _quantiles("median", a, 0.5, axis, "midpoint", keepdims, None)


@fused_function(1)
@promotes_freely
def nanmedian(
    a: Any,
    axis: Axis = None,
    out: None = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Compute the median as `median` does, with NaN left out; NaN where there is nothing else.

    >>> float(snp.nanmedian(snp.array([3, 1, snp.nan, 2])))
    2.0
    """
    _refuse_overwriting("nanmedian", out, overwrite_input)
    return _quantiles("nanmedian", a, 0.5, axis, "midpoint", keepdims, None, skip_nan=True)


def _refuse_overwriting(function: str, out: Any, overwrite_input: bool) -> None:
    if overwrite_input or out is not None:
        raise ArgumentValueError(
            f"numpy.{function} does not support overwrite_input=True or out != None",
            function=function,
            fix="use the result: arrays are immutable",
        )


def _quantiles(
    function: str,
    a: Any,
    q: Any,
    axis: Axis,
    method: str,
    keepdims: bool,
    weights: Any,
    *,
    scale: int = 1,
    skip_nan: bool = False,
) -> Array:
    check_choice(function, "method", method, _METHODS)
    a, aval = with_aval(function, a, 0)
    q, q_aval = with_aval(function, q, 1)
    for name, x, refused in (("a", aval, ArgumentValueError), ("q", q_aval, ArgumentError)):
        if dtypes.is_complex(x.dtype):
            raise refused(
                "complex numbers have no order, so they have no quantiles",
                function=function,
                argument=name,
                got=x,
            )
    if q_aval.ndim > 1:
        raise ArgumentValueError(
            f"q must have rank <= 1, got shape {q_aval.shape}", function=function
        )
    if weights is not None and method != "inverted_cdf":
        raise UnsupportedArgumentError(
            f"{method} doesn't support weights. Only method 'inverted_cdf' supports weights.",
            function=function,
        )
    axes = axis_tuple(function, axis, aval.ndim)
    if q_aval.ndim and dims.same(q_aval.shape[0], 0):
        return _no_quantiles(aval, axes, keepdims)
    for d in axes:
        if dims.same(aval.shape[d], 0):
            raise ArgumentValueError(
                f"numpy.{function} reduction axis must be non-empty",
                function=function,
                got=f"shape {aval.shape}, where axis {d} has size 0",
            )
    if weights is not None:
        weights = _quantile_weights(function, weights, aval, axes)
    static_q = None
    if isinstance(q, (int, float, np.number)) and weights is None and not skip_nan:
        static_q = float(q) / scale
        static_q = static_q if math.isfinite(static_q) else None
    arrays = [a] if static_q is not None else [a, q]
    return _quantiles_of(
        *arrays, *([] if weights is None else [weights]), static_q=static_q, axes=axes, method=method,
        scale=scale, skip_nan=skip_nan, keepdims=bool(keepdims),
    )  # fmt: skip


def _no_quantiles(aval: Any, axes: tuple, keepdims: bool) -> Array:
    """Return the result for a `q` without elements: of no size, also where there is no element."""
    shape = [1 if i in axes else d for i, d in enumerate(aval.shape) if keepdims or i not in axes]
    _, dtype = mean_dtypes(aval.dtype, _thread.settings.x64)
    return structural.full_of(intern_aval((0, *shape), dtype, False, None), 0)


def _quantile_weights(function: str, weights: Any, aval: Any, axes: tuple) -> Any:
    weights, w_aval = with_aval(function, weights, 2)
    if dims.same_shape(w_aval.shape, aval.shape):
        return weights
    if len(axes) == 1 and dims.same_shape(w_aval.shape, (aval.shape[axes[0]],)):
        shape = tuple([d if i in axes else 1 for i, d in enumerate(aval.shape)])
        return broadcast_to(structural.reshape(weights, shape), aval.shape)
    raise ArgumentValueError.about(
        function, "weights", weights, f"the shape of a, {aval.shape}, or of its axis {axes}"
    )


@fused
def _quantiles_of(
    a: Any,
    *arrays: Any,
    static_q: float | None,
    axes: tuple,
    method: str,
    scale: int,
    skip_nan: bool,
    keepdims: bool,
) -> Array:
    """Compute quantiles by sorting. `arrays` are q, unless it is `static_q`, and any weights."""
    aval = aval_of(a)
    working, result = mean_dtypes(aval.dtype, _thread.settings.x64)
    x = _last(convert(a, working), aval, axes)
    kept_shape = x.aval.shape[:-1]
    if static_q is not None:
        found = _known_quantile(x, static_q, method)
    else:
        q, *weights = arrays
        q = convert(_base.as_array("quantile", q), working)
        if scale != 1:
            # jaxlib 0.10 and 0.11 would merge the constants of q / 100 * (n - 1), which puts 100 %
            # a rounding before the last element
            q = optimization_barrier(q / scale)
        if weights:
            found = _weighted_quantile(x, q, _last(weights[0], aval, axes), skip_nan)
        elif skip_nan:
            found = _quantile_of_numbers(x, q, method)
        else:
            found = _quantile_along(x, q, method)
    found = convert(found, result)
    if not keepdims:
        return found
    front = found.aval.shape[: found.aval.ndim - len(kept_shape)]
    shape = [1 if i in axes else d for i, d in enumerate(aval.shape)]
    return structural.reshape(found, (*front, *shape))


def _last(x: Any, aval: Any, axes: tuple) -> Any:
    """Merge the dimensions `axes` of `x` into one, the last."""
    other_axes = [i for i in range(aval.ndim) if i not in axes]
    x = transpose(x, (*other_axes, *axes))
    size = dims.size([aval.shape[i] for i in axes])
    return structural.reshape(x, (*[aval.shape[i] for i in other_axes], size))


def _sorted(x: Any) -> Any:
    return sort_p.bind(x, dimension=x.aval.ndim - 1, is_stable=True, num_keys=1)[0]


def _known_quantile(x: Any, q: float, method: str) -> Any:
    """Compute the quantile `q` along the last dimension, for a number that is known while tracing."""
    n = x.aval.shape[-1]
    if dims.is_dim(n):
        return _quantile_along(x, convert(_base.as_array("quantile", q), x.aval.dtype), method)
    x = _sorted(x)
    at = x.aval.ndim - 1
    low, high, weight = _neighbors(q, n, method, _python)
    low, high = int(low), int(high)
    below = squeeze(slice_in_dim(x, low, low + 1, 1, at), -1)
    above = squeeze(slice_in_dim(x, high, high + 1, 1, at), -1) if high != low else below
    if low == high or weight == 0:
        found = below
    elif weight == 1:
        found = above
    else:
        found = below * (1 - weight) + above * weight
    # NaN sorts last
    greatest = squeeze(slice_in_dim(x, n - 1, n, 1, at), -1)
    return where(greatest != greatest, np.nan, found)


def _quantile_along(x: Any, q: Any, method: str) -> Any:
    """Compute the quantiles `q` along the last dimension; theirs is the first of the result."""
    n = x.aval.shape[-1]
    x = _sorted(x)
    low, high, weight = _neighbors(q, size_as_value(n), method, _traced)
    below, above = (_at_all(x, indices) for indices in (low, high))
    mixed = where(weight == 0, below, below * (1 - weight) + above * weight)
    greatest = slice_in_dim(x, n - 1, n, 1, x.aval.ndim - 1)
    greatest = greatest if q.ndim else squeeze(greatest, -1)
    found = where(greatest != greatest, np.nan, mixed)
    return moveaxis(found, -1, 0) if q.ndim else found


def _at_all(x: Any, indices: Any) -> Any:
    """Index x[..., indices]: the same indices, which are in bounds, in every row."""
    indices = convert(indices, dtypes.int32)
    return getitem(x, (..., indices), mode="promise_in_bounds", wrap_negative_indices=False)


def _quantile_of_numbers(x: Any, q: Any, method: str) -> Any:
    """Compute quantiles as `_quantile_along` does, with NaN left out: each row has its own count."""
    count = sum_along(x == x, -1)
    x = _sorted(x)
    q = _grid(q, x)
    low, high, weight = _neighbors(q, convert(count, q.dtype), method, _traced)
    below, above = (_at_each(x, clip(indices, 0)) for indices in (low, high))
    mixed = where(weight == 0, below, below * (1 - weight) + above * weight)
    return where(count == 0, np.nan, mixed)


def _grid(q: Any, x: Any) -> Any:
    """Reshape `q` to broadcast against the rows of `x`, its own dimension first."""
    return reshape(q, (*q.shape, *[1] * (x.aval.ndim - 1))) if q.ndim else q


def _at_each(x: Any, indices: Any) -> Any:
    """Index x[..., indices], each row with its own indices, whose first dimension leads."""
    indices = convert(indices, dtypes.int32)
    inner = x.aval.shape[:-1]
    if indices.ndim == len(inner):
        return squeeze(take_along_axis(x, expand_dims(indices, -1), -1, mode="clip"), -1)
    indices = moveaxis(broadcast_to(indices, (indices.shape[0], *inner)), 0, -1)
    return moveaxis(take_along_axis(x, indices, -1, mode="clip"), -1, 0)


class _Arithmetic:
    """The few functions that positions are computed with, for Python's numbers or for arrays."""

    __slots__ = ("ceil", "choose", "clamp", "floor")

    def __init__(self, floor: Callable, ceil: Callable, choose: Callable, clamp: Callable) -> None:
        self.floor, self.ceil, self.choose, self.clamp = floor, ceil, choose, clamp


_python = _Arithmetic(
    math.floor,
    math.ceil,
    lambda condition, x, y: x if condition else y,
    lambda x, high: min(max(x, 0), high),
)
_traced = _Arithmetic(floor, ceil, where, lambda x, high: clip(x, 0, high))


def _neighbors(q: Any, n: Any, method: str, m: _Arithmetic) -> tuple[Any, Any, Any]:
    """Return the positions below and above the quantile, and the weight of the one above."""
    if method in _STEPS:
        low, high, weight = _steps(q, n, method, m)
        return m.clamp(low, n - 1), m.clamp(high, n - 1), weight
    alpha, beta = _ALPHA_BETA.get(method, (1.0, 1.0))
    position = q * (n + (1 - alpha - beta))
    if alpha != 1:
        position = position + (alpha - 1)
    # outside of the elements the first and the last one are meant
    position = m.clamp(position, n - 1)
    low, high = m.floor(position), m.ceil(position)
    weight = position - low
    if method == "lower":
        return low, low, weight * 0
    if method == "higher":
        return high, high, weight * 0
    if method == "nearest":
        nearest = m.choose(weight <= 0.5, low, high)
        return nearest, nearest, weight * 0
    if method == "midpoint":
        return low, high, m.choose(weight == 0, weight, weight * 0 + 0.5)
    return low, high, weight + q * 0  # NaN if q is NaN or infinite


def _steps(q: Any, n: Any, method: str, m: _Arithmetic) -> tuple[Any, Any, Any]:
    """Return the same as `_neighbors` for methods whose quantile is a step function of q."""
    if method == "closest_observation":
        position = n * q - 1.5
        low = m.floor(position)
        # halfway, the element whose number, counted from 1, is even
        stays = (position == low) & (m.floor(low / 2) * 2 != low)
        found = m.choose(stays, low, low + 1)
        return found, found, position * 0
    position = n * q
    last = m.ceil(position) - 1
    if method == "inverted_cdf":
        return last, last, position * 0
    exact = m.floor(position) == position
    return last, m.choose(exact, last + 1, last), m.choose(exact, position * 0 + 0.5, position * 0)


def _weighted_quantile(x: Any, q: Any, weights: Any, skip_nan: bool) -> Any:
    """Find the least element at which the cumulative share of the weights reaches `q`."""
    weights = convert(weights, x.aval.dtype)
    numbers = x == x
    if skip_nan:
        weights = where(numbers, weights, 0)
    n, at = x.aval.shape[-1], x.aval.ndim - 1
    x, weights = sort_p.bind(x, weights, dimension=at, is_stable=True, num_keys=1)
    reached = cumsum(weights, at)
    total = slice_in_dim(reached, n - 1, n, 1, at)
    index = sum_along(reached < expand_dims(_grid(q, x), -1) * total, -1)
    # elements of weight 0 at the start have no part
    first = sum_along(reached == 0, -1)
    found = _at_each(x, clip(where(index < first, first, index), 0, n - 1))
    if skip_nan:
        return where(squeeze(total, -1) == 0, np.nan, found)
    return where(all_along(numbers, -1), found, np.nan)


# covariance ---------------------------------------------------------------------------------------


class SampleSizeError(SagaxError, RuntimeError):
    """Weights that do not go with the samples."""


@fused_function(1)
@promotes_freely
def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    dtype: Any = None,
) -> Array:
    """Compute the covariance matrix of variables, the rows of `m` (with `rowvar=False`, columns).

    Args:
      y: more variables, in the same form.
      bias, ddof: the divisor is the number of samples less `ddof`, by default 1, with `bias` 0.
      fweights: how often each sample counts; integers.
      aweights: the importance of each sample; numbers.

    The result is floating point or complex; a scalar for a single variable.

    >>> snp.cov(snp.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    m, aval = with_aval("cov", m, 0)
    if aval.ndim > 2:
        raise ArgumentValueError("m has more than 2 dimensions", function="cov", got=m)
    if ddof is not None and not isinstance(ddof, (int, float, np.integer, np.floating)):
        raise ArgumentValueError.about("cov", "ddof", ddof, "a number")
    if dtype is not None:
        dtype = dtypes.requested_dtype(dtype, "cov")
        if dtypes.kind(dtype) not in "fc":
            raise ArgumentValueError(
                "dtype must be a subclass of float or complex", function="cov", got=dtype
            )
    x = _variables(m, rowvar)
    if y is not None:
        y, y_aval = with_aval("cov", y, 1)
        if y_aval.ndim > 2:
            raise ArgumentValueError("y has more than 2 dimensions", function="cov", got=y)
        x = concatenate([x, _variables(y, rowvar)], 0)
    if dtype is None:
        (x,) = _base.promote_inexact("cov", x)
    else:
        x = convert(x, dtype)
    dtype = x.dtype
    if ddof is None:
        ddof = 0 if bias else 1
    samples = x.shape[1]
    weights = None
    if fweights is not None:
        fweights = _sample_weights("fweights", fweights, samples, 4)
        if dtypes.kind(aval_of(fweights).dtype) not in "iub":
            raise ArgumentError("fweights must be integer.", function="cov", got=fweights)
        weights = convert(fweights, dtypes.real_part_dtype(dtype))
    if aweights is not None:
        aweights = _sample_weights("aweights", aweights, samples, 5)
        importance = convert(aweights, dtypes.real_part_dtype(dtype))
        weights = importance if weights is None else weights * importance
    if weights is None:
        centered = x - mean(x, 1, keepdims=True)
        divisor: Any = max(samples - ddof, 0) if not dims.is_dim(samples) else samples - ddof
        divisor = convert(size_as_value(divisor), dtypes.real_part_dtype(dtype))
        weighted = centered
    else:
        total = sum_along(weights)
        centered = x - expand_dims(sum_along(x * weights, 1) / total, 1)
        weighted = centered * weights
        if ddof == 0:
            divisor = total
        elif aweights is None:
            divisor = total - ddof
        else:
            divisor = total - ddof * sum_along(weights * importance) / total
    found = dot(centered, conj(weighted).T) / divisor
    return squeeze(found)


def _variables(x: Any, rowvar: bool) -> Any:
    """Convert observations to a matrix with a row for each variable."""
    x = _base.as_array("cov", x)
    if x.ndim < 2:
        return reshape(x, (1, -1))
    return x if rowvar else x.T


def _sample_weights(name: str, weights: Any, samples: Any, position: int) -> Any:
    weights, aval = with_aval("cov", weights, position)
    if aval.ndim != 1:
        raise SampleSizeError(
            f"{name} must have one dimension", function="cov", argument=name, got=weights
        )
    if not dims.same(aval.shape[0], samples):
        raise SampleSizeError(
            f"incompatible numbers of samples and {name}",
            function="cov",
            got=f"{samples} samples and {aval.shape[0]} {name}",
        )
    return weights


@fused_function(1)
@promotes_freely
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Array:
    """Compute the correlation coefficients of variables, each a row of `x` (and `y`); see `cov`.

    >>> snp.corrcoef(snp.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    Array([[ 1., -1.],
           [-1.,  1.]], dtype=float32)
    """
    try:
        c = cov(x, y, rowvar, dtype=dtype)
    except SagaxError as error:
        raise renamed(error, "corrcoef") from None
    if not c.ndim:
        return c / c
    deviations = sqrt(real(diagonal(c)))
    found = c / expand_dims(deviations, 1) / deviations
    if dtypes.is_complex(found.dtype):
        return clip(real(found), -1, 1) + 1j * clip(imag(found), -1, 1)
    return clip(found, -1, 1)
