"""Multiply a matrix whose rows are in order by a vector: on the CPU by windows, else by a sum over elements.

XLA's scatter takes several nanoseconds for each element. Windows of one width, one at the begin of each row, let XLA
read, multiply and add up in one kernel that computes with SIMD vectors. What longer rows hold beyond is added by
further windows, which do not run where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.experimental.sparse._reference as numpy_rules
import sagax.numpy as snp
from sagax._src import tuning
from sagax._src.core import dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.families import WHOLE
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.tangents import Zero, is_linear, is_zero
from sagax._src.core.value import aval_of
from sagax._src.higher_order.cond import cond
from sagax._src.primitives.gathering import GatherDimensionNumbers, GatherScatterMode, gather
from sagax._src.primitives.identities import optimization_barrier
from sagax._src.primitives.makers import add_tangents
from sagax.experimental.sparse._rows import row_sums_p
from sagax.numpy._indexing.update import IndexUpdateHelper as at

_LANES = 8  # partial sums of a window, so that additions need not wait for each other

vector_product_p = Primitive("sparse_vector_product", family=WHOLE)


@vector_product_p.abstract
def _(data: Any, rows: Any, columns: Any, starts: Any, x: Any, *, counted: bool) -> Any:
    return intern_aval((starts.shape[0] - 1,), data.dtype)


def _inside(columns: Any, x: Any) -> Any:
    return (columns >= 0) & (columns < aval_of(x).shape[0])


def _terms(data: Any, columns: Any, x: Any) -> Any:
    """Multiply elements by those of a vector; the product is 0 out of its bounds."""
    zero = np.zeros((), aval_of(data).dtype)
    return snp.where(_inside(columns, x), data * at(x)[columns].get(mode="clip"), zero)


@vector_product_p.composite
def _(data: Any, rows: Any, columns: Any, starts: Any, x: Any, *, counted: bool) -> Any:
    data, rows, columns, x = map(snp.asarray, (data, rows, columns, x))
    zero = np.zeros((), aval_of(data).dtype)
    values = snp.where(rows >= 0, _terms(data, columns, x), zero)
    return row_sums_p.bind(values, snp.maximum(rows, 0), count=aval_of(starts).shape[0] - 1)


@vector_product_p.transpose
def _(ct: Any, data: Any, rows: Any, columns: Any, starts: Any, x: Any, *, counted: bool) -> tuple:
    ct, rows, columns = map(snp.asarray, (ct, rows, columns))
    rows = snp.where(rows < 0, aval_of(ct).shape[0], rows)
    found = at(ct)[rows].get(mode="fill", fill_value=0)
    if is_linear(data):
        return _terms(found, columns, snp.asarray(x)), None, None, None, None
    size = x.aval.shape[0]
    columns = snp.where(columns < 0, size, columns)
    values = snp.asarray(data) * found
    total = at(snp.zeros(size, aval_of(values).dtype))[columns].add(values, mode="drop")
    return None, None, None, None, total


@vector_product_p.jvp
def _(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple:
    data, *places, x = primals
    out = vector_product_p.bind(*primals, **params)
    total: Any = Zero.like(aval_of(out))
    if not is_zero(tangents[0]):
        total = vector_product_p.bind(tangents[0], *places, x, **params)
    if not is_zero(tangents[4]):
        total = add_tangents(total, vector_product_p.bind(data, *places, tangents[4], **params))
    return out, total


def _width(n: int, count: int) -> int:
    """Return a width that holds a row of mean length, and of long ones those that are filled at random.

    Further windows cost as much as all elements, wider ones 5 / sqrt(mean) of it.
    """
    mean = n / count
    margin = 5 * math.sqrt(mean) if mean >= 25 else 0
    return _LANES * math.ceil((mean + margin) / _LANES)


def _by_windows(
    b: Any, data: Any, rows: Any, columns: Any, starts: Any, x: Any, *, counted: bool
) -> Any:
    n, count = data.aval.shape[0], starts.aval.shape[0] - 1
    if not (b.may_rewrite and isinstance(n, int) and isinstance(count, int)):
        return NotImplemented
    dtype = data.aval.dtype
    least = tuning.SPARSE_WINDOW_MIN_ELEMENTS[counted]
    if n < least * count or n < _width(n, count):
        return NotImplemented
    if n >= 2**30 or dtypes.itemsize_bits(dtype) < 8 or dtypes.kind(dtype) not in "iufc":
        return NotImplemented
    return b.inline_function(lambda *xs: [_sums(*xs)], [data, columns, starts, x])[0]


vector_product_p.lower_on["cpu"] = _by_windows


def _sums(data: Any, columns: Any, starts: Any, x: Any) -> Any:
    data, columns, starts, x = map(snp.asarray, (data, columns, starts, x))
    n, count = aval_of(data).shape[0], aval_of(starts).shape[0] - 1
    width = _width(n, count)
    # else XLA reads the columns again, with a stride, for each element
    columns, starts = optimization_barrier((columns, snp.clip(starts, 0, n).astype(np.int32)))
    begin, end = starts[:-1], starts[1:]
    total = _sums_of_windows(data, columns, x, begin, snp.minimum(end, begin + width), width)

    def add_further(total: Any) -> Any:
        more = snp.maximum((end - begin + (width - 1)) // width - 1, 0)
        ends = snp.cumsum(more)
        number = snp.arange(n // width, dtype=np.int32)
        row = snp.minimum(snp.searchsorted(ends, number, side="right"), count - 1)
        first = begin[row] + (number - ends[row] + more[row] + 1) * width
        last = snp.where(number < ends[-1], snp.minimum(end[row], first + width), first)
        found = _sums_of_windows(data, columns, x, first, last, width)
        return at(total)[row].add(found, indices_are_sorted=True)

    return cond(snp.max(end - begin) > width, add_further, lambda total: total, total)


def _sums_of_windows(data: Any, columns: Any, x: Any, begin: Any, end: Any, width: int) -> Any:
    """Add up the products of the elements from `begin` to `end`, at most `width` of them."""
    first = snp.clip(begin, 0, aval_of(data).shape[0] - width)
    position = snp.arange(width, dtype=np.int32)
    columns = _windows(columns, first, width)
    values = _terms(_windows(data, first, width), columns, x)
    read = (position >= (begin - first)[:, None]) & (position < (end - first)[:, None])
    dtype = aval_of(data).dtype
    values = snp.where(read, values, np.zeros((), dtype))
    lanes = values.reshape(-1, width // _LANES, _LANES).sum(1, dtype=dtype)
    return lanes.sum(1, dtype=dtype)


def _windows(x: Any, first: Any, width: int) -> Any:
    numbers = GatherDimensionNumbers((1,), (), (0,))
    mode = GatherScatterMode.PROMISE_IN_BOUNDS
    return gather(x, first[:, None], numbers, (width,), mode=mode)


vector_product_p.reference(numpy_rules.vector_product)
vector_product_p.samples = [
    Sample(
        f32(5),
        np.array([0, 0, 2, 2, 3], np.int32),
        np.array([1, 3, 0, 2, 4], np.int32),
        np.array([0, 2, 2, 4], np.int32),
        f32(4),
        counted=True,
    ),
    Sample(
        f32(600),
        np.repeat([0, 2], [500, 100]).astype(np.int32),
        (np.arange(600, dtype=np.int32) * 7) % 31,
        np.array([0, 500, 500, 600], np.int32),
        f32(30),
        counted=False,
    ),
]


def vector_product(
    data: Any, rows: Any, columns: Any, starts: Any, x: Any, *, counted: bool
) -> Any:
    """Multiply by a vector a matrix whose rows are in order.

    Row i holds the elements from `starts[i]` on, which are given if `counted`, and else found by a search that costs.
    `rows` are the rows of the elements. Elements out of bounds drop.
    """
    return vector_product_p.bind(data, rows, columns, starts, x, counted=counted)
