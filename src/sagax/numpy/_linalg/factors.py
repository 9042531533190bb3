"""Factor matrices: Cholesky, QR, singular values, eigenvalues.

A matrix is the last two dimensions of an array; the dimensions before them are a stack. Integers are
computed with as floating point numbers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import sagax.numpy._base as _base
from sagax._src.core import dims
from sagax._src.core.value import Array, aval_of
from sagax._src.diagnostics.errors import ArgumentValueError, SagaxError
from sagax._src.primitives.linalg.cholesky import cholesky as lax_cholesky
from sagax._src.primitives.linalg.common import mH
from sagax._src.primitives.linalg.eigen import eig as lax_eig
from sagax._src.primitives.linalg.eigen import eigh as lax_eigh
from sagax._src.primitives.linalg.qr import geqrf
from sagax._src.primitives.linalg.qr import qr as lax_qr
from sagax._src.primitives.linalg.svd import svd as lax_svd
from sagax.numpy._arguments import check_choice, renamed
from sagax.numpy._arithmetic import absolute
from sagax.numpy._fused import fused_function
from sagax.numpy._indexing import take_along_axis
from sagax.numpy._selection import where
from sagax.numpy._shaping import expand_dims, flip, matrix_transpose
from sagax.numpy._sorting import argsort


def matrices(function: str, x: Any, *, square: bool = False, position: int = 0) -> Array:
    """Convert `x` to a stack of floating point matrices; errors name `function`."""
    (x,) = _base.promote_inexact(function, _base.as_operand(function, x, position))
    x = _base.as_array(function, x)
    if x.ndim < 2 or (square and not dims.same(x.shape[-1], x.shape[-2])):
        raise ArgumentValueError(
            function=function,
            got=x,
            expected="square matrices: shape (..., n, n)"
            if square
            else "matrices: at least two dimensions",
        )
    return x


def _called(function: str, fun: Any, *args: Any, **options: Any) -> Any:
    """Call `fun(*args, **options)`, with errors that name `function`."""
    try:
        return fun(*args, **options)
    except SagaxError as error:
        raise renamed(error, function) from None


# Cholesky, QR -------------------------------------------------------------------------------------


@fused_function(1)
def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """Factor positive definite `a` into L L^H, L lower triangular (or `upper`: U^H U).

    Factors (a + a^H) / 2, or with `symmetrize_input=False` what the triangle says. NaN where a matrix
    is not positive definite.

    >>> snp.linalg.cholesky(snp.array([[4.0, 2.0], [2.0, 5.0]]))
    Array([[2., 0.],
           [1., 2.]], dtype=float32)
    """
    x = matrices("linalg.cholesky", a, square=True)
    if upper and not symmetrize_input:
        x = mH(x)
    found = _called("linalg.cholesky", lax_cholesky, x, symmetrize_input=symmetrize_input)
    return mH(found) if upper else found


class QRResult(NamedTuple):
    """The result of `qr`: orthonormal columns, and an upper triangular matrix."""

    Q: Array
    R: Array


@fused_function(1)
def qr(a: Any, mode: str = "reduced") -> Any:
    """Factor matrices into Q with orthonormal columns and upper triangular R: a = Q R.

    `mode` is 'reduced' (for matrices of shape (m, n), with k the lesser, Q is (m, k) and R is (k, n)),
    'complete' (Q is (m, m) and R is (m, n)), 'r' (R alone), or 'raw' (LAPACK's Householder vectors,
    transposed, and their factors).

    >>> q, r = snp.linalg.qr(snp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> bool(snp.allclose(q @ r, snp.array([[3.0, 1.0], [4.0, 2.0]]), atol=1e-5))
    True
    """
    check_choice(
        "linalg.qr",
        "mode",
        mode,
        ("reduced", "complete", "r", "raw", "full"),
        "'reduced', 'complete', 'r' or 'raw'",
    )
    x = matrices("linalg.qr", a)
    if mode == "raw":
        vectors, factors = _called("linalg.qr", geqrf, x)
        return QRResult(matrix_transpose(vectors), factors)
    q, r = _called("linalg.qr", lax_qr, x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


# singular values ----------------------------------------------------------------------------------


class SVDResult(NamedTuple):
    """The result of `svd`: left singular vectors, singular values, right singular vectors."""

    U: Array
    S: Array
    Vh: Array


@fused_function(1)
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:
    """Decompose matrices into U, S and V^H with a = U diag(S) V^H.

    With `compute_uv=False` only S is computed. For matrices of shape (m, n), with k the lesser, U
    is (m, m) and V^H is (n, n), or without `full_matrices` (m, k) and (k, n). S descends.
    `hermitian` promises that `a` is Hermitian.

    >>> snp.linalg.svd(snp.array([[0.0, 2.0], [1.0, 0.0]]), compute_uv=False)
    Array([2., 1.], dtype=float32)
    """
    x = matrices("linalg.svd", a, square=bool(hermitian))
    if hermitian:
        return _hermitian_svd(x, compute_uv)
    found = _called(
        "linalg.svd", lax_svd, x,
        full_matrices=full_matrices, compute_uv=compute_uv, subset_by_index=subset_by_index,
    )  # fmt: skip
    return SVDResult(*found) if compute_uv else found


def _hermitian_svd(x: Array, compute_uv: bool) -> Any:
    """Compute the SVD from eigenvalues: singular values are their sizes, signs go to one side."""
    vectors, values = _called("linalg.svd", lax_eigh, x)
    sizes = absolute(values)
    order = flip(argsort(sizes, -1), -1)
    sizes = take_along_axis(sizes, order, -1)
    if not compute_uv:
        return sizes
    signs = where(values < 0, -1, 1).astype(vectors.dtype)
    right = mH(vectors * expand_dims(signs, -2))
    left = take_along_axis(vectors, expand_dims(order, -2), -1)
    return SVDResult(left, sizes, take_along_axis(right, expand_dims(order, -1), -2))


@fused_function(1)
def svdvals(x: Any, /) -> Array:
    """Compute the singular values of matrices, descending.

    >>> snp.linalg.svdvals(snp.array([[0.0, 2.0], [1.0, 0.0]]))
    Array([2., 1.], dtype=float32)
    """
    return svd(x, compute_uv=False)


# eigenvalues --------------------------------------------------------------------------------------


class EigResult(NamedTuple):
    """The result of `eig`."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """The result of `eigh`."""

    eigenvalues: Array
    eigenvectors: Array


@fused_function(1)
def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Compute the ascending real eigenvalues, and eigenvectors as columns, of Hermitian matrices.

    Takes (a + a^H) / 2, or with `symmetrize_input=False` what the triangle `UPLO`, 'L' or 'U', says.

    >>> snp.linalg.eigh(snp.array([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Array([1., 2.], dtype=float32)
    """
    if UPLO not in (None, "L", "U"):
        raise ArgumentValueError(
            f"UPLO must be one of None, 'L', or 'U', got {UPLO}", function="linalg.eigh"
        )
    x = matrices("linalg.eigh", a, square=True)
    vectors, values = _called(
        "linalg.eigh", lax_eigh, x, lower=UPLO != "U", symmetrize_input=symmetrize_input
    )
    return EighResult(values, vectors)


@fused_function(1)
def eigvalsh(a: Any, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Compute the eigenvalues of Hermitian matrices, ascending; see `eigh`.

    >>> snp.linalg.eigvalsh(snp.array([[2.0, 0.0], [0.0, 1.0]]))
    Array([1., 2.], dtype=float32)
    """
    return eigh(a, UPLO, symmetrize_input).eigenvalues


@fused_function(1)
def eig(a: Any) -> EigResult:
    """Compute the eigenvalues, in no particular order, and eigenvectors as columns, of matrices.

    Both are complex. On the CPU only.

    >>> snp.linalg.eig(snp.array([[0.0, -1.0], [1.0, 0.0]])).eigenvalues
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = matrices("linalg.eig", a, square=True)
    values, vectors = _called("linalg.eig", lax_eig, x, compute_left_eigenvectors=False)
    return EigResult(values, vectors)


@fused_function(1)
def eigvals(a: Any) -> Array:
    """Compute the eigenvalues of square matrices, in no particular order; complex. On the CPU only.

    >>> snp.linalg.eigvals(snp.array([[0.0, -1.0], [1.0, 0.0]]))
    Array([0.+1.j, 0.-1.j], dtype=complex64)
    """
    x = matrices("linalg.eigvals", a, square=True)
    (values,) = _called(
        "linalg.eigvals", lax_eig, x,
        compute_left_eigenvectors=False, compute_right_eigenvectors=False,
    )  # fmt: skip
    return values


def epsilon(x: Any) -> Any:
    """Return the distance from 1 to the next number of the dtype of `x`."""
    return np.finfo(np.dtype(aval_of(x).dtype).type(0).real.dtype).eps
