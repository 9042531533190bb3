"""Factor matrices: LU, QR, singular values, eigenvalues, Schur, Hessenberg, polar."""

from __future__ import annotations

from typing import Any

import sagax.lax as lax
import sagax.numpy as snp
import sagax.numpy.linalg as _linalg
import sagax.scipy.linalg._common as _common
from sagax._src import tuning
from sagax._src.api.derivatives import jvp
from sagax._src.api.jit import jit
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.higher_order.custom_derivatives import custom_jvp
from sagax._src.languages.choice import worded
from sagax.lax import linalg as _lax
from sagax.numpy._arguments import check_choice
from sagax.numpy._base import promotes_freely
from sagax.numpy._fused import fused_function
from sagax.scipy.linalg._systems import _cholesky, _triangular


@fused_function(1)
@promotes_freely
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """Factor matrices into P, L, U with a = P L U: a permutation, lower and upper triangular.

    With `permute_l` the product P L, and U. `a` has the shape (..., m, n).

    >>> p, l, u = linalg.lu(snp.array([[0.0, 2.0], [1.0, 3.0]]))
    >>> (p @ l @ u)
    Array([[0., 2.],
           [1., 3.]], dtype=float32)
    """
    (a,) = _common.arrays("scipy.linalg.lu", *_common.listed(a))
    packed, _, order = _lax.lu(a)
    m, n = a.shape[-2:]
    k = min(m, n)
    low = snp.tril(packed[..., :, :k], -1) + snp.eye(m, k, dtype=a.dtype)
    up = snp.triu(packed)[..., :k, :]
    real = snp.finfo(a.dtype).dtype
    permutation = (order[..., None, :] == snp.arange(m, dtype=order.dtype)[:, None]).astype(real)
    if permute_l:
        return snp.matmul(permutation.astype(a.dtype), low), up
    return permutation, low, up


@fused_function(1)
def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """Factor matrices into Q with orthonormal columns and R upper triangular, with a = Q R.

    Args:
      a: matrices of shape (..., m, n).
      mode: "full"; "economic", which leaves out what is multiplied by zeros; "r", R alone.
      pivoting: choose an order of columns in which the diagonal of R decreases; it is returned as a last
        array: a[:, order] = Q R.

    >>> q, r = linalg.qr(snp.array([[3.0, 1.0], [4.0, 2.0]]))
    >>> (q @ r).round(5)
    Array([[3., 1.],
           [4., 2.]], dtype=float32)
    """
    check_choice("scipy.linalg.qr", "mode", mode, ("full", "r", "economic"))
    (a,) = _common.arrays("scipy.linalg.qr", *_common.listed(a))
    found = _lax.qr(a, pivoting=pivoting, full_matrices=mode != "economic")
    return tuple(found[1:]) if mode == "r" else tuple(found)


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """Multiply Q (of a = Q R) with `c`; return also R, and with `pivoting` the order of columns.

    `mode` "left" gives Q c, "right" c Q (for a vector: Q^T c). Q has as many columns as the economic
    form. `conjugate` takes the complex conjugate of Q.

    >>> a = snp.array([[3.0, 1.0], [4.0, 2.0]])
    >>> q_c, r = linalg.qr_multiply(a, snp.eye(2), mode="left")
    >>> (q_c @ r).round(5)
    Array([[3., 1.],
           [4., 2.]], dtype=float32)
    """
    check_choice("scipy.linalg.qr_multiply", "mode", mode, ("left", "right"))
    a, c = _common.arrays("scipy.linalg.qr_multiply", a, c)
    q, *rest = _lax.qr(a, pivoting=pivoting, full_matrices=False)
    if conjugate:
        q = snp.conj(q)
    if mode == "left":
        if c.shape[0 if c.ndim == 1 else -2] != q.shape[-1] and q.shape[-1] != q.shape[-2]:
            q, *rest = _lax.qr(a, pivoting=pivoting, full_matrices=True)
            q = snp.conj(q) if conjugate else q
            rest[0] = rest[0][..., : a.shape[-1], :]
    return (snp.matmul(q, c) if mode == "left" else snp.matmul(c, q), *rest)


@fused_function(1)
def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """Decompose matrices into U, s and V^H with a = U diag(s) V^H.

    With `compute_uv=False` only s is computed. `lapack_driver` is "gesdd" or "gesvd".

    >>> linalg.svd(snp.array([[3.0, 0.0], [0.0, 4.0]]), compute_uv=False)
    Array([4., 3.], dtype=float32)
    """
    check_choice("scipy.linalg.svd", "lapack_driver", lapack_driver, ("gesdd", "gesvd"))
    (a,) = _common.arrays("scipy.linalg.svd", *_common.listed(a))
    found = _linalg.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)
    return tuple(found) if compute_uv else found


@fused_function(1)
def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Compute the eigenvalues, ascending, and eigenvectors (as columns) of Hermitian matrices.

    Args:
      a: matrices of shape (..., n, n); of others the Hermitian part counts, (a + a^H) / 2.
      b: positive definite matrices, of the generalized problem that `type` names; then one triangle of `a` is read.
      lower: which triangle that is.
      eigvals_only: return the eigenvalues alone.
      eigvals: must be None: all eigenvalues are computed.
      type: 1: a v = w b v. 2: a b v = w v. 3: b a v = w v.

    >>> linalg.eigh(snp.array([[2.0, 1.0], [1.0, 2.0]]), eigvals_only=True).round(5)
    Array([1., 3.], dtype=float32)
    """
    if eigvals is not None:
        raise worded(
            NotImplementedError("scipy.linalg.eigh: Only the eigvals=None case is implemented.")
        )
    check_choice("scipy.linalg.eigh", "type", type, (1, 2, 3))
    if b is None:
        (a,) = _common.arrays("scipy.linalg.eigh", *_common.listed(a))
        _common.square("scipy.linalg.eigh", a)
        v, w = _lax.eigh(a, lower=lower)
        return w if eigvals_only else (w, v)
    a, b = _common.arrays("scipy.linalg.eigh", *_common.listed(a, b))
    _common.square("scipy.linalg.eigh", a)
    _common.square("scipy.linalg.eigh", b)
    triangle = snp.tril(a, -1) if lower else snp.triu(a, 1)
    diagonal = snp.real(snp.diagonal(a, axis1=-2, axis2=-1))[..., None] * snp.eye(
        a.shape[-1], dtype=a.dtype
    )
    a = triangle + _common.adjoint(triangle) + diagonal
    factor = _cholesky(b, lower)
    factor = factor if lower else _common.adjoint(factor)  # b = L L^H
    if type == 1:  # (L^-1 a L^-H) y = w y, v = L^-H y
        half = _triangular(factor, a, 0, True)
        inner = _triangular(factor, _common.adjoint(half), 0, True)
    else:  # (L^H a L) y = w y
        inner = snp.matmul(_common.adjoint(factor), snp.matmul(a, factor))
    y, w = _lax.eigh(inner, symmetrize_input=True)
    if eigvals_only:
        return w
    v = snp.matmul(factor, y) if type == 3 else _triangular(factor, y, 2, True)
    return w, v


@fused_function(2)
def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[Any, Any] | None = None,
    tol: Any = None,
    key: Any = None,
) -> Any:
    """Compute the eigenvalues, ascending, and eigenvectors of a Hermitian tridiagonal matrix.

    Args:
      d: the diagonal, shape (n,).
      e: the numbers above it, shape (n - 1,); below it are their conjugates.
      eigvals_only: return the eigenvalues alone.
      select: "a" for all, "i" for those with the indices `select_range` (both included).
      tol, key: accepted; the eigenvalues are exact to rounding.

    Eigenvectors and derivatives are those of the dense matrix: for some thousand rows at most.

    >>> linalg.eigh_tridiagonal(snp.array([2.0, 2.0]), snp.array([1.0]), eigvals_only=True).round(5)
    Array([1., 3.], dtype=float32)
    """
    check_choice("scipy.linalg.eigh_tridiagonal", "select", select, ("a", "i"))
    d, e = _common.arrays("scipy.linalg.eigh_tridiagonal", d, e)
    if d.ndim != 1 or e.ndim != 1 or e.shape[0] != d.shape[0] - 1:
        raise ArgumentValueError(
            f"shapes {d.shape} and {e.shape} do not fit",
            function="scipy.linalg.eigh_tridiagonal",
            expected="a vector of n and one of n - 1",
        )
    if select == "i":
        if select_range is None:
            raise ArgumentValueError(
                "the indices of the eigenvalues are missing",
                function="scipy.linalg.eigh_tridiagonal",
                argument="select_range",
                fix="pass select_range=(first, last)",
            )
        first, last = select_range
        chosen = slice(first, last + 1)
    else:
        chosen = slice(None)
    if eigvals_only and d.shape[0] >= tuning.BISECTION_MIN_SIZE and d.dtype.kind == "f":
        return _tridiagonal_values(d, e)[chosen]
    v, w = _lax.eigh(_tridiagonal(d, e))
    return w[chosen] if eigvals_only else (w[chosen], v[:, chosen])


def _tridiagonal(d: Any, e: Any) -> Array:
    above = snp.diag(e, 1)
    return snp.diag(d) + above + _common.adjoint(above)


@custom_jvp
def _tridiagonal_values(d: Any, e: Any) -> Array:
    """Compute the eigenvalues of a real tridiagonal matrix: by bisection on CPUs, where loops of small steps are quick."""
    return lax.platform_dependent(d, e, cpu=_bisected, default=_values_of_dense)


@_tridiagonal_values.defjvp
def _(primals: tuple, tangents: tuple) -> tuple:
    _, change = jvp(_values_of_dense, primals, tangents)  # from the eigenvectors
    return _tridiagonal_values(*primals), change


def _values_of_dense(d: Any, e: Any) -> Array:
    return _lax.eigh(_tridiagonal(d, e))[1]


def _bisected(d: Any, e: Any) -> Array:
    """Halve an interval around each eigenvalue, by the number of eigenvalues below its middle.

    That is the number of negative pivots of the matrix less the middle: J. W. Demmel, Applied Numerical Linear Algebra,
    section 5.3.4. All are counted at once.
    """
    n, info = d.shape[0], snp.finfo(d.dtype)
    size = abs(e)
    bound = snp.max(abs(d) + snp.pad(size, (0, 1)) + snp.pad(size, (1, 0)))  # after Gershgorin
    scale = snp.where(bound > 0, bound, 1)
    diagonal, squares = d / scale, snp.pad(snp.square(e / scale), (1, 0))
    smallest = 4 * float(info.tiny)  # of a pivot, so that no quotient overflows
    number = snp.arange(n)

    def row(i: Any, state: tuple) -> tuple:
        x, pivot, below = state
        pivot = (diagonal[i] - x) - squares[i] / pivot
        pivot = snp.where(abs(pivot) <= smallest, -smallest, pivot)
        return x, pivot, below + (pivot < 0)

    def halve(_: Any, ends: tuple) -> tuple:
        low, high = ends
        middle = 0.5 * (low + high)
        start = (middle, snp.ones_like(d), snp.zeros_like(number))
        *_, below = lax.fori_loop(0, n, row, start)
        return snp.where(below > number, low, middle), snp.where(below > number, middle, high)

    ends = (snp.full_like(d, -1.0), snp.full_like(d, 1.0))
    low, high = lax.fori_loop(0, info.nmant + 4, halve, ends)
    return snp.where(bound < snp.inf, 0.5 * (low + high) * bound, snp.nan)


@fused_function(1)
@promotes_freely
def schur(a: Any, output: str = "real") -> tuple[Array, Array]:
    """Compute the Schur form T and the unitary Z with a = Z T Z^H.

    T is upper triangular for complex matrices; for real ones it has blocks of 2 x 2 for pairs of complex
    eigenvalues, unless `output` is "complex".

    >>> t, z = linalg.schur(snp.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> (z @ t @ z.T).round(5)
    Array([[1., 2.],
           [0., 3.]], dtype=float32)
    """
    check_choice("scipy.linalg.schur", "output", output, ("real", "complex"))
    (a,) = _common.arrays("scipy.linalg.schur", a)
    _common.square("scipy.linalg.schur", a)
    if output == "complex":
        a = complex_form(a)
    t, z = _lax.schur(a)
    return t, z


def complex_form(a: Any) -> Any:
    """Convert an array to the complex dtype of its precision."""
    return a.astype(snp.result_type(a.dtype, snp.complex64))


@fused_function(2)
@promotes_freely
def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Array, Array]:
    """Convert the real Schur form T, Z to the complex one, by a rotation for each pair of eigenvalues.

    >>> t, z = linalg.rsf2csf(*linalg.schur(snp.array([[0.0, 1.0], [-1.0, 0.0]])))
    >>> bool(abs(t[1, 0]) < 1e-6)
    True
    """
    T, Z = _common.arrays("scipy.linalg.rsf2csf", T, Z)
    _common.square("scipy.linalg.rsf2csf", T)
    _common.square("scipy.linalg.rsf2csf", Z)
    if T.shape[-1] < 2:
        return complex_form(T), complex_form(Z)
    return _rotated(complex_form(T), complex_form(Z))


@jit
def _rotated(t: Any, z: Any) -> tuple[Any, Any]:
    n = t.shape[-1]

    def turn_columns(x: Any, k: Any, rotation: Any) -> Any:
        columns = lax.dynamic_slice_in_dim(x, k, 2, x.ndim - 1)
        turned = snp.matmul(columns, _common.adjoint(rotation))
        return lax.dynamic_update_slice_in_dim(x, turned, k, x.ndim - 1)

    def step(i: Any, state: tuple) -> tuple:
        t, z = state
        k = n - 2 - i  # the block of rows and columns k, k + 1
        rows = lax.dynamic_slice_in_dim(t, k, 2, t.ndim - 2)
        rotation = _triangular_rotation(lax.dynamic_slice_in_dim(rows, k, 2, t.ndim - 1))
        turned = snp.matmul(rotation, rows)
        t = lax.dynamic_update_slice_in_dim(t, turned, k, t.ndim - 2)
        t = turn_columns(t, k, rotation).at[..., k + 1, k].set(0)
        return t, turn_columns(z, k, rotation)

    return lax.fori_loop(0, n - 1, step, (t, z))


def _triangular_rotation(block: Any) -> Any:
    """Find the unitary G for which G block G^H is upper triangular; 1 if the block is already."""
    a, b, c, d = (block[..., i, j] for i in (0, 1) for j in (0, 1))
    eps = float(snp.finfo(block.dtype).eps)
    needed = snp.abs(c) > eps * (snp.abs(a) + snp.abs(d))
    a, b, c, d = (snp.where(needed, x, example) for x, example in zip((a, b, c, d), (0, -1, 1, 0)))
    half = (a - d) / 2
    shifted = half + snp.sqrt(half * half + b * c)  # an eigenvalue less d
    size = snp.sqrt(snp.abs(shifted) ** 2 + snp.abs(c) ** 2)
    cosine, sine = snp.where(needed, shifted / size, 1), snp.where(needed, c / size, 0)
    top = snp.stack([snp.conj(cosine), snp.conj(sine)], -1)
    return snp.stack([top, snp.stack([-sine, cosine], -1)], -2)


@fused_function(1)
def hessenberg(
    a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Compute the Hessenberg form H, and with `calc_q` the unitary Q with a = Q H Q^H.

    >>> h, q = linalg.hessenberg(snp.arange(9.0).reshape(3, 3), calc_q=True)
    >>> float(h[2, 0]), bool(snp.allclose(q @ h @ q.T, snp.arange(9.0).reshape(3, 3), atol=1e-5))
    (0.0, True)
    """
    (a,) = _common.arrays("scipy.linalg.hessenberg", a)
    _common.square("scipy.linalg.hessenberg", a)
    n = a.shape[-1]
    if n == 0:
        return (a, a) if calc_q else a
    packed, taus = _lax.hessenberg(a)
    h = snp.triu(packed, -1)
    if not calc_q:
        return h
    q = snp.broadcast_to(snp.eye(n, dtype=a.dtype), a.shape)
    if n > 1:
        inner = _lax.householder_product(packed[..., 1:, :-1], taus)
        q = q.at[..., 1:, 1:].set(inner)
    return h, q


@fused_function(1)
def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """Factor matrices into unitary U and positive semidefinite P: a = U P, or left, a = P U.

    `method` is "qdwh" (with `eps` and `max_iterations`) or "svd". Matrices with more columns than rows
    need "svd" for the right side, those with more rows than columns for the left one.

    >>> u, p = linalg.polar(snp.array([[0.0, 2.0], [1.0, 0.0]]))
    >>> abs(p).round(5)
    Array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    check_choice("scipy.linalg.polar", "side", side, ("left", "right"))
    check_choice("scipy.linalg.polar", "method", method, ("qdwh", "svd"))
    (a,) = _common.arrays("scipy.linalg.polar", snp.asarray(a))  # lists too, as in jax
    if a.ndim < 2:
        raise ArgumentValueError.about("scipy.linalg.polar", "a", a, "matrices")
    if method == "svd":
        u, s, vh = _linalg.svd(a, full_matrices=False)
        s = s.astype(a.dtype)[..., None, :]
        if side == "right":
            return snp.matmul(u, vh), snp.matmul(_common.adjoint(vh) * s, vh)
        return snp.matmul(u, vh), snp.matmul(u * s, _common.adjoint(u))
    right = side == "right"
    x = a if right else _common.adjoint(a)
    if x.shape[-2] < x.shape[-1]:
        raise ArgumentValueError(
            f"the {side} polar decomposition by QDWH needs at least as many "
            f"{'rows as columns' if right else 'columns as rows'}",
            function="scipy.linalg.polar",
            got=a,
            fix="pass method='svd'",
        )
    decompose = snp.vectorize(
        lambda x: _lax.qdwh(x, eps=eps, max_iterations=max_iterations)[:2],
        signature="(m,n)->(m,n),(n,n)",
    )
    u, p = decompose(x)
    return (u, p) if right else (_common.adjoint(u), p)
