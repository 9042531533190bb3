"""Rematerialisation: what a backward pass keeps and what it computes again."""

from sagax._src.control.remat import (
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    print_saved_residuals,
    saved_residuals,
)

remat = checkpoint
