"""Factor batches of matrices, and solve triangular systems.

A matrix is the last two dimensions of an array; all dimensions before them are a stack.
"""

from sagax._src.primitives.linalg.cholesky import (
    cholesky,
    cholesky_p,
    cholesky_update,
    cholesky_update_p,
    symmetric_product,
    symmetric_product_p,
)
from sagax._src.primitives.linalg.condensed import (
    hessenberg,
    hessenberg_p,
    schur,
    schur_p,
    tridiagonal,
    tridiagonal_p,
)
from sagax._src.primitives.linalg.eigen import (
    EighImplementation,
    EigImplementation,
    eig,
    eig_p,
    eigh,
    eigh_p,
)
from sagax._src.primitives.linalg.lu import (
    lu,
    lu_p,
    lu_pivots_to_permutation,
    lu_pivots_to_permutation_p,
)
from sagax._src.primitives.linalg.polar import qdwh
from sagax._src.primitives.linalg.qr import (
    householder_product,
    householder_product_p,
    ormqr,
    ormqr_p,
    qr,
    qr_p,
)
from sagax._src.primitives.linalg.svd import SvdAlgorithm, svd, svd_p
from sagax._src.primitives.linalg.triangular import (
    triangular_solve,
    triangular_solve_p,
    tridiagonal_solve,
    tridiagonal_solve_p,
)
from sagax.numpy._fused import fused_function as _fused_function

qdwh = _fused_function(1)(qdwh)
