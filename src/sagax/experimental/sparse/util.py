"""Provide what sparse formats share, under the name of their module in jax."""

from sagax.experimental.sparse._base import (
    CuSparseEfficiencyWarning,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
)
from sagax.experimental.sparse._elements import SparseInfo

__all__ = [
    "CuSparseEfficiencyWarning",
    "SparseEfficiencyError",
    "SparseEfficiencyWarning",
    "SparseInfo",
]
