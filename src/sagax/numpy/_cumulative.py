"""Compute cumulative sums and products."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import structural
from sagax._src.primitives.comparison import eq
from sagax._src.primitives.cumulative import cumprod_p, cumsum_p
from sagax._src.primitives.shaping import concatenate
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import one_axis, refuse_out, with_aval
from sagax.numpy._fused import fused_function
from sagax.numpy._reductions import as_dtype, masked, sum_dtypes
from sagax.numpy._shaping import ravel

_thread = config.thread
_BOOL = np.dtype(bool)


def _running(
    function: str,
    primitive: Any,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    *,
    nan: int | None = None,
    promote_integers: bool = False,
) -> Array:
    if out is not None:
        refuse_out(function, out)
    a, aval = with_aval(function, a)
    if axis is None:
        a, d = ravel(a), 0
    else:
        d = one_axis(function, axis, aval.ndim)
    if nan is not None and dtypes.is_inexact(aval.dtype):
        a = masked(a, eq(a, a), nan)
    if dtype is None:
        _, result = sum_dtypes(aval.dtype, promote_integers, _thread.settings.x64)
    else:
        result = dtypes.requested_dtype(dtype, function)
    working = result
    if result == _BOOL:  # ask what is nonzero before counting, since 0.1 is no 0
        a, working = as_dtype(a, _BOOL), dtypes.default_int(_thread.settings.x64)
    return convert(primitive.bind(as_dtype(a, working), axis=d, reverse=False), result)


@fused_function(1)
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Compute the cumulative sums of `a` along `axis`, or without one of the flattened array.

    The dtype is that of `a` (booleans: the integer default), or `dtype`.

    >>> snp.cumsum(snp.array([1, 2, 3]))
    Array([1, 3, 6], dtype=int32)
    """
    return _running("cumsum", cumsum_p, a, axis, dtype, out)


@fused_function(1)
def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Compute the cumulative products of `a` along `axis`; see `cumsum`.

    >>> snp.cumprod(snp.array([1, 2, 3]))
    Array([1, 2, 6], dtype=int32)
    """
    return _running("cumprod", cumprod_p, a, axis, dtype, out)


@fused_function(1)
def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Compute cumulative sums as `cumsum` does, with NaN counted as 0.

    >>> snp.nancumsum(snp.array([1, snp.nan, 3]))
    Array([1., 1., 4.], dtype=float32)
    """
    return _running("nancumsum", cumsum_p, a, axis, dtype, out, nan=0)


@fused_function(1)
def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Array:
    """Compute cumulative products as `cumprod` does, with NaN counted as 1.

    >>> snp.nancumprod(snp.array([2, snp.nan, 3]))
    Array([2., 2., 6.], dtype=float32)
    """
    return _running("nancumprod", cumprod_p, a, axis, dtype, out, nan=1)


def cumulative_sum(
    x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Compute the cumulative sums of `x` along `axis`, which is optional for vectors only.

    Integers narrower than 32 bits become that wide. `include_initial` puts a 0 before them.

    >>> snp.cumulative_sum(snp.array([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6], dtype=int32)
    """
    return _cumulative("cumulative_sum", cumsum_p, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Compute the cumulative products of `x` along `axis`, which is optional for vectors only.

    The dtype stays that of `x` unless another is requested. `include_initial` puts a 1 before them.

    >>> snp.cumulative_prod(snp.array([1, 2, 3]), include_initial=True)
    Array([1, 1, 2, 6], dtype=int32)
    """
    return _cumulative("cumulative_prod", cumprod_p, 1, x, axis, dtype, include_initial)


def _cumulative(
    function: str, primitive: Any, first: int, x: Any, axis: Any, dtype: Any, include_initial: bool
) -> Array:
    x, aval = with_aval(function, x)
    if not aval.ndim:
        raise ArgumentValueError(
            "The input must be non-scalar to take a cumulative sum or product, however a scalar"
            " value or scalar array was given.",
            function=function,
        )
    if axis is None:
        if aval.ndim > 1:
            raise ArgumentValueError(
                f"The input array has rank {aval.ndim}, however axis was not set to an explicit"
                " value. The axis argument is only optional for one-dimensional arrays.",
                function=function,
                x=x,
            )
        axis = 0
    axis = one_axis(function, axis, aval.ndim)
    promote = primitive is cumsum_p  # products keep narrow dtypes, as those of `cumprod` do
    found = _running(function, primitive, x, axis, dtype, None, promote_integers=promote)
    if not include_initial:
        return found
    shape = tuple([1 if d == axis else n for d, n in enumerate(aval.shape)])
    start = structural.full_of(aval_of(found).update(shape=shape), first)
    return concatenate([start, found], axis)
