"""Implement BCSR, COO, CSR and CSC: views of the same elements in other formats than BCOO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import sagax.experimental.sparse._reference as numpy_rules
import sagax.lax as lax
import sagax.numpy as snp
from sagax._src import trees
from sagax._src.config import thread
from sagax._src.core.avals import intern_aval
from sagax._src.core.primitive import Primitive
from sagax._src.core.samples import Sample, f32
from sagax._src.core.value import Array
from sagax.experimental.sparse._base import JAXSparse, check_indices_along, check_pointers
from sagax.experimental.sparse._bcoo import (
    BCOO,
    _full,
    bcoo_fromdense,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    mapped_shape,
    needed,
)
from sagax.experimental.sparse._elements import (
    COOInfo,
    SparseInfo,
    batched,
    bcoo_extract_p,
    sparse_primitive,
    typed,
)
from sagax.experimental.sparse._operands import SparseOperand, rows_of, wrong
from sagax.experimental.sparse._products import bcoo_dot_general, contract, product_aval


def _pointers(rows: Any, count: int) -> Any:
    """Return where each row starts among sorted row numbers."""
    return snp.searchsorted(rows, snp.arange(count + 1, dtype=rows.dtype)).astype(rows.dtype)


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
        if thread.settings.enable_checks:
            check_pointers(
                "BCSR", self.indptr, self.indices, self.shape[self.n_batch + 1], "columns"
            )

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
        indptr = batched(lambda rows: _pointers(rows, count), arr.n_batch, indices[..., 0])
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
        rows = batched(lambda p: rows_of(p, self.nse), self.indptr.ndim - 1, self.indptr)
        rows = snp.broadcast_to(rows, self.indices.shape)
        indices = snp.stack([rows, self.indices], -1)
        return BCOO._like(self.data, indices, self.shape, self.indices_sorted, self.unique_indices)

    _bcoo = to_bcoo

    def _compressed_rows(self) -> tuple | None:
        if self.n_batch or self.n_dense:
            return None
        return self.data, self.indptr, self.indices

    def _dot(self, other: Any, numbers: Any, preferred: Any) -> Any:
        if isinstance(other, SparseOperand):
            return super()._dot(other, numbers, preferred)
        dtype = snp.result_type(self.data, other) if preferred is None else preferred
        return bcsr_dot_general_p.bind(
            *(self.data, self.indices, self.indptr, snp.asarray(other)),
            dimension_numbers=numbers,
            lhs_spinfo=self._info,
            preferred_element_type=np.dtype(dtype),
        )

    def _with_data(self, data: Any) -> BCSR:
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return BCSR((data, self.indices, self.indptr), shape=self.shape, **flags)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCSR:
        """Add elements of equal indices; without zeros, unless they are kept."""
        return BCSR.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def todense(self) -> Array:
        """Return the dense array."""
        return bcsr_todense_p.bind(self.data, self.indices, self.indptr, spinfo=self._info)

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
    mat = snp.asarray(mat)
    options: dict[str, Any] = {"n_batch": n_batch, "n_dense": n_dense}
    if mat.ndim != n_batch + n_dense + 2:
        raise wrong("bcsr_fromdense", "mat", mat, "an array of two sparse dimensions")
    count = needed(mat, nse, "bcsr_fromdense", **options)
    parts = bcsr_fromdense_p.bind(mat, index_dtype=np.dtype(index_dtype), nse=count, **options)
    return BCSR(parts, shape=mat.shape, indices_sorted=True, unique_indices=True)


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
    return bcsr_extract_p.bind(*map(snp.asarray, (indices, indptr, mat)))


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
    options = {"precision": precision, "preferred_element_type": preferred_element_type}
    return bcoo_dot_general(lhs, rhs, dimension_numbers=dimension_numbers, **options)


def _check_length(name: str, argument: str, x: Any, length: int) -> None:
    if x.ndim != 1 or x.shape[0] != length:
        raise wrong(name, argument, x, f"{length} integers")


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
        for name in ("row", "col"):
            _check_length("COO", name, getattr(self, name), len(self.data))
        if thread.settings.enable_checks:
            check_indices_along("COO", "row", self.row, self.shape[0], rows_sorted)
            check_indices_along("COO", "col", self.col, self.shape[1], cols_sorted)

    nse = property(lambda self: self.data.size, doc="The number of stored elements.")

    @classmethod
    def fromdense(cls, mat: Any, *, nse: Any = None, index_dtype: Any = np.int32) -> COO:
        """Store the nonzero elements of a dense matrix."""
        return coo_fromdense(mat, nse=nse, index_dtype=index_dtype)

    @property
    def _info(self) -> Any:
        return COOInfo(self.shape, self._rows_sorted, self._cols_sorted)

    def _dot(self, other: Any, numbers: Any, preferred: Any) -> Any:
        if not _is_matrix_product(other, numbers):
            return super()._dot(other, numbers, preferred)
        out = _coo_product(self, other, False)
        return out if preferred is None else out.astype(preferred)

    def _bcoo(self) -> BCOO:
        return BCOO._like(self.data, snp.stack([self.row, self.col], -1), self.shape)

    def _with_data(self, data: Any) -> COO:
        flags = {"rows_sorted": self._rows_sorted, "cols_sorted": self._cols_sorted}
        return COO((data, self.row, self.col), shape=self.shape, **flags)

    def todense(self) -> Array:
        """Return the dense matrix."""
        return coo_todense_p.bind(self.data, self.row, self.col, spinfo=self._info)

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
        name, axis = type(self).__name__, self._pointed
        _check_length(name, "indices", self.indices, len(self.data))
        _check_length(name, "indptr", self.indptr, self.shape[axis] + 1)
        if thread.settings.enable_checks:
            what = "rows" if axis else "columns"
            check_pointers(name, self.indptr, self.indices, self.shape[1 - axis], what)

    _pointed = 0  # the dimension that the pointers divide
    nse = property(lambda self: self.data.size, doc="The number of stored elements.")

    def _compressed_rows(self) -> tuple | None:
        return self.data, self.indptr, self.indices

    @classmethod
    def fromdense(cls, mat: Any, *, nse: Any = None, index_dtype: Any = np.int32) -> Any:
        """Store the nonzero elements of a dense matrix."""
        return csr_fromdense(mat, nse=nse, index_dtype=index_dtype)

    def _bcoo(self) -> BCOO:
        rows = rows_of(self.indptr, self.nse)
        return BCOO._like(self.data, snp.stack([rows, self.indices], -1), self.shape)

    def _with_data(self, data: Any) -> Any:
        return type(self)((data, self.indices, self.indptr), shape=self.shape)

    def todense(self) -> Array:
        """Return the dense matrix."""
        return csr_todense_p.bind(self.data, self.indices, self.indptr, shape=self.shape)

    def _dot(self, other: Any, numbers: Any, preferred: Any) -> Any:
        if not _is_matrix_product(other, numbers):
            return super()._dot(other, numbers, preferred)
        out = _csr_product(self, other, False)
        return out if preferred is None else out.astype(preferred)

    def transpose(self, axes: Any = None) -> Any:
        """Return the transpose, by compressed columns."""
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])


class CSC(CSR):
    """A sparse matrix by compressed columns. `args` are (data, row indices, column pointers).

    >>> sparse.CSC.fromdense(snp.eye(2)).todense().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    __slots__ = ()
    _pointed = 1

    def _compressed_rows(self) -> tuple | None:
        return None  # it has columns

    @classmethod
    def fromdense(cls, mat: Any, *, nse: Any = None, index_dtype: Any = np.int32) -> CSC:
        """Store the nonzero elements of a dense matrix."""
        return csr_fromdense(snp.asarray(mat).T, nse=nse, index_dtype=index_dtype).transpose()

    def _bcoo(self) -> BCOO:
        columns = rows_of(self.indptr, self.nse)
        return BCOO._like(self.data, snp.stack([self.indices, columns], -1), self.shape)

    def todense(self) -> Array:
        """Return the dense matrix."""
        return self.transpose().todense().T

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


# Products of matrices ------------------------------------------------------------------------------

_PRODUCT: Any = (((1,), (0,)), ((), ()))


def _is_matrix_product(other: Any, numbers: Any) -> bool:
    return not isinstance(other, SparseOperand) and numbers == _PRODUCT and other.ndim in (1, 2)


def _matrix(function: str, mat: Any) -> Any:
    mat = snp.asarray(mat)
    if mat.ndim != 2:
        raise wrong(function, "mat", mat, "a matrix")
    return mat


def _operand(m: Any, other: Any, transpose: bool, name: str, ndim: int | None) -> Any:
    """Return the dense operand of a product, checked."""
    other = snp.asarray(other)
    size = m.shape[0 if transpose else 1]
    if (ndim is not None and other.ndim != ndim) or other.shape[0] != size:
        what = {1: "a vector", 2: "a matrix"}.get(ndim or 0, "an array")
        raise wrong(name, "v" if ndim == 1 else "B", other, f"{what} of {size} rows")
    return other


def _coo_product(m: COO, other: Any, transpose: bool, ndim: int | None = None) -> Any:
    names = {1: "coo_matvec", 2: "coo_matmat"}
    other = _operand(m, other, transpose, names[ndim or snp.ndim(other)], ndim)
    p = coo_matvec_p if other.ndim == 1 else coo_matmat_p
    return p.bind(m.data, m.row, m.col, other, spinfo=m._info, transpose=bool(transpose))


def _csr_product(m: CSR, other: Any, transpose: bool, ndim: int | None = None) -> Any:
    names = {1: "csr_matvec", 2: "csr_matmat"}
    other = _operand(m, other, transpose, names[ndim or snp.ndim(other)], ndim)
    p = csr_matvec_p if other.ndim == 1 else csr_matmat_p
    parts, shape = (m.data, m.indices, m.indptr, other), m.shape
    if isinstance(m, CSC):  # the rows of its transpose
        shape, transpose = shape[::-1], not transpose
    return p.bind(*parts, shape=shape, transpose=bool(transpose))


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """Store the nonzero elements of a dense matrix by coordinates.

    >>> sparse.coo_fromdense(snp.eye(2)).row.tolist()
    [0, 1]
    """
    mat = _matrix("coo_fromdense", mat)
    count = needed(mat, nse, "coo_fromdense")
    parts = coo_fromdense_p.bind(mat, index_dtype=np.dtype(index_dtype), nse=count)
    return COO(tuple(parts), shape=mat.shape, rows_sorted=True)


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
    return _coo_product(mat, v, transpose, 1)


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Array:
    """Multiply a sparse matrix, or its transpose, by a dense matrix.

    >>> sparse.coo_matmat(sparse.coo_fromdense(snp.eye(2)), snp.ones((2, 1))).tolist()
    [[1.0], [1.0]]
    """
    return _coo_product(mat, B, transpose, 2)


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """Store the nonzero elements of a dense matrix by compressed rows.

    >>> sparse.csr_fromdense(snp.eye(2)).indices.tolist()
    [0, 1]
    """
    mat = _matrix("csr_fromdense", mat)
    count = needed(mat, nse, "csr_fromdense")
    parts = csr_fromdense_p.bind(mat, index_dtype=np.dtype(index_dtype), nse=count)
    return CSR(tuple(parts), shape=mat.shape)


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
    return _csr_product(mat, v, transpose, 1)


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Array:
    """Multiply a sparse matrix, or its transpose, by a dense matrix.

    >>> sparse.csr_matmat(sparse.csr_fromdense(snp.eye(2)), snp.ones((2, 1))).tolist()
    [[1.0], [1.0]]
    """
    return _csr_product(mat, B, transpose, 2)


# Primitives: operations on the arrays of the formats -----------------------------------------------

_POINTERS = np.array([0, 2, 3, 5], np.int32)  # of 3 rows
_ROWS = np.array([0, 0, 1, 2, 2], np.int32)
_COLUMNS = np.array([1, 3, 0, 2, 2], np.int32)
_F32, _I32 = np.dtype(np.float32), np.dtype(np.int32)


def _bcsr(data: Any, indices: Any, indptr: Any, info: SparseInfo) -> BCSR:
    flags = {"indices_sorted": info.indices_sorted, "unique_indices": info.unique_indices}
    return BCSR((data, indices, indptr), shape=info.shape, **flags)


bcsr_fromdense_p = sparse_primitive("bcsr_fromdense", multiple_results=True)


@typed(bcsr_fromdense_p)
def _(mat: Any, *, index_dtype: Any, n_batch: int, n_dense: int, nse: int) -> list:
    batch, rows = mat.shape[:n_batch], mat.shape[n_batch]
    dense = mat.shape[mat.ndim - n_dense :]
    return [
        intern_aval((*batch, nse, *dense), mat.dtype),
        intern_aval((*batch, nse), np.dtype(index_dtype)),
        intern_aval((*batch, rows + 1), np.dtype(index_dtype)),
    ]


@bcsr_fromdense_p.composite
def _(mat: Any, *, nse: int, **options: Any) -> list:
    m = BCSR.from_bcoo(bcoo_fromdense(mat, nse=nse, **options))
    return [m.data, m.indices, m.indptr]


@bcsr_fromdense_p.reference
def _(mat: np.ndarray, **options: Any) -> Any:
    data, indices = numpy_rules.fromdense(mat, **options)
    return numpy_rules.compressed(data, indices, mat.shape[options["n_batch"]])


bcsr_fromdense_p.samples = [
    Sample(f32(3, 4), index_dtype=_I32, n_batch=0, n_dense=0, nse=12),
    Sample(f32(2, 3, 4), index_dtype=_I32, n_batch=1, n_dense=0, nse=5),
]

bcsr_todense_p = sparse_primitive("bcsr_todense", 0)


@typed(bcsr_todense_p)
def _(data: Any, indices: Any, indptr: Any, *, spinfo: SparseInfo) -> Any:
    return intern_aval(tuple(spinfo.shape), data.dtype)


@bcsr_todense_p.composite
def _(data: Any, indices: Any, indptr: Any, *, spinfo: SparseInfo) -> Any:
    return _bcsr(data, indices, indptr, spinfo).to_bcoo().todense()


@bcsr_todense_p.reference
def _(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, *, spinfo: SparseInfo) -> Any:
    return numpy_rules.todense(data, numpy_rules.coordinates(indices, indptr), spinfo=spinfo)


bcsr_todense_p.samples = [Sample(f32(5), _COLUMNS, _POINTERS, spinfo=SparseInfo((3, 4)))]

bcsr_extract_p = sparse_primitive("bcsr_extract", 2)


@typed(bcsr_extract_p)
def _(indices: Any, indptr: Any, mat: Any) -> Any:
    n_batch = indices.ndim - 1
    batch, dense = mat.shape[:n_batch], mat.shape[n_batch + 2 :]
    return intern_aval((*batch, indices.shape[-1], *dense), mat.dtype)


@bcsr_extract_p.composite
def _(indices: Any, indptr: Any, mat: Any) -> Any:
    mat, indices = snp.asarray(mat), snp.asarray(indices)
    n_batch = indices.ndim - 1
    data = snp.zeros((*indices.shape, *mat.shape[n_batch + 2 :]), mat.dtype)
    pattern = BCSR((data, indices, indptr), shape=mat.shape).to_bcoo()
    return bcoo_extract_p.bind(pattern.indices, mat, assume_unique=True)


@bcsr_extract_p.reference
def _(indices: np.ndarray, indptr: np.ndarray, mat: np.ndarray) -> Any:
    places = numpy_rules.coordinates(indices, indptr)
    return numpy_rules.extract(places, mat, assume_unique=True)


bcsr_extract_p.samples = [Sample(_COLUMNS, _POINTERS, f32(3, 4))]

bcsr_dot_general_p = sparse_primitive("bcsr_dot_general", 0, 3)


@typed(bcsr_dot_general_p)
def _(
    lhs_data: Any,
    lhs_indices: Any,
    lhs_indptr: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    preferred_element_type: Any,
) -> Any:
    shape = lhs_spinfo.shape
    return product_aval(lhs_data, shape, rhs, dimension_numbers, preferred_element_type)


@bcsr_dot_general_p.composite
def _(
    lhs_data: Any,
    lhs_indices: Any,
    lhs_indptr: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    lhs_spinfo: SparseInfo,
    preferred_element_type: Any,
) -> Any:
    lhs = _bcsr(lhs_data, lhs_indices, lhs_indptr, lhs_spinfo)
    return contract(lhs, snp.asarray(rhs), dimension_numbers, preferred_element_type)


@bcsr_dot_general_p.reference
def _(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, rhs: np.ndarray, **more: Any
) -> Any:
    return numpy_rules.dot_general(data, numpy_rules.coordinates(indices, indptr), rhs, **more)


bcsr_dot_general_p.samples = [
    Sample(
        f32(5),
        _COLUMNS,
        _POINTERS,
        f32(4, *more),
        dimension_numbers=_PRODUCT,
        lhs_spinfo=SparseInfo((3, 4)),
        preferred_element_type=_F32,
    )
    for more in ((), (2,))
]

coo_fromdense_p = sparse_primitive("coo_fromdense", multiple_results=True)


@typed(coo_fromdense_p)
def _(mat: Any, *, index_dtype: Any, nse: int) -> list:
    places = intern_aval((nse,), np.dtype(index_dtype))
    return [intern_aval((nse,), mat.dtype), places, places]


@coo_fromdense_p.composite
def _(mat: Any, *, index_dtype: Any, nse: int) -> list:
    m = bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype)
    return [m.data, m.indices[:, 0], m.indices[:, 1]]


@coo_fromdense_p.reference
def _(mat: np.ndarray, **options: Any) -> Any:
    data, indices = numpy_rules.fromdense(mat, n_batch=0, n_dense=0, **options)
    return [data, indices[:, 0], indices[:, 1]]


coo_fromdense_p.samples = [Sample(f32(3, 4), index_dtype=_I32, nse=12)]

coo_todense_p = sparse_primitive("coo_todense", 0)


@typed(coo_todense_p)
def _(data: Any, row: Any, col: Any, *, spinfo: COOInfo) -> Any:
    return intern_aval(tuple(spinfo.shape), data.dtype)


@coo_todense_p.composite
def _(data: Any, row: Any, col: Any, *, spinfo: COOInfo) -> Any:
    return COO((data, row, col), shape=spinfo.shape)._bcoo().todense()


@coo_todense_p.reference
def _(data: np.ndarray, row: np.ndarray, col: np.ndarray, *, spinfo: COOInfo) -> Any:
    return numpy_rules.todense(data, np.stack([row, col], -1), spinfo=spinfo)


coo_todense_p.samples = [Sample(f32(5), _ROWS, _COLUMNS, spinfo=COOInfo((3, 4)))]

csr_fromdense_p = sparse_primitive("csr_fromdense", multiple_results=True)


@typed(csr_fromdense_p)
def _(mat: Any, *, index_dtype: Any, nse: int) -> list:
    dtype = np.dtype(index_dtype)
    data = intern_aval((nse,), mat.dtype)
    return [data, intern_aval((nse,), dtype), intern_aval((mat.shape[0] + 1,), dtype)]


@csr_fromdense_p.composite
def _(mat: Any, *, index_dtype: Any, nse: int) -> list:
    m = BCSR.from_bcoo(bcoo_fromdense(mat, nse=nse, index_dtype=index_dtype))
    return [m.data, m.indices, m.indptr]


@csr_fromdense_p.reference
def _(mat: np.ndarray, **options: Any) -> Any:
    data, indices = numpy_rules.fromdense(mat, n_batch=0, n_dense=0, **options)
    return numpy_rules.compressed(data, indices, len(mat))


csr_fromdense_p.samples = [Sample(f32(3, 4), index_dtype=_I32, nse=12)]

csr_todense_p = sparse_primitive("csr_todense", 0)


@typed(csr_todense_p)
def _(data: Any, indices: Any, indptr: Any, *, shape: tuple) -> Any:
    return intern_aval(tuple(shape), data.dtype)


@csr_todense_p.composite
def _(data: Any, indices: Any, indptr: Any, *, shape: tuple) -> Any:
    return CSR((data, indices, indptr), shape=shape)._bcoo().todense()


@csr_todense_p.reference
def _(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, *, shape: tuple) -> Any:
    places = numpy_rules.coordinates(indices, indptr)
    return numpy_rules.todense(data, places, spinfo=SparseInfo(shape))


csr_todense_p.samples = [Sample(f32(5), _COLUMNS, _POINTERS, shape=(3, 4))]


def _matrix_product(name: str, matrix: Callable, samples: Sequence[Any], info: dict) -> Primitive:
    """Define the product of a matrix, built by `matrix` from three arrays, and a dense array."""
    p = sparse_primitive(name, 0, 3)

    @typed(p)
    def _(a: Any, b: Any, c: Any, x: Any, *, transpose: bool, **info: Any) -> Any:
        shape = (info["spinfo"] if "spinfo" in info else SparseInfo(info["shape"])).shape
        rows = shape[1 if transpose else 0]
        return intern_aval((rows, *x.shape[1:]), snp.result_type(a.dtype, x.dtype))

    @p.composite
    def _(a: Any, b: Any, c: Any, x: Any, *, transpose: bool, **info: Any) -> Any:
        m = matrix(a, b, c, **info)
        return contract(m.T if transpose else m, snp.asarray(x), _PRODUCT)

    @p.reference
    def _(
        a: np.ndarray, b: np.ndarray, c: np.ndarray, x: np.ndarray, *, transpose: bool, **info: Any
    ) -> Any:
        places = np.stack([b, c], -1) if "spinfo" in info else numpy_rules.coordinates(b, c)
        spinfo = info["spinfo"] if "spinfo" in info else SparseInfo(info["shape"])
        dense = numpy_rules.todense(a, places, spinfo=spinfo)
        return (dense.T if transpose else dense) @ x

    more = () if name.endswith("vec") else (2,)
    p.samples = [
        Sample(*samples, f32(3 if transpose else 4, *more), transpose=transpose, **info)
        for transpose in (False, True)
    ]
    return p


def _coo_of(data: Any, row: Any, col: Any, *, spinfo: COOInfo) -> COO:
    flags = {"rows_sorted": spinfo.rows_sorted, "cols_sorted": spinfo.cols_sorted}
    return COO((data, row, col), shape=spinfo.shape, **flags)


def _csr_of(data: Any, indices: Any, indptr: Any, *, shape: tuple) -> CSR:
    return CSR((data, indices, indptr), shape=shape)


_OF_COO: tuple = _coo_of, (f32(5), _ROWS, _COLUMNS), {"spinfo": COOInfo((3, 4))}
_OF_CSR: tuple = _csr_of, (f32(5), _COLUMNS, _POINTERS), {"shape": (3, 4)}
coo_matvec_p = _matrix_product("coo_matvec", *_OF_COO)
coo_matmat_p = _matrix_product("coo_matmat", *_OF_COO)
csr_matvec_p = _matrix_product("csr_matvec", *_OF_CSR)
csr_matmat_p = _matrix_product("csr_matmat", *_OF_CSR)

# Of any format, or a dense array: `sparsify` sees here that the result is dense.
todense_p = sparse_primitive("todense", 0)


@typed(todense_p)
def _(*parts: Any, tree: Any) -> Any:
    m = tree.unflatten(parts)
    return intern_aval(m.shape, m.data.dtype) if isinstance(m, JAXSparse) else m


@todense_p.composite
def _(*parts: Any, tree: Any) -> Any:
    m = tree.unflatten(parts)
    return m.todense() if isinstance(m, JAXSparse) else m


@todense_p.reference
def _(*parts: np.ndarray, tree: Any) -> Any:
    if len(parts) == 1:
        return parts[0]
    data, row, col = parts  # the formats have references of their own
    spinfo = SparseInfo(tree.unflatten(parts).shape)
    return numpy_rules.todense(data, np.stack([row, col], -1), spinfo=spinfo)


def _todense_samples() -> list:
    m = COO((np.zeros(5, np.float32), _ROWS, _COLUMNS), shape=(3, 4))
    tree = trees.flatten(m)[1]
    return [Sample(f32(5), _ROWS, _COLUMNS, tree=tree), Sample(f32(3), tree=trees.flatten(0)[1])]


todense_p.samples = _todense_samples


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

    Under `sparsify` the argument is dense from here on.

    >>> sparse.todense(sparse.eye(1)).tolist()
    [[1.0]]
    """
    leaves, tree = trees.flatten(arr if isinstance(arr, JAXSparse) else snp.asarray(arr))
    return todense_p.bind(*leaves, tree=tree)
