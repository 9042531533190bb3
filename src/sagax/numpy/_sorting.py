"""Sort, rank and search: sort, argsort, partition, top elements, searchsorted.

NaN comes after all numbers; complex numbers are ordered by real parts, equal ones by imaginary parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy._base as _base
import sagax.numpy._logic as _logic
from sagax._src import config, tuning
from sagax._src.argument_checks import checks
from sagax._src.core import dims, dtype_predicates, dtypes
from sagax._src.core.avals import intern_aval
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives import arithmetic, comparison, identities, shaping, sorting, structural
from sagax._src.primitives.bitwise import bitwise_and, bitwise_not, bitwise_or
from sagax._src.primitives.complex_numbers import imag, real
from sagax._src.primitives.reductions import reduce_sum_p
from sagax._src.primitives.selection import select_n
from sagax._src.primitives.slicing import slice_in_dim
from sagax._src.primitives.sorting import sort_p
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import UnsupportedArgumentError, one_axis, static_int, with_aval
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._indexing import getitem
from sagax.numpy._shaping import ravel

_thread = config.thread


def _integer() -> Any:
    """Return the dtype of indices."""
    return dtypes.default_int(_thread.settings.x64)


def _index_dtype_for(size: Any) -> Any:
    """Return the dtype of an index among `size` elements: of 32 bits if that is enough."""
    few = dims.is_dim(size) or size <= np.iinfo(np.int32).max
    return dtypes.int32 if few else _integer()


def _along(function: str, a: Any, axis: Any) -> tuple[Any, int]:
    """Return `a` and the axis to work along: flattened where that is None."""
    a, aval = with_aval(function, a)
    if axis is None:
        return ravel(a), 0
    return a, one_axis(function, axis, aval.ndim)


def _refuse_numpys(function: str, kind: Any, order: Any) -> None:
    if kind is not None:
        raise ArgumentError(
            f"'kind' argument to {function} is not supported. Use stable=True or stable=False to"
            " specify sort stability.",
            function=function,
        )
    if order is not None:
        raise ArgumentError(
            f"'order' argument to {function} is not supported: arrays have no fields.",
            function=function,
        )


# sorting ------------------------------------------------------------------------------------------


@fused_function(1)
def sort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Sort `a` in ascending order along `axis`, None: flattened first. Same dtype.

    NaN comes last, with `descending` first.

    >>> snp.sort(snp.array([3, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    _refuse_numpys("sort", kind, order)
    a, d = _along("sort", a, axis)
    (found,) = sort_p.bind(a, dimension=d, is_stable=bool(stable), num_keys=1)
    return shaping.rev(found, (d,)) if descending else found


def _argsort_by_numpy(avals: list, axis: int | None = -1, **options: Any) -> Any:
    """Sort positions of small arrays of real numbers by NumPy, which orders NaN and signed zeros likewise."""
    if options or dtypes.kind(avals[0].dtype) not in "biuf":
        return None
    if dtype_predicates.is_narrow_float(avals[0].dtype) or not avals[0].ndim:
        return None
    integer = _integer()
    return lambda a: a.argsort(axis, kind="stable").astype(integer)


@fused_function(1, _argsort_by_numpy)
def argsort(
    a: Any,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
    dtype: Any = None,
) -> Array:
    """Compute the indices that sort `a`; integers.

    Equal elements stay in their order if `stable`.

    >>> snp.argsort(snp.array([3, 1, 2]))
    Array([1, 2, 0], dtype=int32)
    """
    _refuse_numpys("argsort", kind, order)
    a, d = _along("argsort", a, axis)
    numbers = _integer() if dtype is None else dtypes.requested_dtype(dtype, "argsort")
    positions = shaping.broadcasted_iota(numbers, aval_of(a).shape, d)
    backwards = descending and stable  # so that reversing the result puts equal elements in order
    if backwards:
        a, positions = shaping.rev(a, (d,)), shaping.rev(positions, (d,))
    _, found = sort_p.bind(a, positions, dimension=d, is_stable=bool(stable), num_keys=1)
    return shaping.rev(found, (d,)) if descending else found


@fused_function(1)
def lexsort(keys: Any, axis: int = -1, *, batch_size: int = 16) -> Array:
    """Compute the indices that sort by several keys: by the last of `keys`, ties by earlier ones.

    `keys` is a sequence of arrays of one shape, or an array whose first dimension counts them.

    >>> snp.lexsort((snp.array([1, 2, 1]), snp.array([2, 2, 1])))
    Array([2, 0, 1], dtype=int32)
    """
    if isinstance(keys, (Array, np.ndarray)):
        keys = shaping.unstack(keys) if keys.ndim else ()
    keys = checks.several("lexsort", "keys", keys, "a sequence of arrays")
    keys = [with_aval("lexsort", k, i)[0] for i, k in enumerate(keys)]
    if not keys:
        raise ArgumentError("need sequence of keys with len > 0 in lexsort", function="lexsort")
    shape = aval_of(keys[0]).shape
    for i, k in enumerate(keys):
        if not dims.same_shape(aval_of(k).shape, shape):
            raise ArgumentValueError.about(
                "lexsort", f"keys[{i}]", k, f"the shape of keys[0], {shape}"
            )
    if not shape:
        return structural.full_of(intern_aval((), _integer(), False, None), 0)
    d = one_axis("lexsort", axis, len(shape))
    positions = shaping.broadcasted_iota(_integer(), shape, d)
    *_, found = sort_p.bind(*keys[::-1], positions, dimension=d, is_stable=True, num_keys=len(keys))
    return found


@fused_function(1)
def sort_complex(a: Any) -> Array:
    """Sort the elements of `a` along its last axis as complex numbers in ascending order.

    >>> snp.sort_complex(snp.array([2 + 1j, 1, 2]))
    Array([1.+0.j, 2.+0.j, 2.+1.j], dtype=complex64)
    """
    a, aval = with_aval("sort_complex", a)
    dtype = dtypes.canonicalize(dtypes.to_complex(aval.dtype), _thread.settings.x64)
    if dtypes.is_complex(aval.dtype):
        return sort(convert(a, dtype))
    return convert(sort(a), dtype)  # sorts by one key are quicker


# partitions and greatest elements -----------------------------------------------------------------


def _kth(function: str, kth: Any, size: int) -> int:
    k = static_int(function, "kth", kth)
    if not -size <= k < size:
        raise ArgumentValueError.about(
            function, "kth", k, f"a position on the axis, whose size is {size}"
        )
    return k + size if k < 0 else k


def _refuse_complex(function: str, aval: Any) -> None:
    if dtypes.is_complex(aval.dtype):
        raise UnsupportedArgumentError(
            f"numpy.{function} of complex numbers is not supported",
            fix="use numpy.sort or numpy.argsort",
            a=aval,
        )


@fused_function(1)
def partition(a: Any, kth: int, axis: int = -1) -> Array:
    """Partition `a` along `axis` so that the element at `kth` is the one that sorting puts there.

    Those before it are the smaller ones, those after it the greater ones. NaN counts as greatest.

    >>> snp.partition(snp.array([5, 3, 1, 4, 2]), 2)
    Array([1, 2, 3, 5, 4], dtype=int32)
    """
    a, d = _along("partition", a, axis)
    aval = aval_of(a)
    _refuse_complex("partition", aval)
    k = _kth("partition", kth, aval.shape[d])
    (found,) = sort_p.bind(a, dimension=d, is_stable=True, num_keys=1)
    small, great = shaping.split(found, (k + 1, aval.shape[d] - k - 1), d)
    return shaping.concatenate([small, shaping.rev(great, (d,))], d)


@fused_function(1)
def argpartition(a: Any, kth: int, axis: int = -1) -> Array:
    """Compute the indices that partition `a` as `partition` does; integers.

    >>> snp.argpartition(snp.array([5, 3, 1, 4, 2]), 2)
    Array([2, 4, 1, 0, 3], dtype=int32)
    """
    a, d = _along("argpartition", a, axis)
    aval = aval_of(a)
    _refuse_complex("argpartition", aval)
    k = _kth("argpartition", kth, aval.shape[d])
    order = convert(argsort(a, d), _index_dtype_for(aval.shape[d]), aval.weak_type)
    small, great = shaping.split(order, (k + 1, aval.shape[d] - k - 1), d)
    return shaping.concatenate([small, sort(great, d)], d)


@fused_function(1)
def top_k(
    a: Any, k: int, *, axis: int = -1, mode: str = "largest", sorted: bool = True
) -> tuple[Array, Array]:
    """Find the `k` greatest elements of `a` along `axis`, greatest first, and their indices.

    With `mode="smallest"` the least ones, least first. Of equal elements the first comes first, and
    NaN counts as greatest.

    >>> snp.top_k(snp.array([5, 3, 1, 4]), 2)
    (Array([5, 4], dtype=int32), Array([0, 3], dtype=int32))
    """
    a, d = _along("top_k", a, axis)
    k = static_int("top_k", "k", k)
    if mode == "largest":
        values, indices = sorting.top_k(a, k, axis=d)
        return values, indices
    if mode != "smallest":
        raise ArgumentValueError(
            f"mode must be 'largest' or 'smallest', got {mode!r}", function="top_k"
        )
    size = aval_of(a).shape[d]
    if not 0 <= k <= size:
        raise ArgumentValueError.about("top_k", "k", k, f"0 to {size}, the size of axis {d}", a=a)
    positions = shaping.broadcasted_iota(dtypes.int32, aval_of(a).shape, d)
    values, indices = sort_p.bind(a, positions, dimension=d, is_stable=True, num_keys=1)
    least = convert(slice_in_dim(indices, 0, k, 1, d), dtypes.int32, aval_of(a).weak_type)
    return slice_in_dim(values, 0, k, 1, d), least


# positions in a sorted array ----------------------------------------------------------------------


def _searchsorted_by_numpy(avals: list, side: str = "left", *others: Any, **more: Any) -> Any:
    """Count by NumPy the elements before each number, as `_count_before` does."""
    a, v = avals
    if others or more or a.dtype != v.dtype or a.ndim != 1 or dtypes.kind(a.dtype) not in "iuf":
        return None
    if dtype_predicates.is_narrow_float(a.dtype) or side not in ("left", "right"):
        return None
    size = a.shape[0]
    if not size or size * v.size > tuning.NUMPY_MAX_ELEMENTS:
        return None
    index = _index_dtype_for(size)

    floating = dtypes.kind(a.dtype) == "f"

    def before(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (x < y) | (np.isnan(y) & ~np.isnan(x)) if floating else x < y

    def count(a: np.ndarray, v: np.ndarray) -> np.ndarray:
        queries = v[..., None]
        inside = before(a, queries) if side == "left" else ~before(queries, a)
        return inside.sum(-1, dtype=index)

    return count


@fused_function(2, _searchsorted_by_numpy)
def searchsorted(
    a: Any, v: Any, side: str = "left", sorter: Any = None, *, method: str = "scan"
) -> Array:
    """Find the indices at which to insert `v` into the sorted vector `a` to keep it sorted.

    `side` tells on which side of equal elements. `sorter` are positions that sort `a`. The result is
    integer, of the shape of `v`. `method` is one of 'scan', 'scan_unrolled', 'sort', 'compare_all':
    the last compares every number with every element, the others search by bisection where that is
    less work. All give the same result.

    >>> snp.searchsorted(snp.array([1, 2, 3, 3, 5]), snp.array([3, 4]))
    Array([2, 4], dtype=int32)
    """
    if side not in ("left", "right"):
        raise ArgumentValueError(
            f"invalid argument side={side!r}, expected 'left' or 'right'", function="searchsorted"
        )
    methods = ("scan", "scan_unrolled", "sort", "compare_all")
    if method not in methods:
        raise ArgumentValueError(
            f"invalid argument method={method!r}, expected one of {', '.join(methods)}",
            function="searchsorted",
        )
    a, x = with_aval("searchsorted", a, 0)
    v, y = with_aval("searchsorted", v, 1)
    if x.ndim != 1:
        raise ArgumentValueError.about("searchsorted", "a", a, "a vector (one dimension)")
    if sorter is not None:
        a = getitem(a, (_base.as_operand("searchsorted", sorter, 2),))
    a, v = _base.promote_dtypes("searchsorted", a, v)
    size = x.shape[0]
    if dims.same(size, 0):
        return structural.full_of(intern_aval(y.shape, _index_dtype_for(size), False, None), 0)
    few = dims.is_dim(size) or size <= tuning.SEARCHSORTED_MAX_ELEMENTS
    if not few and not dims.is_dim(y.size):
        few = size * y.size <= tuning.SEARCHSORTED_MAX_COMPARISONS
    if method == "compare_all" or few:
        return _count_before(a, v, side=side)
    return _bisect(a, v, side=side)


def before(x: Any, y: Any) -> Array:
    """Return elementwise whether `x` comes before `y` in sorted order, NaN last."""
    dtype = aval_of(x).dtype
    if dtype_predicates.is_complex(dtype):
        re, im = (real(x), real(y)), (imag(x), imag(y))
        less, same = before(*re), bitwise_not(bitwise_or(before(*re), before(*re[::-1])))
        return bitwise_or(less, bitwise_and(same, before(*im)))
    less = comparison.lt(x, y)
    if not dtype_predicates.is_floating(dtype):
        return less
    return bitwise_or(less, bitwise_and(comparison.ne(y, y), comparison.eq(x, x)))


@fused
def _count_before(a: Any, v: Any, *, side: str) -> Array:
    """Count the elements of `a` before each of `v` (or equal to it)."""
    ndim = aval_of(v).ndim
    queries = structural.expand_dims(v, (ndim,)) if ndim else v
    if ndim:
        a = structural.expand_dims(a, range(ndim))
    inside = before(a, queries) if side == "left" else bitwise_not(before(queries, a))
    return reduce_sum_p.bind(convert(inside, _index_dtype_for(aval_of(a).shape[-1])), axes=(ndim,))


@fused
def _bisect(a: Any, v: Any, *, side: str) -> Array:
    a, v = (_base.as_array("searchsorted", x) for x in (a, v))
    size = a.aval.shape[0]
    aval = intern_aval(v.aval.shape, _index_dtype_for(size), False, None)
    found = structural.full_of(aval, 0)
    for step in (1 << i for i in reversed(range(size.bit_length()))):
        # an index within bounds, also where adding the step to what was found would overflow
        last = arithmetic.add(arithmetic.min(found, size - step), step - 1)
        there = getitem(a, (last,), wrap_negative_indices=False)
        less = before(there, v) if side == "left" else bitwise_not(before(v, there))
        less = bitwise_and(less, comparison.le(found, size - step))
        found = select_n(less, found, arithmetic.add(found, step))
        # one kernel for each round: XLA would compute the last round anew for each reader, which doubles the work
        found = identities.optimization_barrier(found)
    return found


@fused_function(2)
def digitize(x: Any, bins: Any, right: bool = False, *, method: str | None = None) -> Array:
    """Find the index of the bin that each element of `x` falls into; `bins` are the edges in order.

    With increasing edges, i means bins[i-1] <= x < bins[i], or with `right` bins[i-1] < x <= bins[i];
    with decreasing ones bins[i-1] > x >= bins[i], or with `right` bins[i-1] >= x > bins[i]. 0 and
    len(bins) are beyond the first and the last edge. Integer.

    >>> snp.digitize(snp.array([0.5, 1.0, 5.0]), snp.array([0, 1, 2]))
    Array([1, 2, 3], dtype=int32)
    """
    x, aval = with_aval("digitize", x, 0)
    bins, edges = with_aval("digitize", bins, 1)
    if edges.ndim != 1:
        raise ArgumentValueError(
            "digitize: bins must be a 1-dimensional array", function="digitize", got=bins, x=x
        )
    count = edges.shape[0]
    if dims.same(count, 0):
        return structural.full_of(intern_aval(aval.shape, dtypes.int32, False, None), 0)
    side = "right" if not right else "left"
    method = method or "scan"
    if dims.same(count, 1):
        return searchsorted(bins, x, side, method=method)
    first, last = slice_in_dim(bins, 0, 1), slice_in_dim(bins, count - 1, count)
    falling = structural.reshape(_logic.less(last, first), ())
    rising_bins = select_n(falling, bins, shaping.rev(bins, (0,)))
    indices = searchsorted(rising_bins, x, side, method=method)
    size = shaping.size_as_value(count)
    size = convert(size, dtypes.int32) if dims.is_dim(count) else size
    return select_n(falling, indices, arithmetic.sub(size, indices))
