"""Implement BCSR, COO, CSR and CSC: views of the same elements in other formats than BCOO."""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.value import Array
from sagax.experimental.sparse._base import JAXSparse
from sagax.experimental.sparse._bcoo import (
    BCOO,
    _batched,
    _full,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    mapped_shape,
)
from sagax.experimental.sparse._operands import wrong
from sagax.experimental.sparse._products import bcoo_dot_general


def _pointers(rows: Any, count: int) -> Any:
    """Return where each row starts among sorted row numbers."""
    return snp.searchsorted(rows, snp.arange(count + 1, dtype=rows.dtype)).astype(rows.dtype)


def _rows_of(indptr: Any, nse: int) -> Any:
    """Return the row of each element; the number of rows for padding."""
    return (snp.searchsorted(indptr, snp.arange(nse), side="right") - 1).astype(indptr.dtype)


# BCSR -----------------------------------------------------------------------------------------------


class BCSR(JAXSparse):
    """A sparse array by compressed rows, in batches. `args` are (data, column indices, row pointers).

    >>> m = sparse.BCSR.fromdense(snp.array([[1.0, 0.0], [3.0, 2.0]]))
    >>> m.indptr.tolist(), (m @ snp.ones(2)).tolist()
    ([0, 1, 3], [1.0, 5.0])
    """

    __slots__ = ("data", "indices", "indices_sorted", "indptr", "unique_indices")

    n_sparse = 2

    def __init__(
        self,
        args: tuple,
        *,
        shape: Any,
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = map(snp.asarray, args)
        self.indices_sorted, self.unique_indices = bool(indices_sorted), bool(unique_indices)
        super().__init__(args, shape=shape)
        if self.indptr.shape[-1] != self.shape[self.n_batch] + 1:
            raise wrong("BCSR", "indptr", self.indptr, f"{self.shape[self.n_batch] + 1} pointers")

    nse = property(lambda self: self.indices.shape[-1], doc="The stored elements of each batch.")
    n_batch = property(lambda self: self.indices.ndim - 1)
    n_dense = property(lambda self: self.data.ndim - 1 - self.n_batch)

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: Any = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCSR:
        """Store the nonzero elements of a dense array."""
        return bcsr_fromdense(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> BCSR:
        """Convert a BCOO with two sparse dimensions."""
        if arr.n_sparse != 2:
            raise wrong("from_bcoo", "arr", repr(arr), "an array of two sparse dimensions")
        arr = arr if arr.indices_sorted else bcoo_sort_indices(arr)
        data, indices = _full(arr)
        count = arr.shape[arr.n_batch]
        indptr = _batched(lambda rows: _pointers(rows, count), arr.n_batch, indices[..., 0])
        args = (data, indices[..., 1], indptr)
        return cls(args, shape=arr.shape, indices_sorted=True, unique_indices=arr.unique_indices)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_batch: int = 0, n_dense: int = 0
    ) -> BCSR:
        """Convert a sparse matrix of SciPy."""
        csr, dtype = mat.tocsr(), index_dtype or np.int32
        return cls((csr.data, csr.indices.astype(dtype), csr.indptr.astype(dtype)), shape=csr.shape)

    def to_bcoo(self) -> BCOO:
        """Return the same array as a BCOO."""
        rows = _batched(lambda p: _rows_of(p, self.nse), self.indptr.ndim - 1, self.indptr)
        rows = snp.broadcast_to(rows, self.indices.shape)
        indices = snp.stack([rows, self.indices], -1)
        return BCOO._like(self.data, indices, self.shape, self.indices_sorted, self.unique_indices)

    _bcoo = to_bcoo

    def _compressed_rows(self) -> tuple | None:
        if self.n_batch or self.n_dense:
            return None
        return self.data, self.indptr, self.indices

    def _with_data(self, data: Any) -> BCSR:
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return BCSR((data, self.indices, self.indptr), shape=self.shape, **flags)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """Add elements of equal indices."""
        return BCSR.from_bcoo(bcoo_sum_duplicates(self.to_bcoo(), nse))

    def todense(self) -> Array:
        """Return the dense array."""
        return self.to_bcoo().todense()

    def transpose(self, axes: Any = None) -> BCSR:
        """Permute the dimensions, within batch, sparse and dense ones."""
        return BCSR.from_bcoo(self.to_bcoo().transpose(axes))


def bcsr_fromdense(
    mat: Any,
    *,
    nse: int | None = None,
    n_batch: int = 0,
    n_dense: int = 0,
    index_dtype: Any = np.int32,
) -> BCSR:
    """Store the nonzero elements of a dense array by compressed rows.

    >>> sparse.bcsr_fromdense(snp.eye(2)).indices.tolist()
    [0, 1]
    """
    options: dict[str, Any] = {"n_batch": n_batch, "n_dense": n_dense, "index_dtype": index_dtype}
    return BCSR.from_bcoo(bcoo_fromdense(mat, nse=nse, **options))


def bcsr_todense(mat: BCSR) -> Array:
    """Return the dense array.

    >>> sparse.bcsr_todense(sparse.bcsr_fromdense(snp.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return mat.todense()


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Array:
    """Return the elements of a dense array at the indices of compressed rows.

    >>> m = sparse.bcsr_fromdense(snp.eye(2))
    >>> sparse.bcsr_extract(m.indices, m.indptr, snp.arange(4.0).reshape(2, 2)).tolist()
    [0.0, 3.0]
    """
    mat, indices = snp.asarray(mat), snp.asarray(indices)
    n_batch = indices.ndim - 1
    data = snp.zeros((*indices.shape, *mat.shape[n_batch + 2 :]), mat.dtype)
    pattern = BCSR((data, indices, indptr), shape=mat.shape)
    return bcoo_extract(pattern.to_bcoo(), mat, assume_unique=True).data


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """Contract dimensions of an array by compressed rows and a dense one, as `lax.dot_general`.

    >>> numbers = (((1,), (0,)), ((), ()))
    >>> m = sparse.bcsr_fromdense(snp.eye(2))
    >>> sparse.bcsr_dot_general(m, snp.ones(2), dimension_numbers=numbers).tolist()
    [1.0, 1.0]
    """
    a, b = [x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs)]
    options = {"dimension_numbers": dimension_numbers}
    return bcoo_dot_general(a, b, preferred_element_type=preferred_element_type, **options)


# COO, CSR, CSC: matrices ---------------------------------------------------------------------------


class COO(JAXSparse):
    """A sparse matrix by coordinates. `args` are (data, rows, columns).

    >>> m = sparse.COO.fromdense(snp.eye(2))
    >>> (m @ snp.ones(2)).tolist()
    [1.0, 1.0]
    """

    __slots__ = ("_cols_sorted", "_rows_sorted", "col", "data", "row")

    def __init__(
        self, args: tuple, *, shape: Any, rows_sorted: bool = False, cols_sorted: bool = False
    ) -> None:
        self.data, self.row, self.col = map(snp.asarray, args)
        self._rows_sorted, self._cols_sorted = rows_sorted, cols_sorted
        super().__init__(args, shape=shape)

    nse = property(lambda self: self.data.size, doc="The number of stored elements.")

    @classmethod
    def fromdense(cls, mat: Any, *, nse: Any = None, index_dtype: Any = np.int32) -> COO:
        """Store the nonzero elements of a dense matrix."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    def _bcoo(self) -> BCOO:
        return BCOO._like(self.data, snp.stack([self.row, self.col], -1), self.shape)

    def _with_data(self, data: Any) -> COO:
        flags = {"rows_sorted": self._rows_sorted, "cols_sorted": self._cols_sorted}
        return COO((data, self.row, self.col), shape=self.shape, **flags)

    def todense(self) -> Array:
        """Return the dense matrix."""
        return self._bcoo().todense()

    def transpose(self, axes: Any = None) -> COO:
        """Return the transpose."""
        flags = {"rows_sorted": self._cols_sorted, "cols_sorted": self._rows_sorted}
        return COO((self.data, self.col, self.row), shape=self.shape[::-1], **flags)


class CSR(JAXSparse):
    """A sparse matrix by compressed rows. `args` are (data, column indices, row pointers).

    >>> sparse.CSR.fromdense(snp.eye(2)).indptr.tolist()
    [0, 1, 2]
    """

    __slots__ = ("data", "indices", "indptr")

    def __init__(self, args: tuple, *, shape: Any) -> None:
        self.data, self.indices, self.indptr = map(snp.asarray, args)
        super().__init__(args, shape=shape)

    nse = property(lambda self: self.data.size, doc="The number of stored elements.")

    def _compressed_rows(self) -> tuple | None:
        return self.data, self.indptr, self.indices

    @classmethod
    def fromdense(cls, mat: Any, *, nse: Any = None, index_dtype: Any = np.int32) -> Any:
        """Store the nonzero elements of a dense matrix."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    def _bcoo(self) -> BCOO:
        rows = _rows_of(self.indptr, self.nse)
        return BCOO._like(self.data, snp.stack([rows, self.indices], -1), self.shape)

    def _with_data(self, data: Any) -> Any:
        return type(self)((data, self.indices, self.indptr), shape=self.shape)

    def todense(self) -> Array:
        """Return the dense matrix."""
        return self._bcoo().todense()

    def transpose(self, axes: Any = None) -> Any:
        """Return the transpose, by compressed columns."""
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


class CSC(CSR):
    """A sparse matrix by compressed columns. `args` are (data, row indices, column pointers).

    >>> sparse.CSC.fromdense(snp.eye(2)).todense().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    __slots__ = ()

    def _compressed_rows(self) -> tuple | None:
        return None  # it has columns

    @classmethod
    def fromdense(cls, mat: Any, *, nse: Any = None, index_dtype: Any = np.int32) -> CSC:
        """Store the nonzero elements of a dense matrix."""
        return csr_fromdense(snp.asarray(mat).T, nse=nse, index_dtype=index_dtype).transpose()

    def _bcoo(self) -> BCOO:
        columns = _rows_of(self.indptr, self.nse)
        return BCOO._like(self.data, snp.stack([self.indices, columns], -1), self.shape)

    def transpose(self, axes: Any = None) -> CSR:
        """Return the transpose, by compressed rows."""
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


def _register(cls: type, fields: tuple[str, ...], static: tuple[str, ...]) -> None:
    def flatten(m: Any) -> tuple:
        return tuple([getattr(m, f) for f in fields]), tuple([getattr(m, f) for f in static])

    def unflatten(values: tuple, parts: Any) -> Any:
        m = object.__new__(cls)
        for name, value in zip((*fields, *static), (*parts, *values), strict=True):
            setattr(m, name, value)
        if cls is BCSR and hasattr(m.data, "ndim"):
            m.shape = mapped_shape(m.shape, m.data, m.data.ndim + 1)
        return m

    trees.register_pytree_node(cls, flatten, unflatten)


_register(BCSR, ("data", "indices", "indptr"), ("shape", "indices_sorted", "unique_indices"))
_register(COO, ("data", "row", "col"), ("shape", "_rows_sorted", "_cols_sorted"))
_register(CSR, ("data", "indices", "indptr"), ("shape",))
_register(CSC, ("data", "indices", "indptr"), ("shape",))


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """Store the nonzero elements of a dense matrix by coordinates.

    >>> sparse.coo_fromdense(snp.eye(2)).row.tolist()
    [0, 1]
    """
    m = bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype)
    args = (m.data, m.indices[:, 0], m.indices[:, 1])
    return COO(args, shape=m.shape, rows_sorted=True)


def coo_todense(mat: COO) -> Array:
    """Return the dense matrix.

    >>> sparse.coo_todense(sparse.coo_fromdense(snp.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return mat.todense()


def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> Array:
    """Multiply a sparse matrix, or its transpose, by a vector.

    >>> sparse.coo_matvec(sparse.coo_fromdense(snp.eye(2)), snp.ones(2)).tolist()
    [1.0, 1.0]
    """
    return (mat.T if transpose else mat) @ snp.asarray(v)


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Array:
    """Multiply a sparse matrix, or its transpose, by a dense matrix.

    >>> sparse.coo_matmat(sparse.coo_fromdense(snp.eye(2)), snp.ones((2, 1))).tolist()
    [[1.0], [1.0]]
    """
    return (mat.T if transpose else mat) @ snp.asarray(B)


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """Store the nonzero elements of a dense matrix by compressed rows.

    >>> sparse.csr_fromdense(snp.eye(2)).indices.tolist()
    [0, 1]
    """
    m = bcsr_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return CSR((m.data, m.indices, m.indptr), shape=m.shape)


def csr_todense(mat: CSR) -> Array:
    """Return the dense matrix.

    >>> sparse.csr_todense(sparse.csr_fromdense(snp.eye(2))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return mat.todense()


def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> Array:
    """Multiply a sparse matrix, or its transpose, by a vector.

    >>> sparse.csr_matvec(sparse.csr_fromdense(snp.eye(2)), snp.ones(2)).tolist()
    [1.0, 1.0]
    """
    return (mat.T if transpose else mat) @ snp.asarray(v)


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Array:
    """Multiply a sparse matrix, or its transpose, by a dense matrix.

    >>> sparse.csr_matmat(sparse.csr_fromdense(snp.eye(2)), snp.ones((2, 1))).tolist()
    [[1.0], [1.0]]
    """
    return (mat.T if transpose else mat) @ snp.asarray(B)


# Creation --------------------------------------------------------------------------------------------

_FORMATS: dict[str, Any] = {"bcoo": BCOO, "bcsr": BCSR, "coo": COO, "csr": CSR, "csc": CSC}


def _format(name: str, function: str) -> Any:
    if name not in _FORMATS:
        raise wrong(
            function, "sparse_format", repr(name), f"one of {', '.join(map(repr, _FORMATS))}"
        )
    return _FORMATS[name]


def empty(
    shape: Any,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> Any:
    """Create a sparse array without stored elements.

    >>> sparse.empty((2, 3)).nse
    0
    """
    cls = _format(sparse_format, "empty")
    zeros = snp.zeros(tuple(shape), float if dtype is None else dtype)
    return cls.fromdense(zeros, nse=0, index_dtype=index_dtype, **kwds)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> Any:
    """Create a sparse matrix with ones on the `k`th diagonal.

    >>> sparse.eye(2, 3, k=1).todense().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    cls = _format(sparse_format, "eye")
    columns = N if M is None else M
    count = max(0, min(N, columns - k) if k >= 0 else min(N + k, columns))
    rows = lax.iota(index_dtype, count) + max(-k, 0)
    indices = snp.stack([rows, rows + k], -1)
    ones = snp.ones(count, float if dtype is None else dtype)
    m = BCOO._like(ones, indices, (N, columns), True, True)
    if kwds:
        m = m.update_layout(on_inefficient=None, **kwds)
    if cls is BCOO:
        return m
    if cls is COO:
        return COO((m.data, indices[:, 0], indices[:, 1]), shape=m.shape, rows_sorted=True)
    if cls is CSC:
        return eye(columns, N, -k, dtype, index_dtype, "csr").transpose()
    b = BCSR.from_bcoo(m)
    return b if cls is BCSR else CSR((b.data, b.indices, b.indptr), shape=b.shape)


def todense(arr: Any) -> Array:
    """Return a dense array: of a sparse one, or the array itself.

    >>> sparse.todense(sparse.eye(1)).tolist()
    [[1.0]]
    """
    return arr.todense() if isinstance(arr, JAXSparse) else snp.asarray(arr)
