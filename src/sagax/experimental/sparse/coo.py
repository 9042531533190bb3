"""Provide COO and its functions, under the name of their module in jax."""

from sagax.experimental.sparse._formats import (
    COO,
    coo_fromdense,
    coo_matmat,
    coo_matvec,
    coo_todense,
)

__all__ = ["COO", "coo_fromdense", "coo_matmat", "coo_matvec", "coo_todense"]
