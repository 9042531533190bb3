"""Define the base class of sparse arrays: types, operators and methods that all formats share."""

from __future__ import annotations

import abc
import math
from typing import Any

import sagax.numpy as snp
from sagax._src import trees
from sagax._src.core.value import Array, is_operand
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError


class JAXSparse(abc.ABC):
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
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    @abc.abstractmethod
    def nse(self) -> int:
        """The number of stored elements."""

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        return f"{type(self).__name__}({self.dtype}[{sizes}], nse={self.nse})"

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

    @abc.abstractmethod
    def _bcoo(self) -> Any:
        """Return the same array as a BCOO."""

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

    def __pos__(self) -> Any:
        return self

    @abc.abstractmethod
    def _with_data(self, data: Any) -> Any: ...

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
        return self._bcoo() @ (other._bcoo() if isinstance(other, JAXSparse) else other)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self._bcoo()

    def __getitem__(self, index: Any) -> Any:
        return self._bcoo()[index]


def refuse(function: str, text: str, fix: str | None = None) -> UnsupportedError:
    return UnsupportedError(text, function=function, fix=fix)


def wrong(function: str, argument: str, got: Any, expected: str) -> ArgumentValueError:
    return ArgumentValueError.about(function, argument, got, expected)
