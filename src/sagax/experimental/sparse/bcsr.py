"""Provide BCSR and its functions, under the name of their module in jax."""

from sagax.experimental.sparse._formats import (
    BCSR,
    bcsr_dot_general,
    bcsr_dot_general_p,
    bcsr_extract,
    bcsr_extract_p,
    bcsr_fromdense,
    bcsr_fromdense_p,
    bcsr_todense,
    bcsr_todense_p,
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
    "bcsr_dot_general_p",
    "bcsr_extract",
    "bcsr_extract_p",
    "bcsr_fromdense",
    "bcsr_fromdense_p",
    "bcsr_sum_duplicates",
    "bcsr_todense",
    "bcsr_todense_p",
]
