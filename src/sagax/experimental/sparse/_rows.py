"""Multiply compressed rows by a dense matrix: on the CPU by jaxlib's native function, else by gathers.

The native function reads each stored element once, and the rows of the dense matrix without copies. It is fast from
eight columns on, so narrower matrices are padded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.experimental.sparse._reference as numpy_rules
import sagax.numpy as snp
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import WHOLE
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.makers import add_tangents
from sagax._src.primitives.structural import linear_rules
from sagax.experimental.sparse._operands import rows_of
from sagax.numpy._indexing.update import IndexUpdateHelper as at

_COLUMNS = 8
_NATIVE = frozenset({"float32", "float64", "complex64", "complex128", "int32", "int64"})
TARGET = "cpu_csr_sparse_dense_ffi"

rows_product_p = Primitive("rows_product", family=WHOLE)


@rows_product_p.abstract
def _(data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    return intern_aval((indptr.shape[0] - 1, x.shape[1]), data.dtype)


@rows_product_p.composite
def _(data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    data, indptr, x = map(snp.asarray, (data, indptr, x))
    values = data[:, None] * at(x)[indices].get(mode="clip")
    rows = rows_of(indptr, aval_of(data).shape[0])
    return row_sums_p.bind(values, rows, count=aval_of(indptr).shape[0] - 1)


@rows_product_p.transpose
def _(ct: Any, data: Any, indptr: Any, indices: Any, x: Any) -> tuple:
    ct, indptr = snp.asarray(ct), snp.asarray(indptr)
    rows = rows_of(indptr, (data.aval if is_linear(data) else aval_of(data)).shape[0])
    if is_linear(data):
        found = at(ct)[rows].get(mode="fill", fill_value=0) * at(snp.asarray(x))[indices].get(
            mode="clip"
        )
        return found.sum(-1), None, None, None
    values = snp.asarray(data)[:, None] * at(ct)[rows].get(mode="fill", fill_value=0)
    shape, dtype = x.aval.shape, aval_of(values).dtype
    return None, None, None, at(snp.zeros(shape, dtype))[indices].add(values, mode="drop")


@rows_product_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple:
    data, indptr, indices, x = primals
    out = rows_product_p.bind(*primals)
    total: Any = Zero.like(aval_of(out))
    if not is_zero(tangents[0]):
        total = rows_product_p.bind(tangents[0], indptr, indices, x)
    if not is_zero(tangents[3]):
        total = add_tangents(total, rows_product_p.bind(data, indptr, indices, tangents[3]))
    return out, total


def _native(b: Any, data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    module = b.module
    if str(data.aval.dtype) not in _NATIVE or len(module.devices) > 1 or module.lasting:
        return NotImplemented
    width, missing = x.aval.shape[1], _COLUMNS - x.aval.shape[1]
    padded = b.out
    if missing > 0:
        zero = b.constant(0, x.aval.dtype)
        wide = x.aval.update(shape=(x.aval.shape[0], _COLUMNS))
        edges = {"edge_padding_low": b.ints((0, 0)), "edge_padding_high": b.ints((0, missing))}
        x = b.op("pad", [x, zero], wide, interior_padding=b.ints((0, 0)), **edges)
        padded = b.out.update(shape=(b.out.shape[0], _COLUMNS))
    found = b.custom_call(
        TARGET, [data, indptr, indices, x], [padded], api_version="4 : i32", backend_config="{}"
    )[0]
    if missing <= 0:
        return found
    limits = b.ints((padded.shape[0], width))
    starts, steps = b.ints((0, 0)), b.ints((1, 1))
    return b.op("slice", [found], b.out, start_indices=starts, limit_indices=limits, strides=steps)


rows_product_p.lower_on["cpu"] = _native


rows_product_p.reference(numpy_rules.rows_product)
rows_product_p.samples = [
    Sample(f32(5), np.array([0, 2, 3, 5], np.int32), np.array([1, 3, 0, 2, 2], np.int32), f32(4, 2))
]


def rows_product(data: Any, indptr: Any, indices: Any, x: Any) -> Any:
    """Multiply compressed rows by a matrix. Elements out of bounds must be 0 already."""
    # the native function does not look whether indices are within bounds
    inside = snp.clip(indices.astype(np.int32), 0, max(x.shape[0] - 1, 0))
    bounded = snp.clip(indptr.astype(np.int32), 0, data.shape[0])
    return rows_product_p.bind(data, bounded, inside, x)


# Sums of rows --------------------------------------------------------------------------------------------

row_sums_p = Primitive("row_sums", family=WHOLE, multilinear=True)
linear_rules(row_sums_p)


@row_sums_p.abstract
def _(values: Any, rows: Any, *, count: int) -> Any:
    return intern_aval((count, *values.shape[1:]), values.dtype)


@row_sums_p.transpose
def _(ct: Any, values: Any, rows: Any, *, count: int) -> tuple:
    return at(snp.asarray(ct))[rows].get(mode="fill", fill_value=0), None


def _elements_of_a_block(n: int, count: int) -> int:
    """Return how many elements are added up first, a power of two.

    Larger blocks leave fewer sums to add to the rows; smaller ones leave fewer elements beside the ends of rows. Of
    16, 32 and 64 this is the quickest for a million elements in 1 to 30,000 rows (benchmark `sparse-vector`).
    """
    return 2 ** min(max(round(math.log2(1.6 * math.sqrt(n / max(count, 1)) + 1)), 4), 6)


@row_sums_p.composite
def _(values: Any, rows: Any, *, count: int) -> Any:
    """Add up blocks of elements first: XLA's scatter takes several nanoseconds for each element."""
    values, rows = snp.asarray(values), snp.asarray(rows)
    n, rest = aval_of(values).shape[0], aval_of(values).shape[1:]
    dtype = aval_of(values).dtype
    total = snp.zeros((count, *rest), dtype)
    known = isinstance(n, int) and isinstance(count, int)  # not symbolic
    size = _elements_of_a_block(n, count) if known else 1
    blocks = n // size
    if not known or blocks <= 2 * count:
        return at(total)[rows].add(values, mode="drop", indices_are_sorted=True)
    whole = blocks * size
    cut, row = values[:whole].reshape(blocks, size, *rest), rows[:whole].reshape(blocks, size)
    # barriers: XLA would compute the operands of a scatter anew for each of its elements
    first, last = optimization_barrier((row[:, 0], row[:, -1]))
    sums, of_block = optimization_barrier(
        (cut.sum(1, dtype=dtype), snp.where(first == last, first, count))
    )
    total = at(total)[of_block].add(sums, mode="drop")
    # blocks of several rows: those in which a row begins, or what is dropped, each of them once
    block = snp.searchsorted(first, snp.arange(1, count + 1, dtype=first.dtype)) - 1
    fresh = snp.append(snp.ones(1, bool), block[1:] != block[:-1])
    block = snp.maximum(block, 0)
    fresh = fresh & (at(first)[block].get(mode="clip") != at(last)[block].get(mode="clip"))
    their_rows = snp.where(fresh[:, None], at(row)[block].get(mode="clip"), count)
    parts = at(cut)[block].get(mode="clip")
    their_rows, parts = optimization_barrier((their_rows, parts))
    total = at(total)[their_rows.ravel()].add(parts.reshape(-1, *rest), mode="drop")
    return at(total)[rows[whole:]].add(values[whole:], mode="drop")


row_sums_p.reference(numpy_rules.row_sums)
row_sums_p.samples = [
    Sample(f32(5), np.array([0, 0, 1, 2, 2], np.int32), count=3),
    Sample(f32(5, 2), np.array([0, 1, 1, 1, 3], np.int32), count=3),
    Sample(f32(400), np.arange(400, dtype=np.int32) // 150, count=3),
]
