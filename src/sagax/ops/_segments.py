"""Reduce over segments: the rows of an array with equal segment ids."""

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
from sagax.numpy._arguments import static_int
from sagax.numpy._base import as_array
from sagax.numpy._indexing import IndexUpdateRef


def _least(dtype: Any) -> Any:
    return -np.inf if dtype_predicates.is_complex(dtype) else dtype_predicates.bounds(dtype)[0]


def _greatest(dtype: Any) -> Any:
    return np.inf if dtype_predicates.is_complex(dtype) else dtype_predicates.bounds(dtype)[1]


def _count(function: str, segment_ids: Array, num_segments: Any) -> Any:
    """The number of segments: as given, or one more than the greatest segment."""
    if num_segments is None:
        value = segment_ids.concrete() if isinstance(segment_ids, Tracer) else segment_ids
        if value is None:
            error = ConcretizationTypeError(
                segment_ids,
                f"{function}() needs the argument num_segments, the size of its result.",
            )
            raise error.attach(fix=f"{function}(data, segment_ids, num_segments=...)")
        known_ids = np.asarray(value)
        if not known_ids.size:
            raise ArgumentValueError(
                "zero-size array to reduction operation max which has no identity: there are no "
                "segment_ids to take num_segments from",
                function=function,
                fix="give num_segments=...",
            )
        return max(int(known_ids.max()) + 1, 0)
    if dims.is_dim(num_segments):
        return num_segments
    if isinstance(num_segments, Tracer):
        error = ConcretizationTypeError(
            num_segments, f"{function}() `num_segments` argument: it is the size of the result."
        )
        raise error.attach(
            fix="make it a static argument: jit(..., static_argnames='num_segments')"
        )
    count = static_int(function, "num_segments", num_segments)
    if count < 0:
        raise ArgumentValueError(
            "num_segments must be non-negative.", function=function, got=num_segments
        )
    return count


def _segment_reduction(
    name: str, update: str, identity: Callable[[Any], Any], combine: Callable[..., Array], doc: str
):
    """Make a reduction over segments of a method of `x.at[...]`.

    `identity(dtype)` is the result of an empty segment, `combine` merges two partial results.
    """

    def reduction(
        data: Any,
        segment_ids: Any,
        num_segments: int | None = None,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        bucket_size: int | None = None,
        mode: Any = None,
        out_sharding: Any = None,
    ) -> Array:
        if out_sharding is not None:
            how = (num_segments, indices_are_sorted, unique_indices, bucket_size, mode)
            return with_out_sharding(
                name, lambda x, ids: reduction(x, ids, *how), (data, segment_ids), out_sharding
            )
        data, segment_ids = as_array(name, data), as_array(name, segment_ids, 1)
        dtype = data.dtype
        if update in ("add", "multiply") and dtype == dtypes.bool_:
            raise DtypeError(
                f"{name} does not {update} booleans",
                function=name,
                argument="data",
                got=data,
                expected="numbers",
                fix="convert them with data.astype(int), or use segment_max for the logical or and "
                "segment_min for the logical and",
            )
        if dtypes.is_extended(segment_ids.dtype) or not dtype_predicates.is_integer(
            segment_ids.dtype
        ):
            raise DtypeError(
                function=name,
                argument="segment_ids",
                got=segment_ids,
                expected="an array of integers",
                fix="convert them with .astype(int)",
            )
        count = _count(name, segment_ids, num_segments)
        start = full_of(intern_aval((count, *data.shape[1:]), dtype, False, None), identity(dtype))

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
        partials = [
            of(data[i : i + bucket_size], segment_ids[i : i + bucket_size])
            for i in range(0, size, bucket_size)
        ]
        return functools.reduce(combine, partials)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = doc
    return reduction


segment_sum = _segment_reduction(
    "segment_sum",
    "add",
    lambda dtype: 0,
    _arithmetic.add,
    """Sum the rows of `data` by segment: rows with equal `segment_ids`.

    Args:
      data: the rows, along its first axis.
      segment_ids: the segment of each row, integers of shape `data.shape[:1]`. Rows whose segment is
        negative or too great are dropped.
      num_segments: the number of segments; by default one more than the greatest segment, which must
        then be concrete.
      indices_are_sorted, unique_indices: promises about `segment_ids`.
      bucket_size: reduce this many rows at a time and combine the results, for precision. None: all
        rows together.
      mode: the meaning of segments out of bounds, as in `x.at[...]`; 'clip' takes the closest one.

    Returns:
      An array of shape `(num_segments, *data.shape[1:])` and the dtype of `data`; segments without
      rows are 0.

    Raises:
      ValueError: num_segments is negative.
      ConcretizationTypeError: num_segments is not given and segment_ids are traced.
      DtypeError: segment_ids are no integers, or data are booleans.

    >>> from sagax import ops
    >>> ops.segment_sum(snp.arange(5), snp.array([0, 0, 1, 1, 2]), num_segments=4)
    Array([1, 5, 4, 0], dtype=int32)
    """,
)

segment_prod = _segment_reduction(
    "segment_prod",
    "multiply",
    lambda dtype: 1,
    _arithmetic.multiply,
    """Multiply the rows of `data` by segment: rows with equal `segment_ids`.

    Arguments and errors as in `segment_sum`; segments without rows are 1.

    >>> from sagax import ops
    >>> ops.segment_prod(snp.arange(1, 5), snp.array([0, 0, 2, 2]), num_segments=3)
    Array([ 2,  1, 12], dtype=int32)
    """,
)

segment_max = _segment_reduction(
    "segment_max",
    "max",
    _least,
    _arithmetic.maximum,
    """Take the elementwise maximum of the rows of `data` with equal `segment_ids`.

    Arguments and errors as in `segment_sum`; segments without rows are -inf, or the least value of
    the dtype.

    >>> from sagax import ops
    >>> ops.segment_max(snp.array([1.0, 3.0, 2.0]), snp.array([0, 0, 1]), num_segments=3)
    Array([  3.,   2., -inf], dtype=float32)
    """,
)

segment_min = _segment_reduction(
    "segment_min",
    "min",
    _greatest,
    _arithmetic.minimum,
    """Take the elementwise minimum of the rows of `data` with equal `segment_ids`.

    Arguments and errors as in `segment_sum`; segments without rows are inf, or the greatest value of
    the dtype.

    >>> from sagax import ops
    >>> ops.segment_min(snp.array([1.0, 3.0, 2.0]), snp.array([0, 0, 1]), num_segments=3)
    Array([ 1.,  2., inf], dtype=float32)
    """,
)
