"""Reductions over segments: rows of an array that carry the same number belong together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.numpy._arithmetic as _arithmetic
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError, ConcretizationTypeError, DtypeError
from sagax._src.primitives.resharding import with_out_sharding
from sagax._src.primitives.structural import full_of
from sagax.numpy._base import as_array
from sagax.numpy._indexing import IndexUpdateRef


def _least(dtype: Any) -> Any:
    return -np.inf if dtype_predicates.is_complex(dtype) else dtype_predicates.bounds(dtype)[0]


def _greatest(dtype: Any) -> Any:
    return np.inf if dtype_predicates.is_complex(dtype) else dtype_predicates.bounds(dtype)[1]


# function -> the update it is made of, what changes nothing, how to combine two partial results
_KINDS: dict[str, tuple[str, Callable[[Any], Any], Callable[..., Array]]] = {
    "segment_sum": ("add", lambda dtype: 0, _arithmetic.add),
    "segment_prod": ("multiply", lambda dtype: 1, _arithmetic.multiply),
    "segment_max": ("max", _least, _arithmetic.maximum),
    "segment_min": ("min", _greatest, _arithmetic.minimum),
}


def _count(function: str, segment_ids: Array, num_segments: Any) -> Any:
    """The number of segments: as given, or one more than the greatest number of a segment."""
    if num_segments is None:
        value = segment_ids.concrete() if isinstance(segment_ids, Tracer) else segment_ids
        if value is None:
            error = ConcretizationTypeError(
                segment_ids,
                f"{function}() needs the argument num_segments, the size of its result.",
            )
            raise error.attach(fix=f"{function}(data, segment_ids, num_segments=...)")
        known = np.asarray(value)
        if not known.size:
            raise ArgumentValueError(
                "zero-size array to reduction operation max which has no identity: there are no "
                "segment_ids, of which num_segments could be the greatest",
                function=function,
                fix="give num_segments=...",
            )
        return max(int(known.max()) + 1, 0)
    if dims.is_dim(num_segments):
        return num_segments
    if isinstance(num_segments, Tracer):
        error = ConcretizationTypeError(
            num_segments, f"{function}() `num_segments` argument: it is the size of the result."
        )
        raise error.attach(
            fix="make it a static argument: jit(..., static_argnames='num_segments')"
        )
    count = int(num_segments)
    if count < 0:
        raise ArgumentValueError(
            "num_segments must be non-negative.", function=function, got=num_segments
        )
    return count


def _segments(
    function: str,
    data: Any,
    segment_ids: Any,
    num_segments: Any,
    indices_are_sorted: bool,
    unique_indices: bool,
    bucket_size: int | None,
    mode: Any,
    out_sharding: Any,
) -> Array:
    if out_sharding is not None:
        how = (num_segments, indices_are_sorted, unique_indices, bucket_size, mode, None)
        return with_out_sharding(
            function,
            lambda x, ids: _segments(function, x, ids, *how),
            (data, segment_ids),
            out_sharding,
        )
    data, segment_ids = as_array(function, data), as_array(function, segment_ids, 1)
    update, neutral, combine = _KINDS[function]
    dtype = data.dtype
    if update in ("add", "multiply") and dtype == dtypes.bool_:
        raise DtypeError(
            f"{function} does not {update} booleans",
            function=function,
            argument="data",
            got=data,
            expected="numbers",
            fix="convert them with data.astype(int), or use segment_max for the logical or and "
            "segment_min for the logical and",
        )
    if dtypes.is_extended(segment_ids.dtype) or not dtype_predicates.is_integer(segment_ids.dtype):
        raise DtypeError(
            function=function,
            argument="segment_ids",
            got=segment_ids,
            expected="an array of integers",
            fix="convert them with .astype(int)",
        )
    count = _count(function, segment_ids, num_segments)
    start = full_of(intern_aval((count, *data.shape[1:]), dtype, False, None), neutral(dtype))

    def of(rows: Any, ids: Any) -> Array:
        return getattr(IndexUpdateRef(start, ids), update)(
            rows,
            indices_are_sorted=indices_are_sorted,
            unique_indices=unique_indices,
            mode=mode,
            wrap_negative_indices=False,
        )

    size = data.shape[0] if data.ndim else 1
    if bucket_size is None or size <= bucket_size:
        return of(data, segment_ids)
    parts = [
        of(data[i : i + bucket_size], segment_ids[i : i + bucket_size])
        for i in range(0, size, bucket_size)
    ]
    return functools.reduce(combine, parts)


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The sums of the rows of `data` that carry the same number in `segment_ids`.

    Args:
      data: the rows, along its first axis.
      segment_ids: the number of each row's segment, integers of the shape `data.shape[:1]`. Rows
        whose number is negative or too great count for nothing.
      num_segments: how many segments there are; by default one more than the greatest number,
        which must then be concrete.
      indices_are_sorted, unique_indices: promises about `segment_ids`.
      bucket_size: reduce this many rows at a time and combine what that gives, for the sake of
        precision. None: all at once.
      mode: what numbers out of bounds mean, as in `x.at[...]`; 'clip' takes the closest segment.

    Returns:
      An array of shape `(num_segments, *data.shape[1:])` and the dtype of `data`; segments without
      rows are 0.

    Raises:
      ValueError: num_segments is negative.
      ConcretizationTypeError: num_segments is not given while segment_ids are traced.
      DtypeError: segment_ids are no integers, or data are booleans.

    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> ops.segment_sum(snp.arange(5), snp.array([0, 0, 1, 1, 2]), num_segments=4)
    Array([1, 5, 4, 0], dtype=int32)
    """
    return _segments(
        "segment_sum", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size,
        mode, out_sharding,
    )  # fmt: skip


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The products of the rows of `data` that carry the same number in `segment_ids`.

    Arguments and errors as in `segment_sum`; segments without rows are 1.

    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> ops.segment_prod(snp.arange(1, 5), snp.array([0, 0, 2, 2]), num_segments=3)
    Array([ 2,  1, 12], dtype=int32)
    """
    return _segments(
        "segment_prod", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size,
        mode, out_sharding,
    )  # fmt: skip


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The greatest of the rows of `data` that carry the same number in `segment_ids`, element by element.

    Arguments and errors as in `segment_sum`; segments without rows are -inf, or the least value of
    the dtype.

    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> ops.segment_max(snp.array([1.0, 3.0, 2.0]), snp.array([0, 0, 1]), num_segments=3)
    Array([  3.,   2., -inf], dtype=float32)
    """
    return _segments(
        "segment_max", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size,
        mode, out_sharding,
    )  # fmt: skip


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: int | None = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The least of the rows of `data` that carry the same number in `segment_ids`, element by element.

    Arguments and errors as in `segment_sum`; segments without rows are inf, or the greatest value of
    the dtype.

    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> ops.segment_min(snp.array([1.0, 3.0, 2.0]), snp.array([0, 0, 1]), num_segments=3)
    Array([ 1.,  2., inf], dtype=float32)
    """
    return _segments(
        "segment_min", data, segment_ids, num_segments, indices_are_sorted, unique_indices, bucket_size,
        mode, out_sharding,
    )  # fmt: skip
