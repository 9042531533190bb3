"""Define the operands of sparse products, and the errors of this package."""

from __future__ import annotations

import abc
from typing import Any

import sagax.numpy as snp
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError
from sagax.numpy._indexing.update import IndexUpdateHelper as at


class SparseOperand(abc.ABC):
    """Define the part of a sparse array that products use."""

    __slots__ = ()

    shape: tuple

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    @abc.abstractmethod
    def nse(self) -> int:
        """The number of stored elements."""

    @abc.abstractmethod
    def _bcoo(self) -> Any:
        """Return the same array as a BCOO."""

    @abc.abstractmethod
    def _with_data(self, data: Any) -> Any:
        """Return the array with other elements at the same places."""

    def _dot(self, other: Any, numbers: Any, preferred: Any) -> Any:
        """Return the product with a dense or sparse array, with the numbers of `lax.dot_general`."""
        return self._bcoo()._dot(other, numbers, preferred)

    def _compressed_rows(self) -> tuple | None:
        """Return (data, row pointers, column indices) of a matrix whose rows are in order; None for others."""
        return None

    def _row_indices(self) -> Any:
        """Return the row of each element of a matrix."""
        return self._bcoo().indices[:, 0]


def rows_of(indptr: Any, nse: Any) -> Any:
    """Return the row of each element, which is the number of rows that end before it."""
    dtype = aval_of(indptr).dtype
    ends = at(snp.zeros(nse + 1, dtype))[indptr[1:]].add(1, mode="drop")
    return snp.cumsum(ends, dtype=dtype)[:nse]


def lie_within(indices: Any, sizes: Any) -> Any:
    """Return which rows of indices lie below the sizes: those of elements, not of padding."""
    limits = snp.array(sizes, indices.dtype).reshape(*[1] * (indices.ndim - 1), -1)
    return snp.all(indices < limits, -1)


def columns_of(indices: Any) -> tuple:
    """Return the indices of each dimension."""
    return tuple([indices[..., i] for i in range(indices.shape[-1])])


def refuse(function: str, text: str, fix: str | None = None) -> UnsupportedError:
    return UnsupportedError(text, function=function, fix=fix)


def wrong(function: str, argument: str, got: Any, expected: str) -> ArgumentValueError:
    return ArgumentValueError.about(function, argument, got, expected)
