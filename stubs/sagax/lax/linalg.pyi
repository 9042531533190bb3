"""Factor batches of matrices, and solve triangular systems."""

from collections.abc import Callable
from typing import Any

from sagax._src.core.value import Array
from sagax._src.primitives.linalg.cholesky import cholesky_p as cholesky_p
from sagax._src.primitives.linalg.cholesky import cholesky_update_p as cholesky_update_p
from sagax._src.primitives.linalg.cholesky import symmetric_product_p as symmetric_product_p
from sagax._src.primitives.linalg.condensed import hessenberg_p as hessenberg_p
from sagax._src.primitives.linalg.condensed import schur_p as schur_p
from sagax._src.primitives.linalg.condensed import tridiagonal_p as tridiagonal_p
from sagax._src.primitives.linalg.eigen import EighImplementation as EighImplementation
from sagax._src.primitives.linalg.eigen import EigImplementation as EigImplementation
from sagax._src.primitives.linalg.eigen import eig_p as eig_p
from sagax._src.primitives.linalg.eigen import eigh_p as eigh_p
from sagax._src.primitives.linalg.lu import lu_p as lu_p
from sagax._src.primitives.linalg.lu import lu_pivots_to_permutation_p as lu_pivots_to_permutation_p
from sagax._src.primitives.linalg.qr import householder_product_p as householder_product_p
from sagax._src.primitives.linalg.qr import ormqr_p as ormqr_p
from sagax._src.primitives.linalg.qr import qr_p as qr_p
from sagax._src.primitives.linalg.svd import SvdAlgorithm as SvdAlgorithm
from sagax._src.primitives.linalg.svd import svd_p as svd_p
from sagax._src.primitives.linalg.triangular import triangular_solve_p as triangular_solve_p
from sagax._src.primitives.linalg.triangular import tridiagonal_solve_p as tridiagonal_solve_p
from sagax.typing import ArrayLike

def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array: ...
def cholesky_update(r_matrix: Any, w_vector: Any) -> Array: ...
def eig(
    x: ArrayLike,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Any]: ...
def eigh(
    x: ArrayLike,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Any, Any]: ...
def hessenberg(a: ArrayLike) -> list[Any]: ...
def householder_product(a: ArrayLike, taus: Any) -> Any: ...
def lu(x: ArrayLike) -> list[Any]: ...
def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Array: ...
def ormqr(
    a: ArrayLike, taus: Any, c: ArrayLike, *, left: bool = True, transpose: bool = False
) -> Array: ...
def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[int, int] | None = None,
) -> tuple[Any, Any, Any, Any]: ...
def qr(
    x: ArrayLike,
    *,
    pivoting: bool = False,
    full_matrices: bool = True,
    use_magma: bool | None = None,
) -> tuple[Any, ...]: ...
def schur(
    x: ArrayLike,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Any]: ...
def svd(
    x: ArrayLike,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any: ...
def symmetric_product(
    a_matrix: Any,
    c_matrix: Any,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array: ...
def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array: ...
def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Any]: ...
def tridiagonal_solve(
    dl: Any, d: Any, du: Any, b: ArrayLike, *, perturb_singular: bool = False
) -> Array: ...
