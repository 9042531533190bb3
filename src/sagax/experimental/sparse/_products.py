"""Multiply sparse arrays: each stored element costs one row of the other operand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.experimental.sparse._reference as numpy_rules
import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.core.avals import intern_aval
from sagax._src.core.samples import Sample, f32
from sagax._src.core.value import Array
from sagax.experimental.sparse._elements import sparse_primitive, typed
from sagax.experimental.sparse._operands import SparseOperand, columns_of, lie_within, wrong
from sagax.experimental.sparse._rows import rows_product
from sagax.experimental.sparse._vector_product import vector_product
from sagax.ops import segment_sum

Numbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Numbers,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """Contract dimensions of a sparse array and a dense or sparse one, as `lax.dot_general`.

    The result is dense, or sparse if both operands are.

    >>> numbers = (((1,), (0,)), ((), ()))
    >>> sparse.bcoo_dot_general(sparse.eye(2), snp.ones(2), dimension_numbers=numbers).tolist()
    [1.0, 1.0]
    """
    (lc, rc), (lb, rb) = [tuple(map(tuple, pair)) for pair in dimension_numbers]
    for a, b in zip((*lc, *lb), (*rc, *rb), strict=True):
        if lhs.shape[a] != rhs.shape[b]:
            raise wrong(
                "bcoo_dot_general", "rhs", rhs.shape, f"dimension {b} of size {lhs.shape[a]}"
            )
    numbers = (lc, rc), (lb, rb)
    if isinstance(lhs, SparseOperand):
        return lhs._dot(rhs, numbers, preferred_element_type)
    if not isinstance(rhs, SparseOperand):
        return lax.dot_general(lhs, rhs, numbers, precision=precision)
    lhs = snp.asarray(lhs)
    out = rhs._dot(lhs, ((rc, lc), (rb, lb)), preferred_element_type)
    n, free = len(lb), lhs.ndim - len(lb) - len(lc)  # of the dense operand, which comes first
    order = [*range(n), *range(out.ndim - free, out.ndim), *range(n, out.ndim - free)]
    return out if order == sorted(order) else snp.transpose(out, order)


def contract(lhs: Any, rhs: Any, numbers: Numbers, preferred: Any = None) -> Any:
    """Compute the product of a sparse array and a dense or sparse one, where both fit."""
    (lc, rc), (lb, rb) = numbers
    out = _by_rows(lhs, rhs, lc, rc, lb)
    if out is None:
        if isinstance(rhs, SparseOperand):
            out = _sparse_sparse(_flat(lhs), _flat(rhs), lc, rc, lb, rb)
        else:
            out = _sparse_dense(_flat(lhs), snp.asarray(rhs), lc, rc, lb, rb)
    return out if preferred is None else out.astype(preferred)


def product_aval(lhs: Any, shape: Any, rhs: Any, numbers: Numbers, preferred: Any) -> Any:
    """Return the type of the product of a sparse array of type and shape `lhs` and `shape`, and a dense one."""
    (lc, rc), (lb, rb) = numbers
    others = [rhs.shape[d] for d in free(rhs.ndim, rc, rb)]
    kept = [shape[d] for d in (*lb, *free(len(shape), lc, lb))]
    dtype = snp.result_type(lhs.dtype, rhs.dtype) if preferred is None else np.dtype(preferred)
    return intern_aval((*kept, *others), dtype)


def _flat(m: Any) -> Any:
    """Return the array as a BCOO with sparse dimensions only."""
    return m._bcoo().update_layout(n_batch=0, n_dense=0)


def free(ndim: int, *used: Sequence[int]) -> list[int]:
    taken = {d for part in used for d in part}
    return [d for d in range(ndim) if d not in taken]


def _fits_int32(shape: Sequence[Any]) -> bool:
    """Tell whether all sizes are known, positive, and fit 32-bit integers."""
    return all(isinstance(d, int) and 0 < d < 2**31 for d in shape)


def _by_rows(lhs: Any, rhs: Any, lc: Sequence, rc: Sequence, lb: Sequence) -> Array | None:
    """Multiply a matrix whose rows are in order by a dense array; None for other operands."""
    if (
        isinstance(rhs, SparseOperand)
        or not isinstance(lhs, SparseOperand)
        or tuple(lc) != (1,)
        or lb
    ):
        return None
    rhs = snp.asarray(rhs)
    ordered = lhs._compressed_rows()
    if ordered is None or not lhs.nse or not rhs.size or not _fits_int32(lhs.shape):
        return None
    data, indptr, indices = ordered
    dtype = snp.result_type(data, rhs)
    if dtype == np.bool_:
        counts = _by_rows(lhs._with_data(data.astype(np.int32)), rhs, lc, rc, lb)
        return None if counts is None else counts > 0
    if rhs.ndim == 1:
        rows = lhs._row_indices()
        counted = getattr(lhs, "indptr", None) is not None
        operands = (data.astype(dtype), rows, indices, indptr, rhs.astype(dtype))
        return vector_product(*operands, counted=counted)
    others = [n for i, n in enumerate(rhs.shape) if i != rc[0]]
    flat = snp.moveaxis(rhs, rc[0], 0).reshape(rhs.shape[rc[0]], -1).astype(dtype)
    inside = (indices >= 0) & (indices < lhs.shape[1])
    data = snp.where(inside, data, 0).astype(dtype)
    return rows_product(data, indptr, indices, flat).reshape(lhs.shape[0], *others)


def _sparse_dense(
    lhs: Any, rhs: Any, lc: Sequence, rc: Sequence, lb: Sequence, rb: Sequence
) -> Array:
    """Gather for each element the row of `rhs` that it multiplies, and add it to its row of the result."""
    lf, rf = free(lhs.ndim, lc, lb), free(rhs.ndim, rc, rb)
    columns = columns_of(lhs.indices)
    dtype = snp.result_type(lhs.data, rhs)
    rows = snp.transpose(rhs, (*rb, *rc, *rf)).astype(dtype)
    at = tuple([columns[d] for d in (*lb, *lc)])
    trailing = tuple([rhs.shape[d] for d in rf])
    # padding multiplies any row by zero: reads that need no check of bounds are ten times as fast
    inside = lie_within(lhs.indices, lhs.shape)
    data = snp.where(inside, lhs.data, 0).astype(dtype)
    found = rows.at[at].get(mode="clip") if at else snp.broadcast_to(rows, (lhs.nse, *trailing))
    values = data.reshape(-1, *[1] * len(rf)) * found
    kept = (*lb, *lf)
    sizes = tuple([lhs.shape[d] for d in kept])
    if not kept:
        return snp.sum(values, 0)
    count = math.prod(sizes)
    if lhs.indices_sorted and list(kept) == list(range(len(kept))) and _fits_int32([count]):
        number: Any = 0
        for d in kept:
            number = number * lhs.shape[d] + columns[d]
        ordered = snp.where(inside, number, count)
        total = segment_sum(values, ordered, count, indices_are_sorted=True)
        return total.reshape(*sizes, *trailing)
    target = tuple([columns[d] for d in kept])
    return snp.zeros((*sizes, *trailing), dtype).at[target].add(values, mode="drop")


def _sparse_sparse(
    lhs: Any, rhs: Any, lc: Sequence, rc: Sequence, lb: Sequence, rb: Sequence
) -> Any:
    """Multiply each pair of elements whose indices meet."""
    lf, rf = free(lhs.ndim, lc, lb), free(rhs.ndim, rc, rb)
    inside = [lie_within(m.indices, m.shape) for m in (lhs, rhs)]
    meet = inside[0][:, None] & inside[1][None]
    for a, b in zip((*lc, *lb), (*rc, *rb), strict=True):
        meet &= lhs.indices[:, a, None] == rhs.indices[None, :, b]
    data = snp.where(meet, lhs.data[:, None] * rhs.data[None], 0).ravel()
    shape = (*(lhs.shape[d] for d in (*lb, *lf)), *(rhs.shape[d] for d in rf))
    columns = [snp.broadcast_to(lhs.indices[:, d, None], meet.shape) for d in (*lb, *lf)]
    columns += [snp.broadcast_to(rhs.indices[None, :, d], meet.shape) for d in rf]
    rows = [snp.where(meet, c, n).ravel() for c, n in zip(columns, shape, strict=True)]
    indices = snp.stack(rows, -1) if rows else snp.zeros((data.shape[0], 0), lhs.indices.dtype)
    product = type(lhs)((data, indices), shape=shape)
    fewest = min(product.nse, math.prod(shape))
    return (
        product.sum_duplicates(fewest, remove_zeros=False)
        if fewest < product.nse and rows
        else product
    )


def matmul(a: Any, b: Any) -> Any:
    """Multiply matrices, as `@`; leading dimensions are batches."""
    a, b = [x if isinstance(x, SparseOperand) else snp.asarray(x) for x in (a, b)]
    if a.ndim == 0 or b.ndim == 0:
        raise wrong("matmul", "operands", (a.shape, b.shape), "arrays of at least one dimension")
    batch = min(max(a.ndim - 2, 0), max(b.ndim - 2, 0))
    if a.shape[: a.ndim - 2][-batch or a.ndim :] != b.shape[: b.ndim - 2][-batch or b.ndim :]:
        raise wrong("matmul", "operands", (a.shape, b.shape), "equal batch dimensions")
    first_a, first_b = max(a.ndim - 2, 0) - batch, max(b.ndim - 2, 0) - batch
    of_batch = (range(first_a, first_a + batch), range(first_b, first_b + batch))
    contract = ((a.ndim - 1,), (max(b.ndim - 2, 0),))
    numbers: Any = (contract, tuple(map(tuple, of_batch)))
    out = bcoo_dot_general(a, b, dimension_numbers=numbers)
    if first_b and b.ndim > 2:  # the result has batch, free of a, leading of b, columns of b
        n = batch + (a.ndim - batch - 1)
        order = [*range(n, n + first_b), *range(n), *range(n + first_b, out.ndim)]
        return out.transpose(tuple(order))
    if first_a and batch:
        order = [*range(batch, batch + first_a), *range(batch), *range(batch + first_a, out.ndim)]
        return out.transpose(tuple(order))
    return out


def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Numbers) -> Array:
    """Compute elements of `lax.dot_general(A, B)` at `indices`, one row of them for each.

    >>> a = snp.arange(4.0).reshape(2, 2)
    >>> numbers = (((1,), (0,)), ((), ()))
    >>> sparse.bcoo_dot_general_sampled(a, a, snp.array([[1, 1]]), dimension_numbers=numbers).tolist()
    [11.0]
    """
    pairs: Any = tuple(tuple(map(tuple, pair)) for pair in dimension_numbers)
    operands = map(snp.asarray, (A, B, indices))
    return bcoo_dot_general_sampled_p.bind(*operands, dimension_numbers=pairs)


bcoo_dot_general_sampled_p = sparse_primitive("bcoo_dot_general_sampled", 0, 1)


@typed(bcoo_dot_general_sampled_p)
def _(A: Any, B: Any, indices: Any, *, dimension_numbers: Numbers) -> Any:
    (lc, rc), (lb, rb) = dimension_numbers
    sizes = [A.shape[d] for d in (*lb, *free(A.ndim, lc, lb))]
    sizes += [B.shape[d] for d in free(B.ndim, rc, rb)]
    rest = sizes[indices.ndim - 2 + indices.shape[-1] :]
    return intern_aval((*indices.shape[:-1], *rest), snp.result_type(A.dtype, B.dtype))


@bcoo_dot_general_sampled_p.composite
def _(A: Any, B: Any, indices: Any, *, dimension_numbers: Numbers) -> Any:
    (lc, rc), (lb, rb) = dimension_numbers
    lf, rf = free(A.ndim, lc, lb), free(B.ndim, rc, rb)
    n_batch, n = indices.ndim - 2, indices.shape[-2]
    sizes = [*(A.shape[d] for d in (*lb, *lf)), *(B.shape[d] for d in rf)]
    columns = [
        lax.broadcasted_iota(indices.dtype, indices.shape[:-1], d).ravel() for d in range(n_batch)
    ]
    columns += [indices[..., i].ravel() for i in range(indices.shape[-1])]
    rest = sizes[len(columns) :]  # dense trailing dimensions of the result: compute all
    if rest:
        full = lax.dot_general(A, B, ((lc, rc), (lb, rb)))
        found = full.at[tuple(columns)].get(mode="fill", fill_value=0)
        return found.reshape(*indices.shape[:n_batch], n, *rest)
    left = snp.transpose(A, (*lb, *lf, *lc))
    right = snp.transpose(B, (*rb, *rf, *rc))
    b, f = len(lb), len(lf)
    rows = left.at[tuple(columns[: b + f])].get(mode="fill", fill_value=0)
    others = right.at[(*columns[:b], *columns[b + f :])].get(mode="fill", fill_value=0)
    count = columns[0].shape[0]
    found = snp.einsum("nk,nk->n", rows.reshape(count, -1), others.reshape(count, -1))
    return found.reshape(*indices.shape[:n_batch], n)


bcoo_dot_general_sampled_p.reference(numpy_rules.sampled)
bcoo_dot_general_sampled_p.samples = [
    Sample(
        f32(3, 2),
        f32(2, 4),
        np.array([[0, 1], [2, 3], [0, 1]], np.int32),
        dimension_numbers=(((1,), (0,)), ((), ())),
    ),
    Sample(
        f32(2, 3, 4),
        f32(2, 5, 4),
        np.array([[[0, 1], [2, 3]], [[1, 1], [0, 4]]], np.int32),
        dimension_numbers=(((2,), (2,)), ((0,), (0,))),
    ),
    Sample(
        f32(3, 2),
        f32(2, 4),
        np.array([[1], [2]], np.int32),
        dimension_numbers=(((1,), (0,)), ((), ())),
    ),
]
