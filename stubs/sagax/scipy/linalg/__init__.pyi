"""Solve linear systems, factor matrices, and compute functions of matrices, as SciPy does."""

from collections.abc import Callable
from typing import Any, Literal, overload

from sagax._src.core.value import Array
from sagax.typing import ArrayLike, DTypeLike

def block_diag(*arrs: Any) -> Array: ...
def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]: ...
def cho_solve(
    c_and_lower: tuple[Any, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array: ...
def cholesky(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array: ...
def circulant(c: ArrayLike) -> Array: ...
def companion(a: ArrayLike) -> Array: ...
def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array: ...
def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array: ...
def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array: ...
def eigh_tridiagonal(
    d: Any,
    e: Any,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[Any, Any] | None = None,
    tol: Any = None,
    key: Array | None = None,
) -> Any: ...
def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array: ...
def expm_frechet(
    A: ArrayLike, E: Any, *, method: str | None = None, compute_expm: bool = True
) -> Any: ...
def fiedler(a: ArrayLike) -> Array: ...
def fiedler_companion(a: ArrayLike) -> Array: ...
def funm(A: ArrayLike, func: Callable[[Any], Any], disp: bool = True) -> Any: ...
def hadamard(n: int, dtype: DTypeLike | None = ...) -> Array: ...
def hankel(c: ArrayLike, r: Any = None) -> Array: ...
def helmert(n: int, full: bool = False) -> Array: ...
def hessenberg(
    a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any: ...
def hilbert(n: int) -> Array: ...
def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array: ...
def invhilbert(n: int) -> Array: ...
def invpascal(n: int, kind: str | None = None) -> Array: ...
def leslie(f: Any, s: Any) -> Array: ...
def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]: ...
def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]: ...
def lu_solve(
    lu_and_piv: tuple[Any, Any],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array: ...
def pascal(n: int, kind: str | None = None) -> Array: ...
def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]: ...
def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]: ...
def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]: ...
def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Array, Array]: ...
def schur(a: ArrayLike, output: str = "real") -> tuple[Array, Array]: ...
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array: ...
def solve_sylvester(
    A: ArrayLike, B: ArrayLike, C: Any, *, method: str = "schur", tol: float = 1e-08
) -> Array: ...
def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array: ...
def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array: ...
def toeplitz(c: ArrayLike, r: Any = None) -> Array: ...
@overload
def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    eigvals_only: Literal[False] = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> tuple[Array, Array]: ...
@overload
def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    *,
    eigvals_only: Literal[True],
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Array: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> tuple[Array, Array, Array]: ...
@overload
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Array: ...
