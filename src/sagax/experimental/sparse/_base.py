"""Define the base class of sparse arrays: types, operators and methods that all formats share."""

from __future__ import annotations

import abc
import math
from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax.experimental.sparse._elements import SparseInfo
from sagax.experimental.sparse._operands import SparseOperand, wrong
from sagax.experimental.sparse._products import matmul


class SparseEfficiencyError(ArgumentValueError):
    """A layout would store many more zeros than there are elements."""


class SparseEfficiencyWarning(UserWarning):
    """A layout stores many more zeros than there are elements."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """An operation is not computed by cuSPARSE. sagax itself never warns so."""


class JAXSparse(SparseOperand):
    """Base of the sparse formats: a shape, and arrays that hold the stored elements.

    Sparse arrays are pytrees. Operators take sparse and dense arrays and numbers.

    >>> sparse.JAXSparse.__name__
    'JAXSparse'
    """

    __array_priority__ = 100
    __slots__ = ("__weakref__", "shape")

    shape: tuple
    data: Any

    def __init__(self, args: tuple, *, shape: Any) -> None:
        self.shape = tuple(shape)

    @property
    def size(self) -> int:
        """The number of elements, stored or not."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        parts = [f"nse={self.nse}"]
        for name in ("n_batch", "n_dense"):
            if getattr(self, name, 0):
                parts.append(f"{name}={getattr(self, name)}")
        return f"{type(self).__name__}({self.dtype}[{sizes}], {', '.join(parts)})"

    def __hash__(self) -> int:
        raise ArgumentError("a sparse array cannot be hashed", function="hash", got=repr(self))

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise ArgumentError(
            "a sparse array is no dense array",
            function="numpy.asarray",
            got=repr(self),
            fix="convert it: x.todense()",
        )

    @property
    def T(self) -> Any:
        return self.transpose()

    @abc.abstractmethod
    def transpose(self, axes: Any = None) -> Any: ...

    @abc.abstractmethod
    def todense(self) -> Array: ...

    def block_until_ready(self) -> Any:
        """Wait until the arrays are computed."""
        for x in trees.leaves(self):
            x.block_until_ready()
        return self

    def sum(self, axis: Any = None, **options: Any) -> Any:
        """Sum elements along axes: a sparse array, or a dense scalar of all."""
        return self._bcoo().sum(axis, **options)

    def __neg__(self) -> Any:
        return self._with_data(-self.data)

    def __abs__(self) -> Any:
        m = self if self._is_unique() else self._bcoo().sum_duplicates()
        return m._with_data(snp.abs(m.data))

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int) or exponent < 1:
            raise wrong("pow", "exponent", exponent, "a positive int, which keeps zeros")
        m = self if self._is_unique() else self._bcoo().sum_duplicates()
        return m._with_data(m.data**exponent)

    def _is_unique(self) -> bool:
        return bool(getattr(self, "unique_indices", False))

    @property
    def _info(self) -> SparseInfo:
        parts = [getattr(self, n, False) for n in ("indices_sorted", "unique_indices")]
        return SparseInfo(self.shape, *parts)

    def __pos__(self) -> Any:
        return self

    def _scaled(self, other: Any, function: Any) -> Any:
        if isinstance(other, JAXSparse) or (is_operand(other) and snp.ndim(other)):
            return function(self._bcoo(), other)
        return self._with_data(function(self.data, other))

    def __mul__(self, other: Any) -> Any:
        return self._scaled(other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self._scaled(other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self._scaled(other, lambda a, b: a / b)

    def __add__(self, other: Any) -> Any:
        return self._bcoo() + other

    def __radd__(self, other: Any) -> Any:
        return other + self._bcoo()

    def __sub__(self, other: Any) -> Any:
        return self._bcoo() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self._bcoo()

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self._bcoo()

    def __getitem__(self, index: Any) -> Any:
        return self._bcoo()[index]


def check_indices(indices: Any, sizes: tuple, ordered: bool, unique: bool) -> None:
    """Raise an error for indices that are no padding and out of bounds, or not as declared.

    Runs with the option `enable_checks`, where the indices are known.
    """
    if isinstance(indices, Tracer) or not sizes:
        return
    found = np.asarray(indices)
    found = found.reshape(math.prod(found.shape[:-2]), *found.shape[-2:])
    padding = (found == np.array(sizes)).any(-1)
    wrong_at = np.argwhere(((found < 0) | (found > np.array(sizes))).any(-1) & ~padding)
    if wrong_at.size:
        batch, i = wrong_at[0]
        raise wrong(
            "BCOO",
            f"indices[..., {i}, :]",
            tuple(map(int, found[batch, i])),
            f"indices below the shape {sizes}, or equal to it where an element is padding",
        )
    if not (ordered or unique):
        return
    for rows, padded in zip(found, padding, strict=True):
        if not all(sizes):
            break
        kept = rows[~padded]
        numbers = np.zeros(len(kept), int)
        if len(kept):
            numbers[:] = np.ravel_multi_index(tuple(kept.T), sizes)
        if ordered and (np.diff(numbers) < 0).any():
            i = int(np.argmax(np.diff(numbers) < 0)) + 1
            raise wrong(
                "BCOO",
                f"indices[..., {i}, :]",
                f"{tuple(map(int, kept[i]))} after {tuple(map(int, kept[i - 1]))}",
                "indices in order, as indices_sorted=True says; bcoo_sort_indices sorts them",
            )
        if unique and len(np.unique(numbers)) < len(numbers):
            raise wrong(
                "BCOO",
                "indices",
                "the same index twice",
                "distinct indices, as unique_indices=True says; bcoo_sum_duplicates adds them up",
            )


def check_indices_along(name: str, argument: str, x: Any, size: int, ordered: bool) -> None:
    """Raise an error for indices along one dimension that are out of bounds, or not in the order declared.

    Runs with the option `enable_checks`, where they are known. An index equal to the size marks padding.
    """
    if isinstance(x, Tracer):
        return
    found = np.asarray(x)
    outside = np.argwhere((found < 0) | (found > size))
    if outside.size:
        i = int(outside[0, 0])
        raise wrong(name, f"{argument}[{i}]", int(found[i]), f"below {size}, or equal for padding")
    falls = np.argwhere(np.diff(found) < 0)
    if ordered and falls.size:
        i = int(falls[0, 0]) + 1
        got = f"{int(found[i])} after {int(found[i - 1])}"
        raise wrong(name, f"{argument}[{i}]", got, f"in order, as {argument}s_sorted=True says")


def check_pointers(name: str, indptr: Any, indices: Any, size: int, axis: str) -> None:
    """Raise an error for pointers that do not rise from 0, or indices out of bounds.

    Runs with the option `enable_checks`, where both are known. Elements behind the last pointer are padding.
    """
    if isinstance(indptr, Tracer) or isinstance(indices, Tracer):
        return
    pointers = np.asarray(indptr).reshape(-1, indptr.shape[-1])
    found = np.broadcast_to(np.asarray(indices), (*indptr.shape[:-1], indices.shape[-1]))
    found = found.reshape(len(pointers), indices.shape[-1])
    for row, columns in zip(pointers, found, strict=True):
        steps = np.argwhere(np.diff(row, prepend=0) < 0)
        if row[0] or steps.size or row[-1] > len(columns):
            i = int(steps[0, 0]) if steps.size else 0 if row[0] else len(row) - 1
            expected = f"pointers that rise from 0 to at most {len(columns)}"
            raise wrong(name, f"indptr[{i}]", int(row[i]), expected)
        outside = np.argwhere((columns < 0) | (columns >= size))
        outside = outside[outside < row[-1]]
        if outside.size:
            i = int(outside[0])
            raise wrong(name, f"indices[{i}]", int(columns[i]), f"{axis} below {size}")
