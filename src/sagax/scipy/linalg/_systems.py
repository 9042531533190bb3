"""Solve linear systems, and reuse factors for several right-hand sides.

Options that SciPy has for speed or checks (`overwrite_a`, `check_finite`, `debug`, ...) are accepted
and change nothing.
"""

from __future__ import annotations

from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
import sagax.numpy.linalg as _linalg
import sagax.scipy.linalg._common as _common
from sagax._src.argument_checks import checks
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.lax import linalg as _lax
from sagax.numpy._arguments import check_choice
from sagax.numpy._fused import fused, fused_function


def _two(function: str, argument: str, value: Any, maker: str) -> tuple[Any, Any]:
    """The two parts of the result of a factorization."""
    parts = checks.several(function, argument, value, f"the pair that {maker} gives")
    if len(parts) != 2:
        raise ArgumentValueError.about(function, argument, value, f"the pair that {maker} gives")
    return parts[0], parts[1]


_TRANS = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _triangular(a: Any, b: Any, trans: int, lower: bool, unit: bool = False) -> Any:
    return _lax.triangular_solve(
        a,
        b,
        left_side=True,
        lower=lower,
        transpose_a=trans > 0,
        conjugate_a=trans == 2,
        unit_diagonal=unit,
    )


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """Solve a x = b, where only one triangle of `a` counts.

    Args:
      a: matrices of shape (..., n, n); the `lower` or the upper triangle is read.
      b: vectors of n, or matrices of n rows; stacks broadcast.
      trans: 0 or "N" solves a x = b, 1 or "T" a^T x = b, 2 or "C" a^H x = b.
      lower: whether `a` is lower triangular.
      unit_diagonal: whether the diagonal of `a` is taken to be ones, and not read.

    >>> linalg.solve_triangular(snp.array([[2.0, 0.0], [1.0, 1.0]]), snp.array([2.0, 3.0]), lower=True)
    Array([1., 2.], dtype=float32)
    """
    check_choice("scipy.linalg.solve_triangular", "trans", trans, tuple(_TRANS))
    a, b, vectors = _common.system("scipy.linalg.solve_triangular", *_common.listed(a, b))
    x = _triangular(a, b, _TRANS[trans], lower, unit_diagonal)
    return x[..., 0] if vectors else x


@fused_function(2)
def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """Solve a x = b for square matrices.

    Args:
      a: matrices of shape (..., n, n).
      b: a vector of n, or matrices of n rows; stacks broadcast.
      lower: with `assume_a="pos"`, which triangle of `a` is read.
      assume_a: "pos" for positive definite matrices, which takes half the time; "gen", "sym", "her".

    >>> linalg.solve(snp.array([[4.0, 0.0], [0.0, 16.0]]), snp.array([4.0, 8.0]), assume_a="pos")
    Array([1. , 0.5], dtype=float32)
    """
    check_choice("scipy.linalg.solve", "assume_a", assume_a, ("gen", "sym", "her", "pos"))
    if assume_a != "pos":
        return _linalg.solve(*_common.arrays("scipy.linalg.solve", a, b))
    a, b, vectors = _common.system("scipy.linalg.solve", a, b)
    factor = _cholesky(lax.stop_gradient(a), lower)
    # Derivatives solve with the same factor. They count all of the matrix, not the triangle that is read.
    x = lax.custom_linear_solve(
        lambda x: snp.matmul(a, x),
        b,
        lambda _, right: _cho_solved(factor, lower, right),
        symmetric=True,
    )
    return x[..., 0] if vectors else x


def _cholesky(a: Any, lower: bool) -> Any:
    if lower:
        return _lax.cholesky(a, symmetrize_input=False)
    return _common.adjoint(_lax.cholesky(_common.adjoint(a), symmetrize_input=False))


def _cho_solved(c: Any, lower: bool, b: Any) -> Any:
    first, then = (0, 2) if lower else (2, 0)
    return _triangular(c, _triangular(c, b, first, lower), then, lower)


@fused_function(1)
def cholesky(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """Factor `a` into U^H U with upper triangular U, or with `lower` into L L^H.

    `a` holds positive definite matrices, of shape (..., n, n), read in that triangle; where
    one is not positive definite the result is NaN.

    >>> linalg.cholesky(snp.array([[4.0, 2.0], [2.0, 5.0]]), lower=True)
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    (a,) = _common.arrays("scipy.linalg.cholesky", *_common.listed(a))
    _common.square("scipy.linalg.cholesky", a)
    return _cholesky(a, lower)


def cho_factor(
    a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """Compute the Cholesky factor of `a` and `lower`, together the argument of `cho_solve`.

    >>> factor = linalg.cho_factor(snp.array([[2.0, 0.0], [0.0, 4.0]]))
    >>> linalg.cho_solve(factor, snp.array([2.0, 2.0])).round(6)
    Array([1. , 0.5], dtype=float32)
    """
    return cholesky(a, lower), lower


def cho_solve(
    c_and_lower: tuple[Any, bool], b: Any, overwrite_b: bool = False, check_finite: bool = True
) -> Array:
    """Solve a x = b, from the result of `cho_factor` for `a`.

    >>> linalg.cho_solve((snp.array([[2.0]]), True), snp.array([8.0]))
    Array([2.], dtype=float32)
    """
    c, lower = _two("scipy.linalg.cho_solve", "c_and_lower", c_and_lower, "cho_factor")
    c, b, vectors = _common.system("scipy.linalg.cho_solve", *_common.listed(c, b))
    x = _cho_solved(c, bool(lower), b)
    return x[..., 0] if vectors else x


@fused_function(1)
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Array, Array]:
    """Compute L and U in one matrix and the pivots, together the argument of `lu_solve`.

    Row i was exchanged with row `pivots[i]`, one after the other. `a` has the shape (..., m, n).

    >>> linalg.lu_factor(snp.array([[0.0, 2.0], [1.0, 3.0]]))[1]
    Array([1, 1], dtype=int32)
    """
    (a,) = _common.arrays("scipy.linalg.lu_factor", *_common.listed(a))
    packed, pivots, _ = _lax.lu(a)
    return packed, pivots


def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: Any,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """Solve a x = b, from the result of `lu_factor` for `a`.

    `trans` 1 solves a^T x = b, 2 solves a^H x = b.

    >>> factors = linalg.lu_factor(snp.array([[0.0, 2.0], [1.0, 3.0]]))
    >>> linalg.lu_solve(factors, snp.array([2.0, 4.0]))
    Array([1., 1.], dtype=float32)
    """
    check_choice("scipy.linalg.lu_solve", "trans", trans, (0, 1, 2))
    packed, pivots = _two("scipy.linalg.lu_solve", "lu_and_piv", lu_and_piv, "lu_factor")
    packed, b, vectors = _common.system("scipy.linalg.lu_solve", *_common.listed(packed, b))
    x = _lu_solved(packed, snp.asarray(pivots), b, trans=int(trans))
    return x[..., 0] if vectors else x


@fused
def _lu_solved(packed: Any, pivots: Any, b: Any, *, trans: int) -> Any:
    n = packed.shape[-1]
    order = _lax.lu_pivots_to_permutation(pivots, n)
    batch = snp.broadcast_shapes(order.shape[:-1], b.shape[:-2])
    packed, b = [snp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (packed, b)]
    order = snp.broadcast_to(order, (*batch, n))[..., None]
    if trans == 0:
        low = _triangular(packed, snp.take_along_axis(b, order, axis=-2), 0, True, True)
        x = _triangular(packed, low, 0, False)
    else:
        low = _triangular(packed, b, trans, False)
        low = _triangular(packed, low, trans, True, True)
        x = snp.take_along_axis(low, snp.argsort(order, axis=-2), axis=-2)
    return x


@fused_function(1)
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Invert square matrices; infinite or NaN where they are singular.

    >>> linalg.inv(snp.array([[2.0]]))
    Array([[0.5]], dtype=float32)
    """
    return _linalg.inv(a)


@fused_function(1)
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """Compute the determinant of square matrices.

    >>> linalg.det(snp.array([[2.0, 1.0], [0.0, 3.0]]))
    Array(6., dtype=float32)
    """
    return _linalg.det(a)
