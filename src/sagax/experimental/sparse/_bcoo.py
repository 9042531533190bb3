"""Implement BCOO: stored elements with their indices, in batches.

`data` has shape (*batch, nse, *dense), `indices` (*batch, nse, n_sparse). An index out of bounds marks
padding. All functions are written in operations on these arrays, and so have derivatives and can be mapped.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.experimental.sparse._reference as numpy_rules
import sagax.lax as lax
import sagax.numpy as snp
import sagax.random as sagax_random
from sagax._src import trees
from sagax._src.config import thread
from sagax._src.core.avals import intern_aval
from sagax._src.core.samples import Sample, f32
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.wording import bilingual
from sagax.experimental.sparse._base import (
    JAXSparse,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
    check_indices,
)
from sagax.experimental.sparse._elements import (
    SparseInfo,
    batched,
    bcoo_extract_p,
    bcoo_fromdense_p,
    bcoo_sort_indices_p,
    bcoo_sum_duplicates_p,
    bcoo_todense_p,
    bcoo_transpose_p,
    count_unique,
    full,
    groups,
    sparse_primitive,
    typed,
)
from sagax.experimental.sparse._operands import SparseOperand, columns_of, lie_within, refuse, wrong
from sagax.experimental.sparse._products import contract, free, matmul, product_aval


class BCOO(JAXSparse):
    """A sparse array by coordinates. `args` are (data, indices); see `fromdense`.

    The leading `n_batch` dimensions are batches with `nse` elements each; the last `n_dense` dimensions are dense.

    >>> m = sparse.BCOO.fromdense(snp.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> m.nse, (m @ snp.ones(2)).tolist()
    (2, [1.0, 2.0])
    """

    __slots__ = ("data", "indices", "indices_sorted", "unique_indices")

    def __init__(
        self,
        args: tuple,
        *,
        shape: Any,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices = map(snp.asarray, args)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        super().__init__(args, shape=shape)
        if self.indices.ndim < 2 or not snp.issubdtype(self.indices.dtype, snp.integer):
            raise wrong(
                "BCOO", "indices", self.indices, "integers of shape (*batch, nse, n_sparse)"
            )
        if self.n_dense < 0 or self.data.shape[self.n_batch] != self.nse:
            raise wrong(
                "BCOO",
                "data",
                self.data,
                f"shape (*batch, {self.nse}, *dense) for the indices and the shape {self.shape}",
            )
        if thread.settings.enable_checks:
            check_indices(self.indices, self._groups[1], self.indices_sorted, self.unique_indices)

    nse = property(lambda self: self.indices.shape[-2], doc="The stored elements of each batch.")
    n_batch = property(lambda self: self.indices.ndim - 2)
    n_sparse = property(lambda self: self.indices.shape[-1])
    n_dense = property(lambda self: self.data.ndim - 1 - self.n_batch)

    @property
    def _groups(self) -> tuple[tuple, tuple, tuple]:
        """The sizes of batch, sparse and dense dimensions."""
        b, s = self.n_batch, self.n_batch + self.n_sparse
        return self.shape[:b], self.shape[b:s], self.shape[s:]

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: Any = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """Store the nonzero elements of a dense array."""
        return bcoo_fromdense(
            mat, nse=nse, n_dense=n_dense, n_batch=n_batch, index_dtype=index_dtype
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """Convert a sparse matrix of SciPy."""
        coo = mat.tocoo()
        indices = np.stack([coo.row, coo.col], 1).astype(index_dtype or np.int32)
        found = cls((snp.asarray(coo.data), snp.asarray(indices)), shape=coo.shape)
        return bcoo_update_layout(found, n_batch=n_batch, n_dense=n_dense, on_inefficient=None)

    def _compressed_rows(self) -> tuple | None:
        if self.n_batch or self.n_dense or self.ndim != 2 or not self.indices_sorted:
            return None
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        count = snp.arange(self.shape[0] + 1, dtype=rows.dtype)
        return self.data, snp.searchsorted(rows, count), columns

    def _row_indices(self) -> Any:
        return self.indices[:, 0]

    def _bcoo(self) -> BCOO:
        return self

    def _dot(self, other: Any, numbers: Any, preferred: Any) -> Any:
        if isinstance(other, SparseOperand):
            return _sparse_product(self, other._bcoo(), numbers, preferred)
        dtype = snp.result_type(self.data, other) if preferred is None else preferred
        return bcoo_dot_general_p.bind(
            self.data,
            self.indices,
            snp.asarray(other),
            dimension_numbers=numbers,
            lhs_spinfo=self._info,
            preferred_element_type=np.dtype(dtype),
        )

    def _with_data(self, data: Any) -> BCOO:
        return self._like(data, self.indices, self.shape, self.indices_sorted, self.unique_indices)

    @staticmethod
    def _like(
        data: Any, indices: Any, shape: Any, ordered: bool = False, unique: bool = False
    ) -> BCOO:
        # without sparse dimensions all elements have the same index, padding too
        unique = unique and (indices.shape[-1] > 0 or indices.shape[-2] <= 1)
        return BCOO((data, indices), shape=shape, indices_sorted=ordered, unique_indices=unique)

    def todense(self) -> Array:
        """Return the dense array."""
        return bcoo_todense(self)

    def transpose(self, axes: Any = None) -> BCOO:
        """Permute the dimensions, within batch, sparse and dense ones."""
        return bcoo_transpose(self, permutation=tuple(axes or range(self.ndim)[::-1]))

    def astype(self, dtype: Any) -> BCOO:
        """Convert the elements to a dtype."""
        return self._with_data(self.data.astype(dtype))

    def sort_indices(self) -> BCOO:
        """Sort the elements by their indices."""
        return bcoo_sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """Add elements of equal indices; without zeros, unless they are kept."""
        return bcoo_sum_duplicates(_without_zeros(self) if remove_zeros else self, nse)

    def update_layout(self, **options: Any) -> BCOO:
        """Move dimensions between batch, sparse and dense ones."""
        return bcoo_update_layout(self, **options)

    def reshape(self, *sizes: Any, **_: Any) -> BCOO:
        """Reshape: one size may be -1."""
        given = (
            tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        )
        return bcoo_reshape(self, new_sizes=np.empty(self.shape, bool).reshape(given).shape)

    def sum(self, axis: Any = None, **options: Any) -> Any:
        """Sum elements along axes: a sparse array, or a dense scalar of all."""
        axes = (
            range(self.ndim)
            if axis is None
            else axis
            if isinstance(axis, (tuple, list))
            else (axis,)
        )
        found = bcoo_reduce_sum(self, axes=[a % self.ndim for a in axes])
        return found.todense() if found.ndim == 0 else found

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            return bcoo_multiply_sparse(self, other._bcoo())
        return bcoo_multiply_dense(self, snp.asarray(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return bcoo_multiply_dense(self, 1 / snp.asarray(other))

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, JAXSparse):
            return self.todense() + other
        a, b = _flat(self), _flat(other._bcoo())
        if a.shape != b.shape:
            raise wrong("add", "other", b, f"a sparse array of shape {a.shape}")
        data = snp.concatenate([a.data, b.data])
        return self._like(data, snp.concatenate([a.indices, b.indices]), self.shape)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(other, self)

    def __getitem__(self, index: Any) -> Any:
        return _getitem(self, index)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))


def _flatten(m: BCOO) -> tuple:
    return (m.data, m.indices), (m.shape, m.indices_sorted, m.unique_indices)


def _unflatten(static: tuple, parts: Any) -> BCOO:
    m = object.__new__(BCOO)
    m.data, m.indices = parts
    m.shape, m.indices_sorted, m.unique_indices = static
    if hasattr(m.data, "ndim") and hasattr(m.indices, "ndim"):
        m.shape = mapped_shape(m.shape, m.data, m.data.ndim - 1 + m.indices.shape[-1])
    return m


def mapped_shape(shape: tuple, data: Any, ndim: int) -> tuple:
    """Return the shape of an array of `ndim` dimensions: under vmap it has lost leading ones, or got more."""
    missing = ndim - len(shape)
    return (*data.shape[:missing], *shape) if missing > 0 else shape[-missing:]


trees.register_pytree_node(BCOO, _flatten, _unflatten)


def _full(m: BCOO) -> tuple[Any, Any]:
    """Return data and indices with batch dimensions of their full sizes."""
    return full(m.data, m.indices, m.shape)


def _of(data: Any, indices: Any, info: SparseInfo) -> BCOO:
    return BCOO._like(data, indices, info.shape, info.indices_sorted, info.unique_indices)


# Products --------------------------------------------------------------------------------------------

bcoo_dot_general_p = sparse_primitive("bcoo_dot_general", 0, 2)


@typed(bcoo_dot_general_p)
def _(
    lhs_data: Any,
    lhs_indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    preferred_element_type: Any,
) -> Any:
    shape = lhs_spinfo.shape
    return product_aval(lhs_data, shape, rhs, dimension_numbers, preferred_element_type)


@bcoo_dot_general_p.composite
def _(
    lhs_data: Any,
    lhs_indices: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    preferred_element_type: Any,
) -> Any:
    lhs = _of(lhs_data, lhs_indices, lhs_spinfo)
    return contract(lhs, rhs, dimension_numbers, preferred_element_type)


_INDICES = np.array([[0, 1], [0, 3], [1, 0], [2, 2], [2, 2]], np.int32)
bcoo_dot_general_p.reference(numpy_rules.dot_general)
bcoo_dot_general_p.samples = [
    Sample(
        f32(5),
        _INDICES,
        f32(4, *more),
        dimension_numbers=(((1,), (0,)), ((), ())),
        lhs_spinfo=SparseInfo((3, 4), ordered),
        preferred_element_type=np.dtype(np.float32),
    )
    for more in ((), (2,))
    for ordered in (False, True)
] + [
    Sample(
        f32(2, 5),
        _INDICES[None],
        f32(2, 3),
        dimension_numbers=(((1,), (1,)), ((0,), (0,))),
        lhs_spinfo=SparseInfo((2, 3, 4)),
        preferred_element_type=None,
    )
]

bcoo_spdot_general_p = sparse_primitive("bcoo_spdot_general", multiple_results=True)


@bcoo_spdot_general_p.composite
def _(
    lhs_data: Any,
    lhs_indices: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    preferred_element_type: Any,
    rhs_spinfo: SparseInfo,
) -> list:
    lhs = _of(lhs_data, lhs_indices, lhs_spinfo)
    rhs = _of(rhs_data, rhs_indices, rhs_spinfo)
    found = contract(lhs, rhs, dimension_numbers, preferred_element_type)
    return [found.data, found.indices]


def _product_size(lhs: Any, rhs: Any, shape: tuple) -> tuple[int, bool]:
    """Return how many elements the product of sparse arrays stores, and whether duplicates are added up."""
    pairs = math.prod(lhs) * math.prod(rhs)
    fewest = min(pairs, math.prod(shape)) if shape else pairs
    return fewest, fewest < pairs


def _stored(data: Any, indices: Any, info: SparseInfo) -> list:
    """Return the factors of the number of elements of an array with sparse dimensions only."""
    batch, _, dense = groups(indices, tuple(info.shape))
    return [*batch, indices.shape[-2], *dense]


def _product_shape(lhs: tuple, rhs: tuple, numbers: Any) -> tuple:
    (lc, rc), (lb, rb) = numbers
    mine = [lhs[d] for d in (*lb, *free(len(lhs), lc, lb))]
    return (*mine, *[rhs[d] for d in free(len(rhs), rc, rb)])


@typed(bcoo_spdot_general_p)
def _(
    lhs_data: Any,
    lhs_indices: Any,
    rhs_data: Any,
    rhs_indices: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    preferred_element_type: Any,
    rhs_spinfo: SparseInfo,
) -> list:
    shape = _product_shape(lhs_spinfo.shape, rhs_spinfo.shape, dimension_numbers)
    stored = _stored(lhs_data, lhs_indices, lhs_spinfo), _stored(rhs_data, rhs_indices, rhs_spinfo)
    n, _ = _product_size(*stored, shape)
    dtype = preferred_element_type or snp.result_type(lhs_data.dtype, rhs_data.dtype)
    index_dtype = snp.result_type(lhs_indices.dtype, rhs_indices.dtype)
    return [intern_aval((n,), np.dtype(dtype)), intern_aval((n, len(shape)), index_dtype)]


bcoo_spdot_general_p.reference(numpy_rules.spdot_general)
bcoo_spdot_general_p.samples = [
    Sample(
        f32(5),
        _INDICES,
        f32(3),
        np.array([[1, 0], [2, 1], [3, 0]], np.int32),
        dimension_numbers=(((1,), (0,)), ((), ())),
        lhs_spinfo=SparseInfo((3, 4)),
        preferred_element_type=np.dtype(np.float32),
        rhs_spinfo=SparseInfo((4, n)),
    )
    for n in (2, 8)
]


def _sparse_product(lhs: BCOO, rhs: BCOO, numbers: Any, preferred: Any) -> BCOO:
    dtype = snp.result_type(lhs.data, rhs.data) if preferred is None else preferred
    data, indices = bcoo_spdot_general_p.bind(
        lhs.data,
        lhs.indices,
        rhs.data,
        rhs.indices,
        dimension_numbers=numbers,
        lhs_spinfo=lhs._info,
        preferred_element_type=np.dtype(dtype),
        rhs_spinfo=rhs._info,
    )
    shape = _product_shape(lhs.shape, rhs.shape, numbers)
    mine, theirs = [_stored(m.data, m.indices, m._info) for m in (lhs, rhs)]
    added = _product_size(mine, theirs, shape)[1]
    return lhs._like(data, indices, shape, added, added)


# Conversion ------------------------------------------------------------------------------------------


def bcoo_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCOO:
    """Store the nonzero elements of a dense array.

    Args:
      nse: the number of elements to store for each batch; needed for a traced array.
      n_batch, n_dense: the numbers of leading batch dimensions, and of trailing dense ones.

    >>> sparse.bcoo_fromdense(snp.eye(3)).indices.tolist()
    [[0, 0], [1, 1], [2, 2]]
    """
    mat = snp.asarray(mat)
    n_sparse = mat.ndim - n_batch - n_dense
    if n_sparse < 0 or n_batch < 0 or n_dense < 0:
        raise wrong(
            "bcoo_fromdense",
            "n_batch and n_dense",
            (n_batch, n_dense),
            f"at most {mat.ndim} together",
        )
    nse = needed(mat, nse, "bcoo_fromdense", n_batch=n_batch, n_dense=n_dense)
    options = {"n_batch": n_batch, "n_dense": n_dense, "nse": nse}
    data, indices = bcoo_fromdense_p.bind(mat, index_dtype=np.dtype(index_dtype), **options)
    return BCOO._like(data, indices, mat.shape, True, True)


def needed(mat: Any, nse: int | None, function: str, *, n_batch: int = 0, n_dense: int = 0) -> int:
    """Return the number of elements to store for each batch: `nse`, or as many as are not zero."""
    if nse is not None:
        return int(nse)
    mask = snp.any(mat != 0, axis=tuple(range(mat.ndim - n_dense, mat.ndim)))
    if isinstance(mask, Tracer) and mask.concrete() is None:
        raise wrong(function, "nse", None, "the number of stored elements: the array is traced")
    counts = np.asarray(mask).sum(tuple(range(n_batch, mask.ndim)))
    return int(counts.max()) if counts.size else 0


def bcoo_todense(mat: BCOO) -> Array:
    """Return the dense array; elements of equal indices are added.

    >>> sparse.bcoo_todense(sparse.bcoo_fromdense(snp.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return bcoo_todense_p.bind(mat.data, mat.indices, spinfo=mat._info)


def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """Return the elements of a dense array at the indices of a sparse one.

    Of equal indices only the first gets the element, if they are not assumed to be unique.

    >>> m = sparse.eye(2)
    >>> sparse.bcoo_extract(m, snp.arange(4.0).reshape(2, 2)).data.tolist()
    [0.0, 3.0]
    """
    arr = snp.asarray(arr)
    if arr.shape != sparr.shape:
        raise wrong("bcoo_extract", "arr", arr, f"an array of shape {sparr.shape}")
    unique = sparr.unique_indices if assume_unique is None else assume_unique
    indices = _full(sparr)[1]
    data = bcoo_extract_p.bind(indices, arr, assume_unique=bool(unique))
    return sparr._like(data, indices, sparr.shape, sparr.indices_sorted, sparr.unique_indices)


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """Sort the elements of each batch by their indices.

    >>> m = sparse.BCOO((snp.array([1.0, 2.0]), snp.array([[1], [0]])), shape=(2,))
    >>> sparse.bcoo_sort_indices(m).data.tolist()
    [2.0, 1.0]
    """

    data, indices = bcoo_sort_indices_p.bind(mat.data, mat.indices, spinfo=mat._info)
    return mat._like(data, indices, mat.shape, True, mat.unique_indices)


def _without_zeros(mat: BCOO) -> BCOO:
    """Turn elements that are zero into padding."""
    data, indices = _full(mat)
    at = mat.n_batch + 1
    kept = snp.any(data != 0, axis=tuple(range(at, data.ndim)))
    limit = snp.array(mat._groups[1], indices.dtype)
    return mat._like(data, snp.where(kept[..., None], indices, limit), mat.shape)


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """Add elements of equal indices, and sort. The result stores `nse` elements (default: as few as possible,
    or as many as before if the indices are traced).

    >>> m = sparse.BCOO((snp.array([1.0, 2.0]), snp.array([[1], [1]])), shape=(2,))
    >>> sparse.bcoo_sum_duplicates(m).data.tolist()
    [3.0]
    """
    if nse is None:
        nse = mat.nse
        if not isinstance(mat.indices, Tracer):
            nse = count_unique(np.asarray(mat.indices), mat._groups[1])
    data, indices = bcoo_sum_duplicates_p.bind(mat.data, mat.indices, nse=nse, spinfo=mat._info)
    return mat._like(data, indices, mat.shape, True, True)


# Layout ----------------------------------------------------------------------------------------------


def _flat(mat: BCOO) -> BCOO:
    """Return the same array with sparse dimensions only."""
    return bcoo_update_layout(mat, n_batch=0, n_dense=0)


def bcoo_update_layout(
    mat: BCOO,
    *,
    n_batch: int | None = None,
    n_dense: int | None = None,
    on_inefficient: str | None = "error",
) -> BCOO:
    """Change the numbers of batch and of dense dimensions.

    More of them store more zeros: an error, or with `on_inefficient=None` accepted.

    >>> m = sparse.bcoo_fromdense(snp.eye(2), n_batch=1)
    >>> sparse.bcoo_update_layout(m, n_batch=0).indices.tolist()
    [[0, 0], [1, 1]]
    """
    n_batch = int(mat.n_batch if n_batch is None else n_batch)
    n_dense = int(mat.n_dense if n_dense is None else n_dense)
    if n_batch < 0 or n_dense < 0 or n_batch + n_dense > mat.ndim:
        raise wrong(
            "bcoo_update_layout",
            "n_batch and n_dense",
            (n_batch, n_dense),
            f"at most {mat.ndim} together",
        )
    more = n_batch > mat.n_batch or n_dense > mat.n_dense
    if more and on_inefficient in ("error", "warn"):
        text = f"more batch or dense dimensions of a sparse array of shape {mat.shape} store more zeros"
        if on_inefficient == "warn":
            warned = bilingual(f"bcoo_update_layout: {text}")
            warnings.warn(warned, SparseEfficiencyWarning, stacklevel=2)
        else:
            raise SparseEfficiencyError(
                text,
                function="bcoo_update_layout",
                argument="n_batch and n_dense",
                got=f"{n_batch} and {n_dense}, from {mat.n_batch} and {mat.n_dense}",
                fix="pass on_inefficient=None, or 'warn', if the zeros are worth it",
            )
    while mat.n_dense > n_dense:
        mat = _dense_to_sparse(mat)
    while mat.n_batch > n_batch:
        mat = _batch_to_sparse(mat)
    while mat.n_dense < n_dense:
        mat = _sparse_to_dense(mat)
    while mat.n_batch < n_batch:
        mat = _sparse_to_batch(mat)
    return mat


def _dense_to_sparse(mat: BCOO) -> BCOO:
    size = mat.shape[mat.n_batch + mat.n_sparse]
    data, indices = _full(mat)
    at = mat.n_batch
    data = data.reshape(*data.shape[:at], mat.nse * size, *data.shape[at + 2 :])
    indices = snp.repeat(indices, size, axis=at)
    column = snp.tile(snp.arange(size, dtype=indices.dtype), mat.nse)
    column = snp.broadcast_to(column, indices.shape[:-1])[..., None]
    return mat._like(
        data,
        snp.concatenate([indices, column], -1),
        mat.shape,
        mat.indices_sorted,
        mat.unique_indices,
    )


def _batch_to_sparse(mat: BCOO) -> BCOO:
    data, indices = _full(mat)
    at = mat.n_batch - 1
    size = data.shape[at]
    column = lax.broadcasted_iota(indices.dtype, (*indices.shape[:-1], 1), at)
    indices = snp.concatenate([column, indices], -1)
    data = data.reshape(*data.shape[:at], size * mat.nse, *data.shape[at + 2 :])
    indices = indices.reshape(*indices.shape[:at], size * mat.nse, indices.shape[-1])
    return mat._like(data, indices, mat.shape, mat.indices_sorted, mat.unique_indices)


def _sparse_to_dense(mat: BCOO) -> BCOO:
    data, indices = _full(mat)
    size = mat.shape[mat.n_batch + mat.n_sparse - 1]
    column = indices[..., -1:]
    own = snp.arange(size, dtype=indices.dtype).reshape(*[1] * (column.ndim - 1), size) == column
    own = own.reshape(*own.shape, *[1] * mat.n_dense)
    data = snp.where(own, snp.expand_dims(data, mat.n_batch + 1), 0)
    return mat._like(data, indices[..., :-1], mat.shape)


def _sparse_to_batch(mat: BCOO) -> BCOO:
    data, indices = _full(mat)
    at, size = mat.n_batch, mat.shape[mat.n_batch]
    first = snp.expand_dims(indices[..., 0], at)
    numbers = snp.arange(size, dtype=indices.dtype).reshape(*[1] * at, size, 1)
    own = first == numbers
    limit = snp.array(mat._groups[1][1:], indices.dtype)
    rows = snp.where(own[..., None], snp.expand_dims(indices[..., 1:], at), limit)
    wide = own.reshape(*own.shape, *[1] * mat.n_dense)
    return mat._like(snp.where(wide, snp.expand_dims(data, at), 0), rows, mat.shape)


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """Permute dimensions, within batch, sparse and dense ones.

    >>> sparse.bcoo_transpose(sparse.bcoo_fromdense(snp.ones((2, 3))), permutation=(1, 0)).shape
    (3, 2)
    """
    order = [p % mat.ndim for p in permutation]
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    parts = order[:b], order[b:s], order[s:]
    ranges = range(b), range(b, s), range(s, mat.ndim)
    if sorted(order) != list(range(mat.ndim)):
        raise wrong(
            "bcoo_transpose",
            "permutation",
            tuple(permutation),
            f"the numbers from 0 to {mat.ndim - 1}",
        )
    if any(sorted(p) != list(r) for p, r in zip(parts, ranges, strict=True)):
        raise refuse(
            "bcoo_transpose",
            "a permutation that mixes batch, sparse and dense dimensions",
            "change the layout first: bcoo_update_layout(m, n_batch=0, n_dense=0)",
        )
    data, indices = bcoo_transpose_p.bind(
        mat.data, mat.indices, permutation=tuple(order), spinfo=mat._info
    )
    shape = tuple([mat.shape[p] for p in order])
    same = parts[1] == sorted(parts[1])
    return mat._like(data, indices, shape, same and mat.indices_sorted, mat.unique_indices)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Remove dimensions of size 1.

    >>> sparse.bcoo_squeeze(sparse.bcoo_fromdense(snp.ones((1, 3))), dimensions=(0,)).shape
    (3,)
    """
    found = {d % arr.ndim for d in dimensions}
    if any(arr.shape[d] != 1 for d in found):
        raise wrong(
            "bcoo_squeeze", "dimensions", tuple(dimensions), f"dimensions of size 1 of {arr.shape}"
        )
    b, s = arr.n_batch, arr.n_batch + arr.n_sparse
    data = snp.squeeze(
        arr.data, tuple([d if d < b else d - arr.n_sparse + 1 for d in found if d < b or d >= s])
    )
    columns = [i for i in range(arr.n_sparse) if i + b not in found]
    rows = snp.squeeze(arr.indices, tuple([d for d in found if d < b]))
    if len(columns) < arr.n_sparse:  # a column that goes may be the one that shows padding
        inside = lie_within(arr.indices, arr._groups[1])
        inside = snp.squeeze(inside, tuple([d for d in found if d < b]))
        data = snp.where(inside.reshape(*inside.shape, *[1] * (data.ndim - inside.ndim)), data, 0)
        limit = snp.array(arr._groups[1], rows.dtype)
        rows = snp.where(inside[..., None], rows, limit)
    shape = tuple([n for i, n in enumerate(arr.shape) if i not in found])
    return arr._like(data, rows[..., columns], shape, arr.indices_sorted, arr.unique_indices)


def bcoo_reshape(
    mat: BCOO,
    *,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    sharding: Any = None,
) -> BCOO:
    """Reshape. Batch and dense dimensions that do not change stay; the others become sparse.

    >>> sparse.bcoo_reshape(sparse.eye(2), new_sizes=(4,)).indices.tolist()
    [[0], [3]]
    """
    if dimensions is not None and list(dimensions) != list(range(mat.ndim)):
        mat = bcoo_transpose(mat, permutation=dimensions)
    sizes = tuple(new_sizes)
    if math.prod(sizes) != mat.size:
        raise wrong("bcoo_reshape", "new_sizes", sizes, f"sizes of {mat.size} elements")
    n_batch = mat.n_batch if sizes[: mat.n_batch] == mat.shape[: mat.n_batch] else 0
    n_dense = mat.n_dense
    if n_dense and sizes[-n_dense:] != mat.shape[-n_dense:]:
        n_dense = 0
    mat = bcoo_update_layout(mat, n_batch=n_batch, n_dense=n_dense)
    old = mat._groups[1]
    new = sizes[n_batch : len(sizes) - n_dense]
    inside = lie_within(mat.indices, old)
    columns = columns_of(mat.indices)
    flat: Any = snp.zeros(inside.shape, mat.indices.dtype)
    for column, size in zip(columns, old, strict=True):
        flat = flat * size + column
    parts = []
    for size in reversed(new):
        parts.append(snp.where(inside, flat % size, size))
        flat = flat // size
    data = mat.data
    if not new:
        data = snp.where(inside.reshape(*inside.shape, *[1] * n_dense), data, 0)
    indices = snp.stack(parts[::-1], -1) if parts else mat.indices[..., :0]
    return mat._like(data, indices, sizes, mat.indices_sorted, mat.unique_indices)


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Any, broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """Broadcast to a shape, in which dimension i of the array is number `broadcast_dimensions[i]`.

    >>> m = sparse.bcoo_fromdense(snp.array([1.0, 0.0]))
    >>> sparse.bcoo_broadcast_in_dim(m, shape=(2, 2), broadcast_dimensions=(1,)).todense().tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    shape = tuple(shape)
    flat = _flat(mat)
    data, columns = (
        flat.data,
        dict(zip(broadcast_dimensions, columns_of(flat.indices), strict=True)),
    )
    inside = lie_within(flat.indices, flat.shape)
    copies = [
        d for d, n in enumerate(shape) if d not in columns or mat.shape[list(columns).index(d)] != n
    ]
    for d in copies:
        n = shape[d]
        columns = {k: snp.tile(c, n) for k, c in columns.items()}
        columns[d] = snp.repeat(snp.arange(n, dtype=flat.indices.dtype), inside.shape[0])
        data, inside = snp.tile(data, n), snp.tile(inside, n)
    rows = [snp.where(inside, columns[d], n) for d, n in enumerate(shape)]
    indices = snp.stack(rows, -1) if rows else flat.indices[:, :0]
    return mat._like(data, indices, shape, False, mat.unique_indices)


def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """Slice, as `lax.slice`. The result stores as many elements as before; those outside become padding.

    >>> m = sparse.bcoo_fromdense(snp.arange(4.0))
    >>> sparse.bcoo_slice(m, start_indices=[1], limit_indices=[3]).todense().tolist()
    [1.0, 2.0]
    """
    steps = [1] * mat.ndim if strides is None else list(strides)
    shape = tuple(
        [
            max(0, -(-(e - s) // t))
            for s, e, t in zip(start_indices, limit_indices, steps, strict=True)
        ]
    )
    bounds = list(zip(start_indices, limit_indices, steps, strict=True))
    return _sliced(mat, list(start_indices), shape, steps, [slice(*b) for b in bounds])


def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """Slice from traced start indices, as `lax.dynamic_slice`.

    >>> m = sparse.bcoo_fromdense(snp.arange(4.0))
    >>> sparse.bcoo_dynamic_slice(m, [snp.int32(2)], [2]).todense().tolist()
    [2.0, 3.0]
    """
    starts = [
        snp.clip(snp.where(snp.asarray(s) < 0, snp.asarray(s) + n, s), 0, n - k)
        for s, n, k in zip(start_indices, mat.shape, slice_sizes, strict=True)
    ]
    return _sliced(mat, starts, tuple(slice_sizes), [1] * mat.ndim, None)


def _sliced(mat: BCOO, starts: list, shape: tuple, steps: list, slices: Any) -> BCOO:
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = _full(mat)

    def cut(x: Any, dims: Sequence[tuple[int, int]]) -> Any:
        """Slice dimensions of x; each as (dimension of x, dimension of the array)."""
        for at, d in dims:
            if slices is not None:
                x = x[(slice(None),) * at + (slices[d],)]
            else:
                x = lax.dynamic_slice_in_dim(x, starts[d], shape[d], at)
        return x

    batch = [(d, d) for d in range(b)]
    data = cut(data, [*batch, *[(d - mat.n_sparse + 1, d) for d in range(s, mat.ndim)]])
    indices = cut(indices, batch)
    inside: Any = snp.ones(indices.shape[:-1], bool)
    columns = []
    for i, d in enumerate(range(b, s)):
        offset = indices[..., i] - starts[d]
        column = offset // steps[d]
        inside &= (offset >= 0) & (column < shape[d]) & (offset % steps[d] == 0)
        inside &= indices[..., i] < mat.shape[d]
        columns.append(column)
    rows = [
        snp.where(inside, c, n).astype(indices.dtype)
        for c, n in zip(columns, shape[b:s], strict=True)
    ]
    data = snp.where(inside.reshape(*inside.shape, *[1] * mat.n_dense), data, 0)
    indices = snp.stack(rows, -1) if rows else indices
    return mat._like(data, indices, shape, False, mat.unique_indices)


def _getitem(mat: BCOO, index: Any) -> BCOO:
    """Select by ints, slices, None and `...`."""
    parts = list(index) if isinstance(index, tuple) else [index]
    given = sum(1 for p in parts if p is not None and p is not Ellipsis)
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        parts[at : at + 1] = [slice(None)] * (mat.ndim - given)
    parts += [slice(None)] * (mat.ndim - sum(p is not None for p in parts))
    selected = [p for p in parts if p is not None]
    if len(selected) != mat.ndim:
        raise wrong("getitem", "index", repr(index), f"at most {mat.ndim} entries")
    traced = [p for p in selected if not isinstance(p, (int, np.integer, slice))]
    if any(snp.ndim(p) for p in traced):
        raise refuse(
            "getitem", "an index of a sparse array that is an array", "use ints and slices"
        )
    if traced:
        sizes = [
            1 if not isinstance(p, slice) else n for p, n in zip(selected, mat.shape, strict=True)
        ]
        starts = [0 if isinstance(p, slice) else p for p in selected]
        mat = bcoo_dynamic_slice(mat, starts, sizes)
        selected = [p if isinstance(p, slice) else 0 for p in selected]
    bounds = []
    for p, n in zip(selected, mat.shape, strict=True):
        if isinstance(p, slice):
            start, stop, step = p.indices(n)
            if step < 0:
                raise refuse("getitem", "a negative step in an index of a sparse array")
        else:
            start = int(p) + n if p < 0 else int(p)
            stop, step = start + 1, 1
            if not 0 <= start < n:
                raise wrong(
                    "getitem", "index", repr(index), f"indices within the shape {mat.shape}"
                )
        bounds.append((start, max(start, stop), step))
    starts, limits, steps = zip(*bounds) if bounds else ((), (), ())
    mat = bcoo_slice(mat, start_indices=starts, limit_indices=limits, strides=steps)
    mat = bcoo_squeeze(
        mat, dimensions=[i for i, p in enumerate(selected) if not isinstance(p, slice)]
    )
    if None in parts:
        kept = [p for p in parts if p is None or isinstance(p, slice)]
        target = [i for i, p in enumerate(kept) if p is not None]
        shape = [1] * len(kept)
        for i, n in zip(target, mat.shape, strict=True):
            shape[i] = n
        mat = bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=target)
    return mat


# Reductions and elementwise products -----------------------------------------------------------------


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """Sum along axes.

    >>> sparse.bcoo_reduce_sum(sparse.eye(2), axes=(0,)).todense().tolist()
    [1.0, 1.0]
    """
    found = {a % mat.ndim for a in axes}
    if any(a < mat.n_batch for a in found):
        mat = bcoo_update_layout(mat, n_batch=min(found))
    b, s = mat.n_batch, mat.n_batch + mat.n_sparse
    inside = lie_within(mat.indices, mat._groups[1])
    data = snp.where(inside.reshape(*inside.shape, *[1] * mat.n_dense), mat.data, 0)
    data = snp.sum(data, tuple([a - mat.n_sparse + 1 for a in found if a >= s]))
    columns = [i for i in range(mat.n_sparse) if i + b not in found]
    shape = tuple([n for i, n in enumerate(mat.shape) if i not in found])
    return mat._like(data, mat.indices[..., columns], shape)


def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> BCOO:
    """Multiply elementwise by a dense array, which may be broadcast to the shape of the sparse one.

    >>> sparse.bcoo_multiply_dense(sparse.eye(2), snp.array([2.0, 3.0])).data.tolist()
    [2.0, 3.0]
    """
    v = snp.asarray(v)
    if v.ndim == 0:
        return sp_mat._with_data(sp_mat.data * v)
    if v.ndim > sp_mat.ndim or snp.broadcast_shapes(v.shape, sp_mat.shape) != sp_mat.shape:
        raise wrong(
            "bcoo_multiply_dense", "v", v, f"an array that broadcasts to the shape {sp_mat.shape}"
        )
    v = v.reshape((1,) * (sp_mat.ndim - v.ndim) + v.shape)
    b = sp_mat.n_batch
    batch, _, _ = sp_mat._groups
    data, indices = _full(sp_mat)
    v = snp.broadcast_to(v, (*batch, *v.shape[b:]))

    def one(data: Any, indices: Any, v: Any) -> Any:
        if not sp_mat.n_sparse:
            return data * v[None]
        columns = [snp.zeros_like(c) if n == 1 else c for c, n in zip(columns_of(indices), v.shape)]
        return data * v.at[tuple(columns)].get(mode="fill", fill_value=0)

    data = batched(one, b, data, indices, v)
    return sp_mat._like(data, indices, sp_mat.shape, sp_mat.indices_sorted, sp_mat.unique_indices)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """Multiply two sparse arrays of equal shapes elementwise.

    >>> sparse.bcoo_multiply_sparse(sparse.eye(2), sparse.eye(2)).todense().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if lhs.shape != rhs.shape:
        raise wrong("bcoo_multiply_sparse", "rhs", rhs, f"a sparse array of shape {lhs.shape}")
    a, b = _flat(lhs), bcoo_sum_duplicates(_flat(rhs))
    if lhs.nse == 0 or b.nse == 0:
        return lhs._with_data(lhs.data * 0)
    # find each index of `a` among those of `b`, which are sorted: sort both together
    n = a.nse
    rows = snp.concatenate([b.indices, a.indices])
    columns = columns_of(rows)
    number = snp.arange(rows.shape[0])
    order = lax.sort((*columns, number), num_keys=len(columns) + 1)[-1]
    ordered = rows[order]
    latest = lax.cummax(snp.where(order < b.nse, order, -1))
    same = (latest >= 0) & snp.all(ordered == rows[snp.maximum(latest, 0)], -1)
    match = (
        snp.zeros(rows.shape[0], latest.dtype).at[order].set(snp.where(same, latest, b.nse))[-n:]
    )
    other = b.data.at[match].get(mode="fill", fill_value=0)
    return a._with_data(a.data * other)
