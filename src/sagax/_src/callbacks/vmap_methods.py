"""Define the values of `vmap_method`, and batch the operands of one call for all examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.primitives.structural import broadcast

METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


def all_at_once(
    size: Any, args: Sequence[Any], in_dims: Sequence[Any], method: str
) -> list[tuple[Any, bool]]:
    """The operands for one call of all examples, and whether each has the leading dimension."""
    out = []
    for x, d in zip(args, in_dims, strict=True):
        if d is not None:
            out.append((x, True))
        elif method == "legacy_vectorized":
            out.append((x, False))
        else:
            out.append((broadcast(x, (size if method == "broadcast_all" else 1,)), True))
    return out
