"""Solve sparse linear systems, and compute some eigenvalues of large matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
from sagax._src.callbacks.callbacks import pure_callback
from sagax._src.core.avals import ShapedArray
from sagax._src.core.value import Array
from sagax.experimental.sparse._base import JAXSparse
from sagax.experimental.sparse._formats import CSR
from sagax.experimental.sparse._operands import wrong

__all__ = ["lobpcg_standard", "spsolve"]


def _solve(data: Any, indices: Any, indptr: Any, b: Any, *, transposed: bool) -> np.ndarray:
    import scipy.sparse
    import scipy.sparse.linalg

    args = tuple(map(np.asarray, (data, indices, indptr)))
    n = args[2].shape[0] - 1
    matrix = scipy.sparse.csr_matrix(args, shape=(n, n)).tocsc()
    b = np.asarray(b)
    found: Any = scipy.sparse.linalg.spsolve(matrix.T if transposed else matrix, b)
    return found.astype(b.dtype)


def spsolve(
    data: Any, indices: Any, indptr: Any, b: Any, tol: float = 1e-6, reorder: int = 1
) -> Array:
    """Solve A x = b for a sparse square matrix by compressed rows, by SciPy's direct solver on the host.

    It has derivatives by `data` and `b`. `tol` and `reorder` are accepted as in jax.

    >>> m = sparse.CSR.fromdense(snp.array([[2.0, 0.0], [1.0, 4.0]]))
    >>> linalg.spsolve(m.data, m.indices, m.indptr, snp.array([2.0, 5.0])).tolist()
    [1.0, 1.0]
    """
    data, indices, indptr, b = map(snp.asarray, (data, indices, indptr, b))
    n = indptr.shape[0] - 1
    if b.shape != (n,):
        raise wrong("spsolve", "b", b, f"a vector of {n} elements")
    data = data.astype(snp.result_type(data, b))
    b = b.astype(data.dtype)
    a = CSR((data, indices, indptr), shape=(n, n))

    def on_host(_: Any, b: Any, transposed: bool = False) -> Any:
        call = functools.partial(_solve, transposed=transposed)
        out = ShapedArray(b.shape, b.dtype)
        return pure_callback(call, out, data, indices, indptr, b, vmap_method="sequential")

    return lax.custom_linear_solve(
        lambda x: a @ x, b, on_host, functools.partial(on_host, transposed=True)
    )


def lobpcg_standard(
    A: Any, X: Any, m: int = 100, tol: float | None = None
) -> tuple[Array, Array, Any]:
    """Compute the largest eigenvalues of a symmetric matrix, by LOBPCG: Knyazev, SIAM J. Sci. Comput. 23 (2001).

    Args:
      A: a matrix, dense or sparse, or a function that multiplies it by a matrix of columns.
      X: the first guess: k linearly independent columns; 5 k is below their length.
      m: the greatest number of iterations.
      tol: the norm of a residual, relative to the eigenvalue, that counts as converged (default: machine epsilon).

    Returns (the k largest eigenvalues in descending order, eigenvectors as columns, iterations).

    >>> a = snp.diag(snp.arange(1.0, 21.0))
    >>> values, vectors, steps = linalg.lobpcg_standard(a, snp.eye(20)[:, :2] + 0.1)
    >>> [round(float(v), 2) for v in values]
    [20.0, 19.0]
    """
    X = snp.asarray(X)
    if X.ndim != 2 or 5 * X.shape[1] >= X.shape[0]:
        raise wrong("lobpcg_standard", "X", X, "a matrix (n, k) with 5 * k < n")
    if not snp.issubdtype(X.dtype, snp.floating):
        raise wrong("lobpcg_standard", "X", X, "floating point numbers")
    multiply: Callable[..., Any] = (
        A if callable(A) and not isinstance(A, JAXSparse) else (lambda x: A @ x)
    )
    k, eps = X.shape[1], snp.finfo(X.dtype).eps
    limit = float(eps) if tol is None else tol

    def orthonormal(basis: Any) -> Any:
        """Return an orthonormal basis; columns that depend on the others become zero."""
        length = snp.linalg.norm(basis, axis=0, keepdims=True)
        basis = basis / snp.where(length == 0, 1, length)
        values, vectors = snp.linalg.eigh(basis.T @ basis)
        good = values > 10 * eps * basis.shape[1]
        scales = snp.where(good, 1 / snp.sqrt(snp.where(good, values, 1)), 0)
        return basis @ (vectors * scales[None])

    def step(state: tuple) -> tuple:
        x, p, values, _, count = state
        ax = multiply(x)
        residual = ax - x * values[None]
        # the guess stays as it is; the others are made orthogonal to it, twice for rounding
        others = snp.concatenate([residual, p], 1)
        for _ in range(2):
            others = orthonormal(others - x @ (x.T @ others))
        basis = snp.concatenate([x, others], 1)
        projected = basis.T @ multiply(basis)
        # columns that are zero must not look like eigenvectors of the eigenvalue 0
        used = snp.sum(basis * basis, 0) > 0.5
        lowest = -snp.sum(snp.abs(projected)) - 1
        projected = (projected + projected.T) / 2 + snp.diag(snp.where(used, 0, lowest))
        found, vectors = snp.linalg.eigh(projected)
        best = vectors[:, ::-1][:, :k]
        new = basis @ best
        change = others @ best[k:]
        new, _ = snp.linalg.qr(new)
        values = snp.sum(new * multiply(new), 0)
        error = snp.linalg.norm(multiply(new) - new * values[None], axis=0)
        return new, change, values, error, count + 1

    def running(state: tuple) -> Any:
        _, _, values, error, count = state
        size = snp.maximum(snp.abs(values), 1) * X.shape[0]
        return (count < m) & snp.any(error > limit * size)

    x, _ = snp.linalg.qr(X)
    small = x.T @ multiply(x)
    values, vectors = snp.linalg.eigh((small + small.T) / 2)
    x, values = x @ vectors[:, ::-1], values[::-1]
    start = (x, snp.zeros_like(x), values, snp.full(k, snp.inf, x.dtype), snp.array(0))
    x, _, values, _, count = lax.while_loop(running, step, start)
    order = snp.argsort(-values)
    return values[order], x[:, order], count
