"""Compute products of matrices and vectors, and their diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sagax.numpy._contraction as _contraction
from sagax._src.argument_checks import checks
from sagax._src.core import dims
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.numpy._arguments import with_aval
from sagax.numpy._einsum import einsum

# products -----------------------------------------------------------------------------------------


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Array:
    """Multiply two or more matrices, in the order that takes the least work.

    The first and the last may be vectors: a row and a column. Raises a ValueError when they do not fit.

    >>> snp.linalg.multi_dot([snp.ones((2, 3)), snp.ones((3, 4)), snp.ones(4)])
    Array([12., 12.], dtype=float32)
    """
    arrays = checks.several("linalg.multi_dot", "arrays", arrays, "a sequence of matrices")
    found = [with_aval("linalg.multi_dot", x, i) for i, x in enumerate(arrays)]
    shapes = [aval.shape for _, aval in found]
    ranks = [len(s) for s in shapes]
    if len(found) < 2 or set(ranks[1:-1]) - {2} or {ranks[0], ranks[-1]} - {1, 2}:
        raise ArgumentValueError(
            "input arrays must all be two-dimensional, except for the first and last array which may"
            f" be 1 or 2 dimensional. Got array shapes {shapes}",
            function="linalg.multi_dot",
            expected="at least two arrays",
        )
    for left, right in zip(shapes, shapes[1:]):
        if not dims.same(left[-1], right[0]):
            raise ArgumentValueError(
                "last dimension of each array must match first dimension of following array. Got"
                f" array shapes {shapes}",
                function="linalg.multi_dot",
            )
    labels = [[i, i + 1] for i in range(len(found))]
    result = [0, len(found)]
    if ranks[0] == 1:
        labels[0] = labels[0][1:]
        result.remove(0)
    if ranks[-1] == 1:
        labels[-1] = labels[-1][:1]
        result.remove(len(found))
    operands = [part for (x, _), names in zip(found, labels) for part in (x, names)]
    return einsum(*operands, result, optimize="optimal", precision=precision)


def outer(x1: Any, x2: Any, /) -> Array:
    """Multiply each element of the vector `x1` (a row each) with each of `x2` (a column each).

    >>> snp.linalg.outer(snp.array([1, 2]), snp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    x1, x = with_aval("linalg.outer", x1, 0)
    x2, y = with_aval("linalg.outer", x2, 1)
    if x.ndim != 1 or y.ndim != 1:
        raise ArgumentValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={x.ndim} x2.ndim={y.ndim}",
            function="linalg.outer",
            fix="numpy.outer flattens its arguments",
        )
    return _contraction.outer(x1, x2)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Compute the cross products of vectors of 3 components along `axis`.

    >>> snp.linalg.cross(snp.array([1, 0, 0]), snp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    return _contraction.cross(x1, x2, axis=axis)


def tensordot(
    x1: Any, x2: Any, /, *, axes: Any = 2, precision: Any = None, preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Sum products over several dimensions of both arrays; see `numpy.tensordot`.

    >>> float(snp.linalg.tensordot(snp.ones((2, 3)), snp.ones((2, 3))))
    6.0
    """
    return _contraction.tensordot(
        x1, x2, axes,
        precision=precision, preferred_element_type=preferred_element_type, out_sharding=out_sharding,
    )  # fmt: skip


# diagonals ----------------------------------------------------------------------------------------


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Extract the diagonals of the matrices in the last two dimensions of `x`.

    >>> snp.linalg.diagonal(snp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return _contraction.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sum the diagonals of the matrices in the last two dimensions of `x`.

    >>> int(snp.linalg.trace(snp.array([[1, 2], [3, 4]])))
    5
    """
    return _contraction.trace(x, offset, -2, -1, dtype)
