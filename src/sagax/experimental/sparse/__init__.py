"""Store arrays with few nonzero elements, and compute with these alone.

BCOO holds elements with their indices; BCSR compresses the rows. Both have batches, and derivatives by the stored
elements. COO, CSR and CSC are matrices without batches.

>>> m = sparse.BCOO.fromdense(snp.array([[0.0, 2.0], [0.0, 0.0]]))
>>> m, (m @ snp.array([1.0, 3.0])).tolist()
(BCOO(float32[2, 2], nse=1), [6.0, 0.0])
"""

from sagax.experimental.sparse import linalg
from sagax.experimental.sparse._base import JAXSparse
from sagax.experimental.sparse._bcoo import (
    BCOO,
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_gather,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_slice,
    bcoo_sort_indices,
    bcoo_squeeze,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
    bcoo_update_layout,
    random_bcoo,
)
from sagax.experimental.sparse._formats import (
    BCSR,
    COO,
    CSC,
    CSR,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_todense,
    coo_fromdense,
    coo_matmat,
    coo_matvec,
    coo_todense,
    csr_fromdense,
    csr_matmat,
    csr_matvec,
    csr_todense,
    empty,
    eye,
    todense,
)
from sagax.experimental.sparse._products import bcoo_dot_general, bcoo_dot_general_sampled
from sagax.experimental.sparse._transform import grad, sparsify, value_and_grad

__all__ = [
    "BCOO",
    "BCSR",
    "COO",
    "CSC",
    "CSR",
    "JAXSparse",
    "bcoo_broadcast_in_dim",
    "bcoo_concatenate",
    "bcoo_dot_general",
    "bcoo_dot_general_sampled",
    "bcoo_dynamic_slice",
    "bcoo_extract",
    "bcoo_fromdense",
    "bcoo_gather",
    "bcoo_multiply_dense",
    "bcoo_multiply_sparse",
    "bcoo_reduce_sum",
    "bcoo_reshape",
    "bcoo_slice",
    "bcoo_sort_indices",
    "bcoo_squeeze",
    "bcoo_sum_duplicates",
    "bcoo_todense",
    "bcoo_transpose",
    "bcoo_update_layout",
    "bcsr_dot_general",
    "bcsr_extract",
    "bcsr_fromdense",
    "bcsr_todense",
    "coo_fromdense",
    "coo_matmat",
    "coo_matvec",
    "coo_todense",
    "csr_fromdense",
    "csr_matmat",
    "csr_matvec",
    "csr_todense",
    "empty",
    "eye",
    "grad",
    "linalg",
    "random_bcoo",
    "sparsify",
    "todense",
    "value_and_grad",
]
