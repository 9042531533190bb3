"""Provide BCSR and its functions, under the name of their module in jax."""

from sagax.experimental.sparse._formats import (
    BCSR,
    bcsr_dot_general,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_todense,
)
from sagax.experimental.sparse._windows import (
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_sum_duplicates,
)

__all__ = [
    "BCSR",
    "bcsr_broadcast_in_dim",
    "bcsr_concatenate",
    "bcsr_dot_general",
    "bcsr_extract",
    "bcsr_fromdense",
    "bcsr_sum_duplicates",
    "bcsr_todense",
]
