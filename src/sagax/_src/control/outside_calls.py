"""What calls to the world outside of a program have in common: their results, and how they are mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.control.loops import map as map_in_turn
from sagax._src.primitives.shaping import stack
from sagax._src.primitives.slicing import index_in_dim
from sagax._src.primitives.structural import broadcast

METHODS = (
    "sequential",
    "sequential_unrolled",
    "expand_dims",
    "broadcast_all",
    "legacy_vectorized",
)


def one_by_one(
    call: Callable[..., Sequence[Any]],
    size: Any,
    args: Sequence[Any],
    in_dims: Sequence[Any],
    *,
    unrolled: bool,
) -> list:
    """`call(*args)` for each example in turn; the results stacked. Mapped dimensions come first."""
    mapped = [x for x, d in zip(args, in_dims, strict=True) if d is not None]

    def of_one(xs: Sequence[Any]) -> list:
        given = iter(xs)
        return list(
            call(*[x if d is None else next(given) for x, d in zip(args, in_dims, strict=True)])
        )

    if not unrolled:
        return list(map_in_turn(of_one, mapped))
    rows = [of_one([index_in_dim(x, i, keepdims=False) for x in mapped]) for i in range(size)]
    return [stack(column) for column in zip(*rows, strict=True)]


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
