"""Implement NumPy's index objects: mgrid, ogrid, r_, c_, s_, and `ix_`."""

from __future__ import annotations

from typing import Any

import numpy as np

from sagax._src.core import dims, dtypes
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError, ConcretizationTypeError
from sagax._src.primitives.shaping import stack
from sagax._src.primitives.structural import broadcast_in_dim, convert, expand_dims
from sagax.numpy._arguments import concrete_or_raise
from sagax.numpy._base import as_array, promote_dtypes, x64
from sagax.numpy._conversion import asarray
from sagax.numpy._creation import arange, linspace
from sagax.numpy._joining import concatenate


class IndexExpression:
    """Return the index in its brackets, to store and use later."""

    __slots__ = ("_as_tuple",)

    def __init__(self, as_tuple: bool) -> None:
        self._as_tuple = as_tuple

    def __getitem__(self, index: Any) -> Any:
        return (index,) if self._as_tuple and not isinstance(index, tuple) else index


s_ = IndexExpression(False)
index_exp = IndexExpression(True)


# -- ranges ---------------------------------------------------------------------------------------


def _range(name: str, s: slice) -> Array:
    """Create the numbers that a slice stands for; an imaginary step is their count, with the stop."""
    start, stop, step = [
        None if bound is None else _number(f"slice {what} of numpy.{name}", bound)
        for what, bound in (("start", s.start), ("stop", s.stop), ("step", s.step))
    ]
    if isinstance(step, complex):
        if stop is None:
            raise ArgumentValueError.about(name, "slice", str(s), "a stop, as in 0:1:5j")
        return linspace(0 if start is None else start, stop, int(abs(step)))
    if stop is None:  # a single number is the stop, as in arange
        start, stop = 0, 0 if start is None else start
    if step == 0:
        raise ArgumentValueError("slice step cannot be zero", function=name, got=str(s))
    return arange(0 if start is None else start, stop, step)


def _number(what: str, x: Any) -> Any:
    if isinstance(x, Tracer):
        if x.concrete() is None:
            raise ConcretizationTypeError(x, what)
        x = x.concrete()
    if isinstance(x, (Array, np.ndarray)) and x.ndim == 0:
        return np.asarray(x).item()
    if isinstance(x, (int, float, complex, np.generic)) or dims.is_dim(x):
        return x
    raise ArgumentError(f"{what} must be a number", got=x)


def _axes(name: str, index: Any) -> list:
    """Create the ranges of a tuple of slices, in one dtype."""
    for s in index:
        if not isinstance(s, slice):
            raise ArgumentError.about(name, "index", s, "slices, as in 0:3, 0:1:5j")
    return promote_dtypes(name, *[_range(name, s) for s in index]) if index else []


class MeshGrid:
    """Create the coordinates of all points of a grid: `mgrid[0:2, 0:3]` has shape (2, 2, 3).

    Entry i holds coordinate i of each point. A slice start:stop:step is a range as of `arange`;
    with an imaginary step, such as 5j, it is that many numbers from start to stop, both included.

    >>> snp.mgrid[0:2, 0:2]
    Array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]], dtype=int32)
    """

    def __getitem__(self, index: Any) -> Array:
        if isinstance(index, slice):
            return _range("mgrid", index)
        lines = _axes("mgrid", index if isinstance(index, tuple) else (index,))
        if not lines:
            return arange(0)
        shape = tuple([line.shape[0] for line in lines])
        return stack([broadcast_in_dim(line, shape, (k,)) for k, line in enumerate(lines)])


class OpenGrid:
    """Create coordinates of a grid, one array an axis, which broadcast to the grid; see `mgrid`.

    >>> snp.ogrid[0:2, 0:3]
    [Array([[0],
           [1]], dtype=int32), Array([[0, 1, 2]], dtype=int32)]
    """

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _range("ogrid", index)
        lines = _axes("ogrid", index if isinstance(index, tuple) else (index,))
        return [_along(line, k, len(lines)) for k, line in enumerate(lines)]


def _along(line: Any, axis: int, ndim: int) -> Any:
    """Reshape a one-dimensional array to a given rank, with its dimension at `axis`."""
    return expand_dims(line, [d for d in range(ndim) if d != axis])


mgrid = MeshGrid()
ogrid = OpenGrid()


# -- joining --------------------------------------------------------------------------------------


class Joining:
    """Join what stands in its brackets: arrays, lists, numbers, and slices that stand for ranges.

    A first entry 'axis,ndim,place' tells along which axis, how many dimensions each part gets at
    least, and at which place a one-dimensional part has its own dimension. The text 'r' or 'c' (of
    `r_`) makes a matrix with one row or one column.
    """

    def __init__(self, name: str, axis: int, ndim: int, position: int) -> None:
        self._name = name
        self._default = (axis, ndim, position)

    def __repr__(self) -> str:
        return f"sagax.numpy.{self._name}"

    def __getitem__(self, index: Any) -> Array:
        entries = list(index) if isinstance(index, tuple) else [index]
        axis, ndim, position = self._default
        matrix = ""
        if entries and isinstance(entries[0], str):
            directive = entries.pop(0)
            if directive in ("r", "c") and self._name == "r_":
                matrix = directive
            else:
                axis, ndim, position = self._directive(directive)
        blocks = [self._block(e, ndim, position) for e in entries]
        if not blocks:
            raise ArgumentValueError(
                function=self._name, got="nothing", expected="at least one part to join"
            )
        joined = concatenate(blocks, axis)
        if matrix and joined.ndim == 1:
            return expand_dims(joined, (0,) if matrix == "r" else (1,))
        return joined

    def _directive(self, text: str) -> tuple[int, int, int]:
        given = text.split(",")
        try:
            numbers = [int(n) for n in given]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ArgumentValueError(
                function=self._name,
                argument="directive",
                got=repr(text),
                expected="'axis', 'axis,ndim' or 'axis,ndim,place', such as '0,2'",
            )
        return tuple(numbers + list(self._default[len(numbers) :]))  # type: ignore[return-value]

    def _block(self, entry: Any, ndim: int, position: int) -> Any:
        if isinstance(entry, slice):
            entry = _range(self._name, entry)
        elif isinstance(entry, str):
            raise ArgumentValueError(
                function=self._name, got=repr(entry), expected="text as the first entry only"
            )
        block = asarray(entry)
        rank = block.ndim
        if rank == 0:
            block = broadcast_in_dim(block, (1,) * max(ndim, 1))
        elif rank < ndim:
            order = position if position >= 0 else ndim - rank + position + 1
            new = [d for d in range(ndim) if not order <= d < order + rank]
            block = expand_dims(block, new)
        return block


r_ = Joining("r_", 0, 1, -1)
c_ = Joining("c_", -1, 2, 0)


# -- open meshes of indices -----------------------------------------------------------------------


def ix_(*args: Any) -> tuple[Array, ...]:
    """Index arrays for all combinations of the given indices along each axis.

    `x[ix_(i, j)]` is the array of the elements `x[a, b]` for a in `i` and b in `j`. Each argument
    is one-dimensional; a mask stands for the indices where it is true.

    Raises:
      ValueError: an argument has not one dimension.

    >>> x = snp.arange(9).reshape(3, 3)
    >>> x[snp.ix_(snp.array([0, 2]), snp.array([0, 1]))]
    Array([[0, 1],
           [6, 7]], dtype=int32)
    """
    found = []
    for k, arg in enumerate(args):
        x = as_array("ix_", arg, k)
        if x.ndim != 1:
            raise ArgumentValueError.about(
                "ix_", f"at position {k}", x, "an array with one dimension"
            )
        if x.dtype == np.bool_:
            fix = "pass the indices, such as jnp.nonzero(mask, size=n)[0]"
            x = asarray(np.nonzero(concrete_or_raise("ix_", x, fix))[0])
        elif x.size == 0:  # an empty list of indices has a dtype of floats
            x = convert(x, dtypes.default_int(x64()))
        found.append(_along(x, k, len(args)))
    return tuple(found)
