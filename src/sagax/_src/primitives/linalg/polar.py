"""Define the polar decomposition, by products, QR and Cholesky factors only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src import config
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.value import aval_of
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.primitives.arithmetic import abs as absolute
from sagax._src.primitives.arithmetic import add, div, max, mul, sqrt, sub
from sagax._src.primitives.comparison import le
from sagax._src.primitives.linalg.cholesky import cholesky_p
from sagax._src.primitives.linalg.common import (
    UnsupportedError,
    check_matrix,
    hermitian_part,
    identity,
    lower_part,
    matmul,
    mH,
)
from sagax._src.primitives.linalg.qr import qr
from sagax._src.primitives.linalg.triangular import triangular_solve
from sagax._src.primitives.makers import scalar_like
from sagax._src.primitives.reductions import reduce_max_p
from sagax._src.primitives.shaping import concatenate
from sagax._src.primitives.slicing import slice_in_dim
from sagax._src.primitives.structural import convert, full_of, reduce_sum

_QR_ABOVE = 100.0  # beyond this weight a Cholesky factor would lose too many digits


def qdwh(
    x: Any,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Compute the polar factors of x = u h: u with orthonormal columns, h Hermitian positive semidefinite.

    The iteration is the dynamically weighted one of Halley (Y. Nakatsukasa, Z. Bai, F. Gygi, 2010). Its weights
    follow from a bound on the condition number, 1 / eps, so that the number of iterations is static: six in
    single and double precision.

    Args:
      x: a matrix of shape (m, n), m >= n.
      is_hermitian: x is Hermitian; u is symmetrized.
      max_iterations: stop after so many steps (default 10).
      eps: the ratio of the smallest nonzero singular value to the greatest; default: the precision of the
          dtype.
      dynamic_shape: not supported.

    Returns u, h, the number of steps, and whether the last step converged.

    >>> u, h, steps, converged = lax.linalg.qdwh(np.array([[0., -2.], [3., 0.]]))
    >>> bool(abs(h - np.array([[3., 0.], [0., 2.]])).max() < 1e-5)
    True
    """
    aval = aval_of(x)
    check_matrix("qdwh", aval, "x")
    if aval.ndim != 2 or aval.shape[0] < aval.shape[1]:
        raise ArgumentValueError.about("qdwh", "x", aval, "one matrix with m >= n rows")
    if dynamic_shape is not None:
        raise UnsupportedError(
            "a part of a matrix cannot be factored in place",
            function="qdwh",
            argument="dynamic_shape",
            got=dynamic_shape,
            expected="None",
            fix="slice the matrix first",
        )
    limit = 10 if max_iterations is None else int(max_iterations)
    if limit < 1:
        raise ArgumentValueError.about("qdwh", "max_iterations", max_iterations, "at least 1")
    precision = float(np.finfo(dtype_predicates.real_part_dtype(aval.dtype)).eps)
    weights = _weights(precision if eps is None else float(eps), precision)[:limit]
    if 0 in aval.shape:
        h = full_of(aval.update(shape=(aval.shape[1],) * 2), 0)
        return x, h, _count(0), np.bool_(True)
    u = div(x, _norm_bound(x))
    last = u
    for a, b, c in weights:
        last, u = u, (_by_qr if c > _QR_ABOVE else _by_cholesky)(u, a, b, c)
        if is_hermitian:
            u = hermitian_part(u)
    # the iteration converges cubically: the remaining error is the cube of the last step
    moved = _frobenius(sub(u, last))
    converged = le(moved, scalar_like((10 * precision) ** (1 / 3), aval_of(moved).dtype))
    # one step of Newton and Schulz removes rounding errors of u
    u = sub(mul(u, 1.5), mul(matmul(u, matmul(mH(u), u)), 0.5))
    h = hermitian_part(matmul(mH(u), x))
    return u, h, _count(len(weights)), converged


def _count(steps: int) -> Any:
    """Convert a number of steps to a weakly typed scalar."""
    return convert(steps, dtypes.default_int(config.current().x64), True)


def _weights(lower: float, precision: float) -> list[tuple[float, float, float]]:
    """Return weights of each step, from the lower bound of the singular values until all are one."""
    found = []
    while abs(1 - lower) > 10 * precision and len(found) < 20:
        square = lower * lower
        dd = math.cbrt(4 * (1 - square) / square**2) if square < 1 else 0.0
        root = math.sqrt(1 + dd)
        a = root + math.sqrt(8 - 4 * dd + 8 * (2 - square) / (square * root)) / 2
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        found.append((a, b, c))
        lower = min(lower * (a + b * square) / (1 + c * square), 1.0)
    return found


def _norm_bound(x: Any) -> Any:
    """Bound the greatest singular value from above, by sums of rows and of columns; 1 for zero."""
    size = absolute(x)
    sums = [reduce_max_p.bind(reduce_sum(size, (axis,)), axes=(0,)) for axis in (0, 1)]
    smallest = scalar_like(np.finfo(aval_of(size).dtype).tiny, aval_of(size).dtype)
    bound = max(mul(sqrt(sums[0]), sqrt(sums[1])), smallest)
    return convert(bound, aval_of(x).dtype)


def _frobenius(x: Any) -> Any:
    size = absolute(x)
    return sqrt(reduce_sum(mul(size, size), (0, 1)))


def _by_qr(x: Any, a: float, b: float, c: float) -> Any:
    m, n = aval_of(x).shape
    q, _ = qr(
        concatenate([mul(x, math.sqrt(c)), identity((n, n), aval_of(x).dtype)], 0),
        full_matrices=False,
    )
    top, bottom = slice_in_dim(q, 0, m), slice_in_dim(q, m, m + n)
    return add(mul(x, b / c), mul(matmul(top, mH(bottom)), (a - b / c) / math.sqrt(c)))


def _by_cholesky(x: Any, a: float, b: float, c: float) -> Any:
    n = aval_of(x).shape[1]
    gram = add(mul(matmul(mH(x), x), c), identity((n, n), aval_of(x).dtype))
    factor = lower_part(cholesky_p.bind(gram))
    half = triangular_solve(factor, x, lower=True, transpose_a=True, conjugate_a=True)
    solved = triangular_solve(factor, half, lower=True)
    return add(mul(x, b / c), mul(solved, a - b / c))
