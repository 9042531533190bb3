"""Rematerialize: choose what a backward pass saves and what it recomputes."""

from sagax._src.api.saved_residuals import print_saved_residuals, saved_residuals
from sagax._src.higher_order.remat import Offload as Offloadable
from sagax._src.higher_order.remat import (
    Recompute,
    Saveable,
    checkpoint,
    checkpoint_name,
    checkpoint_policies,
    name_p,
)

remat = checkpoint
