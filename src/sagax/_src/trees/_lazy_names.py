"""Name what `trees` imports on first use: what words how two trees differ."""

from sagax._src.trees.differences import (
    Difference,
    container_hint,
    flatten_error,
    mismatch_error,
    prefix_mismatch,
    structure_mismatch,
)
