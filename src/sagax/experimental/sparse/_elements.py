"""Define the primitives of BCOO arrays: conversion, order and transposition of stored elements.

Operands are the arrays of a sparse array: `data` of shape (*batch, nse, *dense), `indices` of shape (*batch, nse,
n_sparse). Batch dimensions may have size 1. Each primitive is composed of other operations, which also batch and,
where no rule says more, differentiate it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import sagax.experimental.sparse._reference as numpy_rules
import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.api.vmap import vmap
from sagax._src.core import dtypes
from sagax._src.core.avals import ShapedArray, intern_aval
from sagax._src.core.families import WHOLE, Default
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.staging import stage
from sagax._src.core.tangents import Zero, is_zero
from sagax._src.core.value import aval_of
from sagax._src.primitives.makers import add_tangents
from sagax.experimental.sparse._operands import columns_of
from sagax.numpy._indexing.update import IndexUpdateHelper as at

SPARSE = WHOLE.but(
    "composed of operations on stored elements and indices",
    shard_rule=Default("its abstract rule sets the shardings of results"),
)


class SparseInfo(NamedTuple):
    """Describe a sparse array without its elements."""

    shape: tuple
    indices_sorted: bool = False
    unique_indices: bool = False

    @property
    def sharding(self) -> None:
        """The sharding of the whole array: none."""
        return None


class COOInfo(NamedTuple):
    """Describe a matrix by coordinates without its elements."""

    shape: tuple
    rows_sorted: bool = False
    cols_sorted: bool = False


def sparse_primitive(name: str, *linear: int, multiple_results: bool = False) -> Primitive:
    """Create a primitive that runs as its composite; it is linear in each of the operands `linear`."""
    p = Primitive(name, family=SPARSE, multiple_results=multiple_results)
    p.sets_sharding = True
    p.impl = lambda *args, **params: p.rule("composite")(*args, **params)  # one operation at a time
    p.show_rule = _shown
    if linear:
        p.jvp_rule = _jvp(p, linear)
    return p


def _shown(**params: Any) -> dict:
    """Return the parameters to print, with the names of fields."""
    described = (SparseInfo, COOInfo)
    return {k: repr(v) if isinstance(v, described) else v for k, v in params.items()}


def typed(p: Primitive) -> Callable[[Callable], Callable]:
    """Decorate the abstract rule of a primitive; operands with shardings have the types of its composite."""

    def define(rule: Callable) -> Callable:
        def abstract(*avals: Any, **params: Any) -> Any:
            if all(a.explicit_sharding is None for a in avals):
                return rule(*avals, **params)

            def run(*xs: Any) -> list:
                out = p.rule("composite")(*xs, **params)
                return list(out) if p.multiple_results else [out]

            outs = stage(run, list(avals))[0].out_avals
            return outs if p.multiple_results else outs[0]

        p.abstract_rule = abstract
        return rule

    return define


def _jvp(p: Primitive, linear: Sequence[int]) -> Callable:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
        outs = p.bind(*primals, **params)
        many = outs if p.multiple_results else [outs]
        total: list[Any] = [Zero.like(aval_of(o)) for o in many]
        for i in linear:
            if is_zero(tangents[i]):
                continue
            found = p.bind(*primals[:i], tangents[i], *primals[i + 1 :], **params)
            parts = found if p.multiple_results else [found]
            total = [
                add_tangents(t, x) if dtypes.is_inexact(aval_of(o).dtype) else t
                for o, t, x in zip(many, total, parts, strict=True)
            ]
        return outs, total if p.multiple_results else total[0]

    return rule


def batched(fun: Callable, n_batch: int, *args: Any) -> Any:
    """Map a function of one batch over all."""
    for _ in range(n_batch):
        fun = vmap(fun)
    return fun(*args)


def groups(indices: Any, shape: tuple) -> tuple[tuple, tuple, tuple]:
    """Return the sizes of batch, sparse and dense dimensions."""
    b = indices.ndim - 2
    s = b + indices.shape[-1]
    return shape[:b], shape[b:s], shape[s:]


def full(data: Any, indices: Any, shape: tuple) -> tuple[Any, Any]:
    """Return data and indices with batch dimensions of their full sizes."""
    batch, _, dense = groups(indices, shape)
    n, n_sparse = indices.shape[-2:]
    data = snp.broadcast_to(data, (*batch, n, *dense))
    return data, snp.broadcast_to(indices, (*batch, n, n_sparse))


def _full_avals(data: ShapedArray, indices: ShapedArray, shape: tuple, n: Any = None) -> list:
    """Return the types of `full`, for `n` elements of each batch."""
    batch, _, dense = groups(indices, shape)
    n = indices.shape[-2] if n is None else n
    return [
        intern_aval((*batch, n, *dense), data.dtype),
        intern_aval((*batch, n, indices.shape[-1]), indices.dtype),
    ]


def _columns(*rows: Sequence[int]) -> np.ndarray:
    return np.array(rows, np.int32)


_INFO = SparseInfo((3, 4))
_INDICES = _columns((0, 1), (2, 3), (1, 0), (2, 3), (3, 4))  # one twice, one out of bounds
_UNIQUE = _columns((1, 0), (0, 1), (2, 3))

# bcoo_fromdense --------------------------------------------------------------------------------------

bcoo_fromdense_p = sparse_primitive("bcoo_fromdense", multiple_results=True)


@typed(bcoo_fromdense_p)
def _(mat: ShapedArray, *, index_dtype: Any, n_batch: int, n_dense: int, nse: int) -> list:
    n_sparse = mat.ndim - n_batch - n_dense
    batch, dense = mat.shape[:n_batch], mat.shape[mat.ndim - n_dense :]
    return [
        intern_aval((*batch, nse, *dense), mat.dtype),
        intern_aval((*batch, nse, n_sparse), np.dtype(index_dtype)),
    ]


@bcoo_fromdense_p.composite
def _(mat: Any, *, index_dtype: Any, n_batch: int, n_dense: int, nse: int) -> list:
    mat = snp.asarray(mat)
    mask = snp.any(mat != 0, axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    sizes = mask.shape[n_batch:]

    def one(mask: Any) -> Any:
        if not sizes:
            return snp.zeros((nse, 0), index_dtype)
        found = snp.nonzero(mask, size=nse, fill_value=sizes)
        return snp.stack(found, -1).astype(index_dtype)

    indices = batched(one, n_batch, mask)
    return [bcoo_extract_p.bind(indices, mat, assume_unique=True), indices]


bcoo_fromdense_p.reference(numpy_rules.fromdense)
bcoo_fromdense_p.samples = [
    Sample(f32(3, 4), index_dtype=np.dtype(np.int32), n_batch=0, n_dense=0, nse=12),
    Sample(f32(2, 3, 2), index_dtype=np.dtype(np.int32), n_batch=1, n_dense=1, nse=3),
]

# bcoo_todense ----------------------------------------------------------------------------------------

bcoo_todense_p = sparse_primitive("bcoo_todense", 0)


@typed(bcoo_todense_p)
def _(data: ShapedArray, indices: ShapedArray, *, spinfo: SparseInfo) -> ShapedArray:
    return intern_aval(tuple(spinfo.shape), data.dtype)


@bcoo_todense_p.composite
def _(data: Any, indices: Any, *, spinfo: SparseInfo) -> Any:
    data, indices = snp.asarray(data), snp.asarray(indices)
    shape = tuple(spinfo.shape)
    _, sizes, dense = groups(indices, shape)

    def one(data: Any, indices: Any) -> Any:
        if not sizes:
            return snp.sum(data, 0)
        zeros = snp.zeros((*sizes, *dense), data.dtype)
        return at(zeros)[columns_of(indices)].add(data, mode="drop")

    return batched(one, indices.ndim - 2, *full(data, indices, shape))


bcoo_todense_p.reference(numpy_rules.todense)
bcoo_todense_p.samples = [
    Sample(f32(5), _INDICES, spinfo=_INFO),
    Sample(f32(5, 4), _INDICES[:, :1], spinfo=_INFO),
    Sample(f32(2, 5), _INDICES[None], spinfo=SparseInfo((2, 3, 4))),
]

# bcoo_extract ----------------------------------------------------------------------------------------

bcoo_extract_p = sparse_primitive("bcoo_extract", 1)


@typed(bcoo_extract_p)
def _(indices: ShapedArray, arr: ShapedArray, *, assume_unique: bool) -> ShapedArray:
    batch, _, dense = groups(indices, arr.shape)
    return intern_aval((*batch, indices.shape[-2], *dense), arr.dtype)


@bcoo_extract_p.composite
def _(indices: Any, arr: Any, *, assume_unique: bool) -> Any:
    indices, arr = snp.asarray(indices), snp.asarray(arr)
    n_batch = indices.ndim - 2
    indices = snp.broadcast_to(indices, (*arr.shape[:n_batch], *indices.shape[-2:]))

    def one(arr: Any, indices: Any) -> Any:
        if not indices.shape[-1]:
            first = snp.arange(indices.shape[0]) == 0
            return snp.where(first.reshape(-1, *[1] * arr.ndim), arr[None], 0)
        found = at(arr)[columns_of(indices)].get(mode="fill", fill_value=0)
        if assume_unique:
            return found
        order, new = groups_of(indices)
        first = at(snp.zeros(indices.shape[0], bool))[order].set(new)
        return snp.where(first.reshape(-1, *[1] * (found.ndim - 1)), found, 0)

    return batched(one, n_batch, arr, indices)


bcoo_extract_p.reference(numpy_rules.extract)
bcoo_extract_p.samples = [
    Sample(_UNIQUE, f32(3, 4), assume_unique=True),
    Sample(_INDICES, f32(3, 4), assume_unique=False),
    Sample(_UNIQUE[:, :1], f32(3, 4), assume_unique=True),
    Sample(_UNIQUE[None], f32(2, 3, 4), assume_unique=True),
]

# bcoo_sort_indices -----------------------------------------------------------------------------------

bcoo_sort_indices_p = sparse_primitive("bcoo_sort_indices", multiple_results=True)


@typed(bcoo_sort_indices_p)
def _(data: ShapedArray, indices: ShapedArray, *, spinfo: SparseInfo) -> list:
    return _full_avals(data, indices, tuple(spinfo.shape))


def _order(indices: Any) -> Any:
    """Return the order that sorts rows of indices."""
    n = indices.shape[0]
    columns = columns_of(indices)
    if not columns:
        return snp.arange(n)
    return lax.sort((*columns, snp.arange(n)), num_keys=len(columns))[-1]


def groups_of(indices: Any) -> tuple[Any, Any]:
    """Return the order that sorts indices, and marks of the first of equal ones in that order."""
    order = _order(indices)
    rows = indices[order]
    return order, snp.concatenate([snp.ones(1, bool), snp.any(rows[1:] != rows[:-1], -1)])


@bcoo_sort_indices_p.composite
def _(data: Any, indices: Any, *, spinfo: SparseInfo) -> list:
    def one(data: Any, indices: Any) -> Any:
        order = _order(indices)
        return data[order], indices[order]

    data, indices = full(snp.asarray(data), snp.asarray(indices), tuple(spinfo.shape))
    return list(batched(one, indices.ndim - 2, data, indices))


bcoo_sort_indices_p.reference(numpy_rules.sort_indices)
bcoo_sort_indices_p.samples = [
    Sample(f32(5), _INDICES, spinfo=_INFO),
    Sample(f32(2, 3, 4), _UNIQUE[None, :, :1], spinfo=SparseInfo((2, 3, 4))),
]

# bcoo_sum_duplicates ---------------------------------------------------------------------------------

bcoo_sum_duplicates_p = sparse_primitive("bcoo_sum_duplicates", multiple_results=True)


@typed(bcoo_sum_duplicates_p)
def _(data: ShapedArray, indices: ShapedArray, *, nse: int | None, spinfo: SparseInfo) -> list:
    return _full_avals(data, indices, tuple(spinfo.shape), nse)


@bcoo_sum_duplicates_p.composite
def _(data: Any, indices: Any, *, nse: int | None, spinfo: SparseInfo) -> list:
    shape = tuple(spinfo.shape)
    data, indices = full(snp.asarray(data), snp.asarray(indices), shape)
    sizes, count = groups(indices, shape)[1], indices.shape[-2] if nse is None else nse
    limit = snp.array(sizes, indices.dtype)

    def one(data: Any, indices: Any) -> Any:
        inside = snp.all(indices < limit[None], -1) & snp.all(indices >= 0, -1)
        indices = snp.where(inside[:, None], indices, limit)
        order, new = groups_of(indices)
        rows, kept = indices[order], inside[order]
        target = snp.where(kept, snp.cumsum(new) - 1, count)
        wide = kept.reshape(-1, *[1] * (data.ndim - 1))
        values = snp.zeros((count, *data.shape[1:]), data.dtype)
        values = at(values)[target].add(snp.where(wide, data[order], 0), mode="drop")
        whole = snp.broadcast_to(limit, (count, len(sizes)))
        return values, at(whole)[target].set(rows, mode="drop")

    if not indices.shape[-2]:
        missing = [(0, 0)] * (indices.ndim - 2) + [(0, count), (0, 0)]
        padded = snp.pad(indices, missing)
        values = snp.zeros(
            (*indices.shape[:-2], count, *data.shape[indices.ndim - 1 :]), data.dtype
        )
        return [values, snp.broadcast_to(limit, padded.shape)]
    return list(batched(one, indices.ndim - 2, data, indices))


bcoo_sum_duplicates_p.reference(numpy_rules.sum_duplicates)
bcoo_sum_duplicates_p.samples = [
    Sample(f32(5), _INDICES, nse=4, spinfo=_INFO),
    Sample(f32(5, 4), _INDICES[:, :1], nse=2, spinfo=_INFO),
    Sample(f32(2, 5), _INDICES[None], nse=None, spinfo=SparseInfo((2, 3, 4))),
]

# bcoo_transpose --------------------------------------------------------------------------------------

bcoo_transpose_p = sparse_primitive("bcoo_transpose", 0, multiple_results=True)


def _permutations(indices: Any, permutation: Sequence[int]) -> tuple[tuple, list]:
    """Return the permutation of the dimensions of data, and that of the columns of indices."""
    b = indices.ndim - 2
    s = b + indices.shape[-1]
    batch, sparse, dense = permutation[:b], permutation[b:s], permutation[s:]
    moved = (*batch, b, *[d - indices.shape[-1] + 1 for d in dense])
    return moved, [d - b for d in sparse]


@typed(bcoo_transpose_p)
def _(data: ShapedArray, indices: ShapedArray, *, permutation: tuple, spinfo: SparseInfo) -> list:
    moved, _ = _permutations(indices, permutation)
    b = indices.ndim - 2
    rows = tuple([indices.shape[d] for d in (*moved[:b], b, b + 1)])
    return [
        data.update(shape=tuple([data.shape[d] for d in moved])),
        indices.update(shape=rows),
    ]


@bcoo_transpose_p.composite
def _(data: Any, indices: Any, *, permutation: tuple, spinfo: SparseInfo) -> list:
    data, indices = snp.asarray(data), snp.asarray(indices)
    moved, columns = _permutations(indices, permutation)
    b = indices.ndim - 2
    # size-1 batch dimensions of data or indices are permuted as they are
    rows = snp.transpose(indices, (*moved[:b], b, b + 1))[..., columns]
    return [snp.transpose(data, moved), rows]


bcoo_transpose_p.reference(numpy_rules.transpose)
bcoo_transpose_p.samples = [
    Sample(f32(5), _INDICES, permutation=(1, 0), spinfo=_INFO),
    Sample(f32(5, 4, 2), _INDICES[:, :1], permutation=(0, 2, 1), spinfo=SparseInfo((3, 4, 2))),
]


def count_unique(indices: np.ndarray, sizes: tuple) -> int:
    """Return the most different indices within bounds that a batch has."""
    counts = [0]
    if not sizes:
        return min(1, indices.shape[-2])
    for rows in indices.reshape((-1, *indices.shape[-2:])):
        inside = ((rows >= 0) & (rows < np.array(sizes))).all(-1)
        counts.append(len(np.unique(rows[inside], axis=0)))
    return max(counts)
