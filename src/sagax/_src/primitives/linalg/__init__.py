"""Define linear algebra of stacks of matrices: triangular systems, factorizations, eigenvalues.

From the bottom up: `common` (checks, products, LAPACK calls), `triangular`, `cholesky`, `lu`, `qr`,
`eigen`, `svd`, `condensed` (Schur, Hessenberg and tridiagonal forms), `polar`.
"""
