"""Handle float0 tangents among the results of traced functions.

No program computes them. So they are taken out of the results and kept, by their shape, in the structure around
them, which makes them again whenever results are put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.trees import registry


class NoTangent:
    """Stands for a float0 array in a structure; without leaves."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple) -> None:
        self.shape = shape


def _made(shape: tuple, _: Iterable[Any]) -> np.ndarray:
    return np.zeros(shape, dtypes.float0)


def _parts(x: Any) -> tuple:
    return (), x.shape


_held: Any = NoTangent  # put together again it is an array
registry.register_pytree_node(_held, _parts, _made)


def is_no_tangent(x: Any) -> bool:
    """Whether `x` is an array of dtype float0."""
    return isinstance(x, np.ndarray) and x.dtype == dtypes.float0


def without_no_tangents(
    outs: list[Any], tree: Any, shape_of: Callable[[tuple], tuple] = tuple
) -> tuple[list[Any], Any]:
    """The results `outs`, of the structure `tree`, without float0 arrays; the structure makes these again.

    `shape_of` tells the shapes that they are to have then.
    """
    if not any(map(is_no_tangent, outs)):
        return outs, tree
    held = [NoTangent(shape_of(x.shape)) if is_no_tangent(x) else x for x in outs]
    return trees.flatten(tree.unflatten(held))
