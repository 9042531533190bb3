"""Move float0 arrays and tokens, among arguments and results of traced functions, from leaves into the structure.

They hold no data, and jaxprs have no such arrays. The structure stores their shapes, and recreates them
when it is unflattened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core import dtypes
from sagax._src.core.avals import abstract_token
from sagax._src.primitives.tokens import Token
from sagax._src.trees import registry


class NoTangent:
    """A float0 array in a structure; without leaves."""

    __slots__ = ("shape",)

    def __init__(self, shape: tuple) -> None:
        self.shape = shape


def _unflatten(shape: tuple, _: Iterable[Any]) -> np.ndarray:
    return np.zeros(shape, dtypes.float0)


def _flatten(x: Any) -> tuple:
    return (), x.shape


_node: Any = NoTangent  # an array after unflattening
registry.register_pytree_node(_node, _flatten, _unflatten)


def is_no_tangent(x: Any) -> bool:
    """Return whether `x` is an array of dtype float0."""
    return isinstance(x, np.ndarray) and x.dtype == dtypes.float0


def without_no_tangents(
    outs: list[Any], tree: Any, shape_of: Callable[[tuple], tuple] = tuple
) -> tuple[list[Any], Any]:
    """Return the leaves `outs`, of structure `tree`, without float0 arrays and tokens, and a structure that has them.

    `shape_of` returns the shapes of the recreated arrays.
    """
    tokens = [getattr(x, "aval", None) is abstract_token for x in outs]
    if not (any(tokens) or any(map(is_no_tangent, outs))):
        return outs, tree
    leaves = [
        Token() if token else NoTangent(shape_of(x.shape)) if is_no_tangent(x) else x
        for x, token in zip(outs, tokens, strict=True)
    ]
    return trees.flatten(tree.unflatten(leaves))


def hidden_in_arguments(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Return the arguments of a call with float0 arrays hidden in their structure."""
    return tuple(map(hidden_in_structure, args)), {
        k: hidden_in_structure(v) for k, v in kwargs.items()
    }


def hidden_in_structure(x: Any, shape_of: Callable[[tuple], tuple] = tuple) -> Any:
    """Return the pytree `x` with float0 arrays hidden in its structure.

    `shape_of` returns the shapes of the recreated arrays.
    """
    leaves, tree = trees.flatten(x)
    if not any(map(is_no_tangent, leaves)):
        return x
    return tree.unflatten([NoTangent(shape_of(y.shape)) if is_no_tangent(y) else y for y in leaves])
