"""Compute with sparse arrays by NumPy, element by element: the expected values of the primitives in tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def _batches(data: np.ndarray, indices: np.ndarray, shape: Sequence[int]) -> Iterator[tuple]:
    """Yield each batch: its position, its elements and their indices."""
    b = indices.ndim - 2
    batch = tuple(shape[:b])
    data = np.broadcast_to(data, (*batch, *data.shape[b:]))
    indices = np.broadcast_to(indices, (*batch, *indices.shape[b:]))
    for at in np.ndindex(*batch):
        yield at, data[at], indices[at]


def _inside(row: Any, sizes: Sequence[int]) -> bool:
    return all(0 <= i < n for i, n in zip(row, sizes, strict=True))


def _sizes(indices: np.ndarray, shape: Sequence[int]) -> tuple:
    b = indices.ndim - 2
    return tuple(shape[b : b + indices.shape[-1]])


def todense(data: np.ndarray, indices: np.ndarray, *, spinfo: Any) -> np.ndarray:
    out, sizes = np.zeros(spinfo.shape, data.dtype), _sizes(indices, spinfo.shape)
    for at, values, rows in _batches(data, indices, spinfo.shape):
        for value, row in zip(values, rows, strict=True):
            if _inside(row, sizes):
                out[(*at, *row)] += value
    return out


def fromdense(mat: np.ndarray, *, index_dtype: Any, n_batch: int, n_dense: int, nse: int) -> list:
    batch, end = mat.shape[:n_batch], mat.ndim - n_dense
    sizes, dense = mat.shape[n_batch:end], mat.shape[end:]
    data = np.zeros((*batch, nse, *dense), mat.dtype)
    indices = np.full((*batch, nse, len(sizes)), sizes, index_dtype)
    for at in np.ndindex(*batch):
        rows = [row for row in np.ndindex(*sizes) if np.any(mat[(*at, *row)])]
        for k, row in enumerate(rows[:nse]):
            data[(*at, k)], indices[(*at, k)] = mat[(*at, *row)], row
    return [data, indices]


def extract(indices: np.ndarray, arr: np.ndarray, *, assume_unique: bool) -> np.ndarray:
    b, s = indices.ndim - 2, indices.ndim - 2 + indices.shape[-1]
    out = np.zeros((*arr.shape[:b], indices.shape[-2], *arr.shape[s:]), arr.dtype)
    for at, _, rows in _batches(out, indices, arr.shape):
        seen: set = set()
        for k, row in enumerate(map(tuple, rows)):
            if _inside(row, arr.shape[b:s]) and (assume_unique or row not in seen):
                out[(*at, k)] = arr[(*at, *row)]
            seen.add(row)
    return out


def sort_indices(data: np.ndarray, indices: np.ndarray, *, spinfo: Any) -> list:
    found = [
        (values[order], rows[order])
        for _, values, rows in _batches(data, indices, spinfo.shape)
        for order in [sorted(range(len(rows)), key=lambda k, rows=rows: tuple(rows[k]))]
    ]
    return _stacked(found, indices, spinfo.shape)


def _stacked(found: list, indices: np.ndarray, shape: Sequence[int]) -> list:
    batch = tuple(shape[: indices.ndim - 2])
    return [np.stack(x).reshape(*batch, *x[0].shape) for x in zip(*found, strict=True)]


def sum_duplicates(data: np.ndarray, indices: np.ndarray, *, nse: int | None, spinfo: Any) -> list:
    sizes, found = _sizes(indices, spinfo.shape), []
    for _, values, rows in _batches(data, indices, spinfo.shape):
        sums: dict[tuple, Any] = {}
        for value, row in zip(values, map(tuple, rows), strict=True):
            if _inside(row, sizes):
                sums[row] = sums.get(row, 0) + value
        n = len(rows) if nse is None else nse
        total = np.zeros((n, *values.shape[1:]), data.dtype)
        places = np.full((n, len(sizes)), sizes, indices.dtype)
        for k, row in enumerate(sorted(sums)[:n]):
            total[k], places[k] = sums[row], row
        found.append((total, places))
    return _stacked(found, indices, spinfo.shape)


def transpose(data: np.ndarray, indices: np.ndarray, *, permutation: tuple, spinfo: Any) -> list:
    b, n = indices.ndim - 2, indices.shape[-1]
    batch, sparse, dense = permutation[:b], permutation[b : b + n], permutation[b + n :]
    moved = np.transpose(data, (*batch, b, *[d - n + 1 for d in dense]))
    rows = np.transpose(indices, (*batch, b, b + 1))
    return [moved, np.stack([rows[..., d - b] for d in sparse], -1)]


def dot(a: np.ndarray, b: np.ndarray, numbers: Any, dtype: Any = None) -> np.ndarray:
    """Contract two dense arrays, with the numbers of `lax.dot_general`."""
    (lc, rc), (lb, rb) = numbers
    left, right = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for i, j in zip((*lc, *lb), (*rc, *rb), strict=True):
        right[j] = left[i]
    free = [d for k, d in enumerate(left) if k not in (*lc, *lb)]
    free += [d for k, d in enumerate(right) if k not in (*rc, *rb)]
    found = np.einsum(a, left, b, right, [*[left[i] for i in lb], *free])
    return found if dtype is None else found.astype(dtype)


def dot_general(
    lhs_data: np.ndarray,
    lhs_indices: np.ndarray,
    rhs: np.ndarray,
    *,
    dimension_numbers: Any,
    lhs_spinfo: Any,
    preferred_element_type: Any,
) -> np.ndarray:
    lhs = todense(lhs_data, lhs_indices, spinfo=lhs_spinfo)
    return dot(lhs, rhs, dimension_numbers, preferred_element_type)


def spdot_general(
    lhs_data: np.ndarray,
    lhs_indices: np.ndarray,
    rhs_data: np.ndarray,
    rhs_indices: np.ndarray,
    *,
    dimension_numbers: Any,
    lhs_spinfo: Any,
    preferred_element_type: Any,
    rhs_spinfo: Any,
) -> list:
    """Multiply arrays of sparse dimensions only."""
    (lc, rc), (lb, rb) = dimension_numbers
    mine = [*lb, *[d for d in range(len(lhs_spinfo.shape)) if d not in (*lc, *lb)]]
    theirs = [d for d in range(len(rhs_spinfo.shape)) if d not in (*rc, *rb)]
    shape = [*[lhs_spinfo.shape[d] for d in mine], *[rhs_spinfo.shape[d] for d in theirs]]
    data, rows = [], []
    pairs = itertools.product(zip(lhs_data, lhs_indices), zip(rhs_data, rhs_indices))
    for (x, i), (y, j) in pairs:
        meet = _inside(i, lhs_spinfo.shape) and _inside(j, rhs_spinfo.shape)
        meet = meet and all(i[a] == j[b] for a, b in zip((*lc, *lb), (*rc, *rb), strict=True))
        data.append(x * y if meet else 0 * x * y)
        rows.append([*[i[d] for d in mine], *[j[d] for d in theirs]] if meet else shape)
    values, places = np.array(data), np.array(rows, lhs_indices.dtype)
    if preferred_element_type is not None:
        values = values.astype(preferred_element_type)
    fewest = min(len(values), math.prod(shape))
    if fewest == len(values):
        return [values, places]
    return sum_duplicates(values, places, nse=fewest, spinfo=lhs_spinfo._replace(shape=shape))


def sampled(
    A: np.ndarray, B: np.ndarray, indices: np.ndarray, *, dimension_numbers: Any
) -> np.ndarray:
    full = dot(A, B, dimension_numbers)
    return extract(indices, full, assume_unique=True)


# Compressed rows: as coordinates ----------------------------------------------------------------------


def coordinates(indices: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Return the coordinates of elements by compressed rows, for one or several batches."""
    if indptr.ndim > 1:
        return np.stack([coordinates(i, p) for i, p in zip(indices, indptr, strict=True)])
    rows = np.full(len(indices), len(indptr) - 1, indices.dtype)
    for k in range(len(indptr) - 1):
        rows[indptr[k] : indptr[k + 1]] = k
    return np.stack([rows, indices], -1)


def compressed(data: np.ndarray, indices: np.ndarray, rows: int) -> list:
    """Return sorted coordinates by compressed rows."""
    counts = np.arange(rows + 1)[:, None] > indices[..., None, :, 0]
    return [data, indices[..., 1], counts.sum(-1).astype(indices.dtype)]


def rows_product(
    data: np.ndarray, indptr: np.ndarray, indices: np.ndarray, x: np.ndarray
) -> np.ndarray:
    out = np.zeros((len(indptr) - 1, x.shape[1]), data.dtype)
    for value, (row, column) in zip(data, coordinates(indices, indptr), strict=True):
        out[row] += value * x[column]
    return out


def row_sums(values: np.ndarray, rows: np.ndarray, *, count: int) -> np.ndarray:
    out = np.zeros((count, *values.shape[1:]), values.dtype)
    for value, row in zip(values, rows, strict=True):
        if row < count:
            out[row] += value
    return out


def vector_product(
    data: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    x: np.ndarray,
    *,
    counted: bool,
) -> np.ndarray:
    out = np.zeros(len(starts) - 1, data.dtype)
    for value, row, column in zip(data, rows, columns, strict=True):
        if row < len(out) and column < len(x):
            out[row] += value * x[column]
    return out
