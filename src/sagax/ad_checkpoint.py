"""Rematerialisation: what a backward pass keeps and what it computes again."""

from sagax._src.control.remat import Offload as Offloadable
from sagax._src.control.remat import (
    Recompute,
    Saveable,
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    name_p,
)
from sagax._src.control.residuals import print_saved_residuals, saved_residuals

remat = checkpoint

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "name_p",
    "print_saved_residuals",
    "remat",
    "saved_residuals",
]
