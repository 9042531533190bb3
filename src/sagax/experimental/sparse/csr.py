"""Provide CSR and CSC and their functions, under the name of their module in jax."""

from sagax.experimental.sparse._formats import (
    CSC,
    CSR,
    csr_fromdense,
    csr_matmat,
    csr_matvec,
    csr_todense,
)

__all__ = ["CSC", "CSR", "csr_fromdense", "csr_matmat", "csr_matvec", "csr_todense"]
