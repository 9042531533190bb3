"""Compute norms of vectors and matrices, and condition numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dims, dtypes
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives import arithmetic
from sagax._src.primitives.reductions import reduce_sum_p
from sagax._src.primitives.structural import convert
from sagax.numpy._arguments import axes_in_order, axis_tuple, one_axis
from sagax.numpy._arithmetic import absolute, power
from sagax.numpy._fused import fused, fused_function
from sagax.numpy._linalg.factors import matrices, svdvals
from sagax.numpy._linalg.systems import inv
from sagax.numpy._reductions import max as max_along
from sagax.numpy._reductions import mean_dtypes, restore_dims, squared_distance
from sagax.numpy._reductions import min as min_along
from sagax.numpy._reductions import sum as sum_along
from sagax.numpy._selection import where
from sagax.numpy._shaping import moveaxis

# norms --------------------------------------------------------------------------------------------


@fused_function(1)
def norm(
    x: Any, ord: Any = None, axis: int | Sequence[int] | None = None, keepdims: bool = False
) -> Array:
    """Compute the norm of vectors along an axis of `x`, or of matrices along two; floating point.

    Args:
      ord: for vectors any number p: the p-th root of the sum of |x|^p; infinity is the greatest |x|,
        minus infinity the least, 0 the number of elements that are not 0. For matrices 'fro', the root
        of the sum of squares; 1 and infinity, the greatest sum of |x| of a column, of a row; -1 and
        minus infinity the least; 2 and -2 the greatest and the least singular value, 'nuc' their sum.
        None is 2 for vectors, 'fro' for matrices.
      axis: an int for vectors, a pair for matrices. None: all of `x`, with `ord=None` as a vector.

    >>> float(snp.linalg.norm(snp.array([3.0, 4.0])))
    5.0
    """
    x, aval = _inexact("linalg.norm", x)
    if axis is None:
        if ord is None:
            return _vector_norm(x, 2, tuple(range(aval.ndim)), keepdims)
        axes = tuple(range(aval.ndim))
    else:
        axes = axes_in_order("linalg.norm", axis, aval.ndim, "axis")
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, "fro" if ord is None else ord, axes, keepdims)
    raise ArgumentValueError(
        f"Improper number of axes for norm: axis={axes}. Pass one axis to compute a vector-norm, or"
        " two axes to compute a matrix-norm.",
        function="linalg.norm",
    )


@fused_function(1)
def vector_norm(
    x: Any, /, *, axis: int | Sequence[int] | None = None, keepdims: bool = False, ord: Any = 2
) -> Array:
    """Compute the norm of order `ord` over `axis` (one, several, or None: all), as one vector.

    `ord` as in `norm`.

    >>> float(snp.linalg.vector_norm(snp.array([[1.0, -2.0], [3.0, 4.0]]), ord=1))
    10.0
    """
    x, aval = _inexact("linalg.vector_norm", x)
    return _vector_norm(x, ord, axis_tuple("linalg.vector_norm", axis, aval.ndim), keepdims)


@fused_function(1)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Compute the norms of order `ord` of the matrices in the last two dimensions; see `norm`.

    >>> float(snp.linalg.matrix_norm(snp.array([[1.0, -2.0], [3.0, 4.0]]), ord=1))
    6.0
    """
    x, aval = _inexact("linalg.matrix_norm", x)
    axes = tuple([one_axis("linalg.matrix_norm", d, aval.ndim) for d in (-2, -1)])
    return _matrix_norm(x, ord, axes, keepdims)


def _inexact(function: str, x: Any) -> tuple[Any, Any]:
    (x,) = _base.promote_inexact(function, _base.as_operand(function, x))
    return x, aval_of(x)


def _vector_norm(x: Any, order: Any, axes: tuple, keepdims: bool) -> Array:
    if order is None:
        order = 2
    if isinstance(order, str):
        raise ArgumentValueError(
            f"Invalid order '{order}' for vector norm.",
            function="linalg.norm",
            fix="use numpy.inf" if order in ("inf", "-inf") else None,
        )
    if isinstance(order, (int, float, np.number)):
        return _norm_of_order(x, order=float(order), axes=axes, keepdims=bool(keepdims))
    sizes = power(absolute(x), order)
    return power(sum_along(sizes, axes, keepdims=keepdims), 1 / order)


@fused
def _norm_of_order(x: Any, *, order: float, axes: tuple, keepdims: bool) -> Array:
    aval = aval_of(x)
    if order == 2:
        working, result = mean_dtypes(aval.dtype, True)
        total = reduce_sum_p.bind(squared_distance(convert(x, working)), axes=axes)
        found = convert(arithmetic.sqrt(total), dtypes.real_part_dtype(result))
        return restore_dims(found, aval, axes) if keepdims else found
    sizes = absolute(x)
    if order == np.inf:
        return max_along(sizes, axes, keepdims=keepdims, initial=0)
    if order == -np.inf:
        return min_along(sizes, axes, keepdims=keepdims)
    if order == 0:
        return sum_along(x != 0, axes, dtype=sizes.dtype, keepdims=keepdims)
    if order == 1:
        return sum_along(sizes, axes, keepdims=keepdims)
    return power(sum_along(power(sizes, order), axes, keepdims=keepdims), 1 / order)


def _matrix_norm(x: Any, order: Any, axes: tuple, keepdims: bool) -> Array:
    rows, columns = axes
    if order is None or order == "fro":
        return _norm_of_order(x, order=2.0, axes=tuple(sorted(axes)), keepdims=bool(keepdims))
    if order in (2, -2, "nuc"):
        values = svdvals(moveaxis(x, axes, (-2, -1)))
        reduce = {2: max_along, -2: min_along, "nuc": sum_along}[order]
        found = reduce(values, -1)
        return restore_dims(found, aval_of(x), axes) if keepdims else found
    if isinstance(order, (int, float)) and abs(order) in (1, np.inf):
        return _norm_of_sums(
            x, rows=rows, columns=columns, order=float(order), keepdims=bool(keepdims)
        )
    raise ArgumentValueError(
        f"Invalid order '{order}' for matrix norm.",
        function="linalg.norm",
        expected="'fro', 'nuc', 1, -1, 2, -2, numpy.inf or -numpy.inf",
    )


@fused
def _norm_of_sums(x: Any, *, rows: int, columns: int, order: float, keepdims: bool) -> Array:
    """Compute the extreme of the sums of absolute values of columns (order 1) or rows."""
    over, other = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = sum_along(absolute(x), over)
    found = (max_along if order > 0 else min_along)(sums, other - (over < other))
    return restore_dims(found, aval_of(x), (rows, columns)) if keepdims else found


@fused_function(1)
def cond(x: Any, p: Any = None) -> Array:
    """Compute the condition number in the norm `p`: norm(x) * norm(inv(x)); infinite if singular.

    `p` is None or 2, the greatest singular value divided by the least, -2 the inverse of that, or
    another order of `norm`, for square matrices.

    >>> float(snp.linalg.cond(snp.array([[2.0, 0.0], [0.0, 1.0]])))
    2.0
    """
    x = matrices("linalg.cond", x)
    if hasattr(p, "shape") and p.shape:
        raise ArgumentValueError.about(
            "linalg.cond", "p", p, "None, a number or the name of a norm"
        )
    if any(dims.same(size, 0) for size in x.shape[-2:]):
        raise ArgumentValueError.about("linalg.cond", "x", x, "matrices that are not empty")
    if p in (None, 2, -2):
        s = svdvals(x)
        found = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        if not dims.same(x.shape[-1], x.shape[-2]):
            raise ArgumentValueError(
                f"for p={p} matrices must be square", function="linalg.cond", got=x
            )
        found = norm(x, p, axis=(-2, -1)) * norm(inv(x), p, axis=(-2, -1))
    has_no_nan = sum_along(x != x, (-2, -1)) == 0
    return where((found != found) & has_no_nan, np.inf, found)
