"""Solve linear systems, factor matrices, and compute functions of matrices, as SciPy does.

A matrix is the last two dimensions of an array; the dimensions before them are a stack.

>>> import sagax.numpy as snp
>>> from sagax.scipy import linalg
>>> linalg.solve_triangular(snp.array([[2.0, 0.0], [1.0, 1.0]]), snp.array([2.0, 3.0]), lower=True)
Array([1., 2.], dtype=float32)
"""

from sagax._src.api.stageable import stageable as _stageable
from sagax.scipy.linalg._factors import (
    eigh,
    eigh_tridiagonal,
    hessenberg,
    lu,
    polar,
    qr,
    qr_multiply,
    rsf2csf,
    schur,
    svd,
)
from sagax.scipy.linalg._functions import expm, expm_frechet, funm, solve_sylvester, sqrtm
from sagax.scipy.linalg._matrices import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    dft,
    fiedler,
    fiedler_companion,
    hadamard,
    hankel,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    leslie,
    pascal,
    toeplitz,
)
from sagax.scipy.linalg._systems import (
    cho_factor,
    cho_solve,
    cholesky,
    det,
    inv,
    lu_factor,
    lu_solve,
    solve,
    solve_triangular,
)

_stageable(list(globals().values()))
