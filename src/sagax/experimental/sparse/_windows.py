"""Join, convolve, reverse, gather from, and reformat sparse arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import sagax.numpy as snp
from sagax.experimental.sparse._bcoo import (
    BCOO,
    _flat,
    _full,
    bcoo_broadcast_in_dim,
    bcoo_dynamic_slice,
    bcoo_squeeze,
    bcoo_sum_duplicates,
    bcoo_transpose,
    bcoo_update_layout,
)
from sagax.experimental.sparse._formats import BCSR
from sagax.experimental.sparse._operands import columns_of, lie_within, refuse, wrong
from sagax.lax import conv_dimension_numbers, padtype_to_pads


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """Concatenate sparse arrays along a dimension.

    >>> sparse.bcoo_concatenate([sparse.eye(2), sparse.eye(2)], dimension=1).shape
    (2, 4)
    """
    first = operands[0]
    dimension %= first.ndim
    n_batch = min(m.n_batch for m in operands)
    n_batch = n_batch if dimension >= n_batch else 0
    n_dense = min(m.n_dense for m in operands)
    n_dense = n_dense if dimension < first.ndim - n_dense else 0
    parts = [bcoo_update_layout(m, n_batch=n_batch, n_dense=n_dense) for m in operands]
    size = sum(m.shape[dimension] for m in parts)
    shape = (*first.shape[:dimension], size, *first.shape[dimension + 1 :])
    if any(
        (*m.shape[:dimension], *m.shape[dimension + 1 :])
        != (*shape[:dimension], *shape[dimension + 1 :])
        for m in parts
    ):
        raise wrong(
            "bcoo_concatenate",
            "operands",
            [m.shape for m in parts],
            "equal shapes but for one dimension",
        )
    at = dimension - n_batch
    data, rows, start = [], [], 0
    for m in parts:
        values, indices = _full(m)
        column = snp.where(indices[..., at] < m.shape[dimension], indices[..., at] + start, size)
        data.append(values)
        rows.append(indices.at[..., at].set(column))
        start += m.shape[dimension]
    unique = all(m.unique_indices for m in parts)
    return first._like(
        snp.concatenate(data, n_batch), snp.concatenate(rows, n_batch), shape, False, unique
    )


def bcoo_gather(
    operand: BCOO,
    start_indices: Any,
    dimension_numbers: Any,
    slice_sizes: Any,
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> BCOO:
    """Gather one window of a sparse array, as `lax.gather` with a vector of start indices.

    >>> from sagax.lax import GatherDimensionNumbers
    >>> numbers = GatherDimensionNumbers((0,), (0,), (0,))
    >>> sparse.bcoo_gather(sparse.eye(2), snp.array([1]), numbers, (1, 2)).todense().tolist()
    [0.0, 1.0]
    """
    starts = snp.asarray(start_indices)
    if starts.ndim != 1:
        raise refuse(
            "bcoo_gather",
            "several windows of a sparse array",
            "map over the start indices with sagax.vmap",
        )
    full: list[Any] = [0] * operand.ndim
    for k, d in enumerate(dimension_numbers.start_index_map):
        full[d] = starts[k]
    window = bcoo_dynamic_slice(operand, full, slice_sizes)
    return bcoo_squeeze(window, dimensions=dimension_numbers.collapsed_slice_dims)


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """Reverse a sparse array along dimensions, as `lax.rev`.

    >>> sparse.bcoo_rev(sparse.bcoo_fromdense(snp.array([1.0, 0.0, 2.0])), (0,)).todense().tolist()
    [2.0, 0.0, 1.0]
    """
    data, indices = operand.data, operand.indices
    b, first_dense = operand.n_batch, operand.n_batch + operand.n_sparse
    for d in sorted({d % operand.ndim for d in dimensions}):
        n = operand.shape[d]
        if d < b:
            data = snp.flip(data, d) if data.shape[d] > 1 else data
            indices = snp.flip(indices, d) if indices.shape[d] > 1 else indices
        elif d >= first_dense:
            data = snp.flip(data, d - operand.n_sparse + 1)
        else:
            column = indices[..., d - b]  # padding, from n on, stays beyond the end
            indices = indices.at[..., d - b].set(snp.where(column < n, n - 1 - column, column))
    return operand._like(data, indices, operand.shape, False, operand.unique_indices)


def bcoo_conv_general_dilated(
    lhs: BCOO,
    rhs: BCOO,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> BCOO:
    """Convolve two sparse arrays, as `lax.conv_general_dilated`: each pair of stored elements is one product.

    >>> x = sparse.bcoo_fromdense(snp.array([[[1.0, 0.0, 2.0]]]))
    >>> k = sparse.bcoo_fromdense(snp.array([[[1.0, 3.0]]]))
    >>> y = sparse.bcoo_conv_general_dilated(x, k, window_strides=(1,), padding="VALID")
    >>> y.todense().tolist()
    [[[1.0, 6.0]]]
    """
    function = "bcoo_conv_general_dilated"
    if batch_group_count != 1:
        raise refuse(function, "batch_group_count other than 1 of sparse arrays")
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    lhs = bcoo_transpose(_flat(lhs), permutation=numbers.lhs_spec)
    rhs = bcoo_transpose(_flat(rhs), permutation=numbers.rhs_spec)
    rank = lhs.ndim - 2
    dilate_l, dilate_r = [tuple(d or (1,) * rank) for d in (lhs_dilation, rhs_dilation)]
    steps = tuple(window_strides)
    sizes = [(n - 1) * d + 1 if n else 0 for n, d in zip(lhs.shape[2:], dilate_l, strict=True)]
    windows = [(n - 1) * d + 1 if n else 0 for n, d in zip(rhs.shape[2:], dilate_r, strict=True)]
    if isinstance(padding, str):
        padding = padtype_to_pads(sizes, windows, steps, padding)
    if rhs.shape[0] % feature_group_count or lhs.shape[1] != rhs.shape[1] * feature_group_count:
        raise wrong(
            function,
            "rhs",
            rhs.shape,
            f"{lhs.shape[1]} input features, of {feature_group_count} groups",
        )
    shape = [lhs.shape[0], rhs.shape[0]]
    left, right = columns_of(lhs.indices), columns_of(rhs.indices)
    pairs = (lhs.nse, rhs.nse)
    group = right[0] // max(rhs.shape[0] // feature_group_count, 1)
    meet = left[1][:, None] == (right[1] + group * rhs.shape[1])[None]
    for m, part in ((lhs, (slice(None), None)), (rhs, (None, slice(None)))):
        inside = lie_within(m.indices, m.shape)
        meet &= inside[part]
    found = [snp.broadcast_to(left[0][:, None], pairs), snp.broadcast_to(right[0][None], pairs)]
    for i in range(rank):
        low, high = padding[i]
        n = max((sizes[i] + low + high - windows[i]) // steps[i] + 1, 0)
        offset = left[2 + i][:, None] * dilate_l[i] + low - (right[2 + i] * dilate_r[i])[None]
        at = offset // steps[i]
        meet &= (offset % steps[i] == 0) & (at >= 0) & (at < n)
        found.append(at)
        shape.append(n)
    data = snp.where(meet, lhs.data[:, None] * rhs.data[None], 0).ravel()
    rows = [snp.where(meet, c, n).ravel() for c, n in zip(found, shape, strict=True)]
    out = BCOO((data, snp.stack(rows, -1).astype(lhs.indices.dtype)), shape=tuple(shape))
    fewest = min(out.nse, math.prod(shape))
    out = bcoo_sum_duplicates(out, fewest) if fewest < out.nse else out
    order = [0] * len(shape)
    for i, d in enumerate(numbers.out_spec):
        order[d] = i
    out = bcoo_transpose(out, permutation=order)
    return out if preferred_element_type is None else out.astype(preferred_element_type)


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """Broadcast compressed rows, as `lax.broadcast_in_dim`; new leading dimensions are batches.

    >>> m = sparse.bcsr_fromdense(snp.eye(2))
    >>> sparse.bcsr_broadcast_in_dim(m, shape=(3, 2, 2), broadcast_dimensions=(1, 2)).n_batch
    1
    """
    wide = bcoo_broadcast_in_dim(
        mat.to_bcoo(), shape=shape, broadcast_dimensions=broadcast_dimensions
    )
    return _by_rows(wide, len(shape) - 2 - mat.n_dense, mat.n_dense)


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """Concatenate arrays by compressed rows along a dimension.

    >>> m = sparse.bcsr_fromdense(snp.eye(2))
    >>> sparse.bcsr_concatenate([m, m], dimension=0).indptr.tolist()
    [0, 1, 2, 3, 4]
    """
    joined = bcoo_concatenate([m.to_bcoo() for m in operands], dimension=dimension)
    return _by_rows(joined, operands[0].n_batch, operands[0].n_dense)


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Add elements of equal indices.

    >>> sparse.bcsr_sum_duplicates(sparse.bcsr_fromdense(snp.eye(2))).nse
    2
    """
    return mat.sum_duplicates(nse)


def _by_rows(m: BCOO, n_batch: int, n_dense: int) -> BCSR:
    laid_out = bcoo_update_layout(m, n_batch=n_batch, n_dense=n_dense, on_inefficient=None)
    return BCSR.from_bcoo(laid_out)
