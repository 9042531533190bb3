"""Provide COO and its functions, under the name of their module in jax."""

from sagax.experimental.sparse._elements import COOInfo
from sagax.experimental.sparse._formats import (
    COO,
    coo_fromdense,
    coo_fromdense_p,
    coo_matmat,
    coo_matmat_p,
    coo_matvec,
    coo_matvec_p,
    coo_todense,
    coo_todense_p,
)

__all__ = [
    "COO",
    "COOInfo",
    "coo_fromdense",
    "coo_fromdense_p",
    "coo_matmat",
    "coo_matmat_p",
    "coo_matvec",
    "coo_matvec_p",
    "coo_todense",
    "coo_todense_p",
]
