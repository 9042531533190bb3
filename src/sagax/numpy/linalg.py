"""Compute linear algebra: products, norms, factorizations, eigenvalues, linear systems.

A matrix is the last two dimensions of an array; the dimensions before them are a stack.

>>> import sagax.numpy as snp
>>> snp.linalg.solve(snp.array([[2.0, 0.0], [1.0, 1.0]]), snp.array([2.0, 3.0]))
Array([1., 2.], dtype=float32)
"""

from sagax._src.api.stageable import stageable as _stageable
from sagax.numpy._contraction import matmul, vecdot
from sagax.numpy._linalg.factors import cholesky, eig, eigh, eigvals, eigvalsh, qr, svd, svdvals
from sagax.numpy._linalg.norms import cond, matrix_norm, norm, vector_norm
from sagax.numpy._linalg.products import cross, diagonal, multi_dot, outer, tensordot, trace
from sagax.numpy._linalg.systems import (
    det,
    inv,
    lstsq,
    matrix_power,
    matrix_rank,
    pinv,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)
from sagax.numpy._shaping import matrix_transpose

_stageable(list(globals().values()))
