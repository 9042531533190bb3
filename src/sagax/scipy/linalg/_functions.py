"""Compute matrix functions (expm, sqrtm, funm), and solve Sylvester's equation."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

import sagax.lax as lax
import sagax.numpy as snp
import sagax.scipy.linalg._common as _common
from sagax._src.api.derivatives import jvp
from sagax._src.api.jit import jit
from sagax._src.argument_checks import checks
from sagax._src.core.trace import Tracer
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax.lax import linalg as _lax
from sagax.numpy._arguments import check_choice
from sagax.numpy._base import promotes_freely
from sagax.numpy._fused import fused, fused_function
from sagax.scipy.linalg._factors import complex_form
from sagax.scipy.linalg._systems import _triangular

_log = logging.getLogger("sagax")

# The numerator of the diagonal Padé approximant of exp, by degree, and the largest norm for which it is
# exact to rounding (Higham, "The scaling and squaring method for the matrix exponential revisited",
# SIAM J. Matrix Anal. Appl. 26, 2005, table 2.3 for 53 bits; for 24 bits as in SciPy and jax).
_PADE = {
    7: (17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0),
    13: (
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ),
}
_LARGEST = {7: 3.925724783138660, 13: 5.371920351148152}


@fused_function(1)
def expm(A: Any, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """Compute the exponential of square matrices.

    Args:
      A: matrices of shape (..., n, n).
      upper_triangular: whether they are upper triangular, which saves time.
      max_squarings: where the norm of a matrix would need more squarings, the result is NaN.

    Source: Higham 2005, scaling and squaring with a Padé approximant.

    >>> linalg.expm(snp.array([[0.0, 1.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    (A,) = _common.arrays("scipy.linalg.expm", A)
    _common.square("scipy.linalg.expm", A)
    return _expm(A, upper_triangular, max_squarings)


@functools.partial(jit, static_argnums=(1, 2))
@promotes_freely
def _expm(a: Any, upper_triangular: bool, max_squarings: int) -> Any:
    if a.shape[-1] == 0:
        return a
    degree = 13 if a.dtype in (np.float64, np.complex128) else 7
    norm = snp.max(snp.sum(snp.abs(a), axis=-2), axis=-1)
    ratio = lax.stop_gradient(norm) / _LARGEST[degree]
    squarings = snp.maximum(0.0, snp.ceil(snp.log2(snp.where(ratio > 0, ratio, 1.0))))
    scaled = a / (2.0**squarings)[..., None, None].astype(a.dtype)
    coefficients = _PADE[degree]
    square = snp.matmul(scaled, scaled)
    eye = snp.eye(a.shape[-1], dtype=a.dtype)
    even, odd, power = coefficients[0] * eye, coefficients[1] * eye, None
    for i in range(2, degree + 1, 2):
        power = square if power is None else snp.matmul(power, square)
        even = even + coefficients[i] * power
        if i + 1 <= degree:
            odd = odd + coefficients[i + 1] * power
    odd = snp.matmul(scaled, odd)
    if upper_triangular:
        result = _triangular(even - odd, even + odd, 0, False)
    else:
        result = snp.linalg.solve(even - odd, even + odd)

    most = snp.max(squarings, initial=0)

    def squared(i: Any, x: Any) -> Any:
        return snp.where((i < squarings)[..., None, None], snp.matmul(x, x), x)

    def square_if_needed(i: Any, x: Any) -> Any:
        return lax.cond(i < most, squared, lambda _, x: x, i, x)

    result = lax.fori_loop(0, max_squarings, square_if_needed, result)
    return snp.where((squarings > max_squarings)[..., None, None], snp.nan, result)


@fused_function(2)
def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """Compute the exponential of A, and its derivative in the direction E; or the derivative alone.

    `method` is accepted and not looked at.

    >>> linalg.expm_frechet(snp.zeros((1, 1)), snp.ones((1, 1)), compute_expm=False)
    Array([[1.]], dtype=float32)
    """
    A, E = _common.arrays("scipy.linalg.expm_frechet", A, E)
    _common.square("scipy.linalg.expm_frechet", A)
    value, derivative = jvp(expm, (A,), (E,))
    return (value, derivative) if compute_expm else derivative


@fused_function(1)
@promotes_freely
def sqrtm(A: Any, blocksize: int = 1) -> Array:
    """Compute the principal square root of square matrices, complex.

    Source: Björck and Hammarling, "A Schur method for the square root of a matrix", Linear Algebra and
    its Applications 52/53, 1983. `blocksize` is accepted and not looked at.

    >>> snp.real(linalg.sqrtm(snp.array([[4.0, 0.0], [0.0, 9.0]]))).round(5)
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    (A,) = _common.arrays("scipy.linalg.sqrtm", A)
    _common.square("scipy.linalg.sqrtm", A)
    return _sqrtm(complex_form(A))


@jit
def _sqrtm(a: Any) -> Any:
    t, z = _lax.schur(a)
    d = snp.sqrt(snp.diagonal(t, axis1=-2, axis2=-1))

    # R^2 = T gives one column of R after the other: (R + d[j] I) R[:, j] = T[:, j] above the diagonal.
    def next_column(j: Any, r: Any) -> Any:
        n = r.shape[-1]
        above = snp.arange(n) < j
        shift = snp.where(above, d[..., j, None], 1 - d[..., :n])
        system = r + shift[..., None] * snp.eye(n, dtype=r.dtype)
        return _with_column(r, j, system, snp.where(above, t[..., :n, j], 0))

    r = _columns(next_column, d[..., None] * snp.eye(a.shape[-1], dtype=a.dtype))
    return snp.matmul(snp.matmul(z, r), _common.adjoint(z))


def _columns(step: Callable[[Any, Any], Any], x: Any) -> Any:
    """Apply `step(j, x)` for all columns but the first; it writes column `j` of an upper triangular matrix.

    It gets the leading rows and columns alone, a quarter, half, three quarters, then all of them: so the
    systems that it solves are half as large on average.
    """
    n = x.shape[-1]
    sizes = [n] if n < 32 else [n // 4, n // 2, n - n // 4, n]
    for begin, end in zip([1, *sizes], sizes):
        leading = lax.fori_loop(begin, end, step, x[..., :end, :end])
        x = leading if end == n else x.at[..., :end, :end].set(leading)
    return x


def _with_column(x: Any, j: Any, system: Any, right: Any) -> Any:
    """Write the solution of an upper triangular system over the zeros of column `j`."""
    return x.at[..., j].add(_lax.triangular_solve(system, right[..., None], left_side=True)[..., 0])


@promotes_freely
def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """Evaluate a function of a square matrix, complex; `func` maps arrays elementwise.

    With `disp=False` the estimated error comes second; else one above 1000 eps is logged.

    Source: Parlett's recurrence, Golub and Van Loan, "Matrix Computations", algorithm 9.1.1. It loses
    accuracy where eigenvalues are close to each other, and is not defined where they are equal.

    >>> snp.real(linalg.funm(snp.array([[4.0, 2.5], [0.0, 9.0]]), snp.sqrt)).round(4)
    Array([[2. , 0.5],
           [0. , 3. ]], dtype=float32)
    """
    (A,) = _common.arrays("scipy.linalg.funm", A)
    checks.callable("scipy.linalg.funm", "func", func, "a function of arrays")
    _common.square("scipy.linalg.funm", A)
    t, z, d = _schur_form(A)
    result, error = _by_parlett(t, z, d, func(d))
    if not disp:
        return result, error
    if not isinstance(error, Tracer) and float(error) > 1000 * snp.finfo(t.dtype).eps:
        _log.warning("scipy.linalg.funm: the result may be inaccurate, approximate error %s", error)
    return result


@fused
def _schur_form(a: Any) -> tuple[Any, Any, Any]:
    t, z = _lax.schur(complex_form(a))
    return t, z, snp.diagonal(t, axis1=-2, axis2=-1)


@fused
@promotes_freely
def _by_parlett(t: Any, z: Any, d: Any, values: Any) -> tuple[Any, Any]:
    """Compute a function of a matrix from its values at the eigenvalues; estimate the error."""
    n = t.shape[-1]
    gaps = d[..., None, :] - d[..., :, None]
    strict = snp.triu(t, 1)

    # F commutes with T, which gives one column of F after the other, above the diagonal:
    # (T - d[j] I) F[:, j] = F T[:, j] - F[j, j] T[:, j]. Equal eigenvalues count as 1 apart.
    def next_column(j: Any, f: Any) -> Any:
        n = f.shape[-1]
        above = snp.arange(n) < j
        gap = -snp.where(gaps[..., :n, j] == 0, 1, gaps[..., :n, j])
        shift = snp.where(above, gap, 1)[..., None]
        system = strict[..., :n, :n] + shift * snp.eye(n, dtype=f.dtype)
        column = snp.where(above, t[..., :n, j], 0)
        right = snp.matmul(f, column[..., None])[..., 0] - f[..., j, j, None] * column
        return _with_column(f, j, system, right)

    f = _columns(next_column, values[..., None] * snp.eye(n, dtype=t.dtype))
    result = snp.matmul(snp.matmul(z, f), _common.adjoint(z))
    eps = snp.finfo(t.dtype).eps
    index = snp.arange(n)
    others = index[:, None] < index
    smallest = snp.min(snp.where(others, snp.abs(gaps), snp.inf), initial=1.0)
    smallest = snp.where(smallest == 0, eps, smallest)
    size = snp.max(snp.sum(snp.abs(strict), axis=-2), initial=0.0)
    error = snp.minimum(1.0, snp.maximum(eps, eps / smallest * size))
    return result, error


@fused_function(3)
@promotes_freely
def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Array:
    """Solve A X + X B = C for X.

    Args:
      A, B: square matrices of shape (..., m, m) and (..., n, n).
      C: matrices of shape (..., m, n).
      method: "schur", or "eigen", which is less accurate where matrices are far from normal.
      tol: where an eigenvalue of A and one of B add up to less, there is no one solution: NaN.

    >>> linalg.solve_sylvester(snp.eye(1), snp.eye(1), snp.array([[6.0]]))
    Array([[3.]], dtype=float32)
    """
    function = "scipy.linalg.solve_sylvester"
    check_choice(function, "method", method, ("schur", "eigen"))
    A, B, C = _common.arrays(function, A, B, C)
    _common.square(function, A)
    _common.square(function, B)
    if C.shape[-2:] != (A.shape[-1], B.shape[-1]):
        raise ArgumentValueError(
            f"shapes {A.shape}, {B.shape} and {C.shape} do not fit",
            function=function,
            expected="A of (m, m), B of (n, n) and C of (m, n)",
        )
    solve = functools.partial(_sylvester, method=method, tol=tol)
    return snp.vectorize(solve, signature="(m,m),(n,n),(m,n)->(m,n)")(A, B, C)


@functools.partial(jit, static_argnames=("method", "tol"))
def _sylvester(a: Any, b: Any, c: Any, method: str, tol: float) -> Any:
    is_real = a.dtype == snp.real(a).dtype
    ca, cb, cc = complex_form(a), complex_form(b), complex_form(c)
    if method == "eigen":
        (u, ui, wa), (v, vi, wb) = _diagonalized(ca), _diagonalized(cb)
        y = (ui @ cc @ v) / (wa[:, None] + wb[None, :])
        x = u @ y @ vi
    else:
        r, u = _lax.schur(ca)
        s, v = _lax.schur(cb)
        wa, wb = snp.diagonal(r), snp.diagonal(s)
        f = _common.adjoint(u) @ cc @ v
        eye = snp.eye(a.shape[0], dtype=r.dtype)

        def next_column(k: Any, y: Any) -> Any:
            # (R + s_kk I) y_k = f_k - (the columns before) S
            right = f[:, k] - y @ s[:, k]
            return y.at[:, k].set(_triangular(r + s[k, k] * eye, right[:, None], 0, False)[:, 0])

        y = lax.fori_loop(0, b.shape[0], next_column, snp.zeros_like(f))
        x = u @ y @ _common.adjoint(v)
    smallest = snp.min(snp.abs(wa[:, None] + wb[None, :]))
    x = snp.real(x) if is_real else x
    return snp.where(smallest < tol, snp.nan, x)


def _diagonalized(a: Any) -> tuple[Any, Any, Any]:
    w, v = _lax.eig(a, compute_left_eigenvectors=False)
    return v, snp.linalg.inv(v), w
