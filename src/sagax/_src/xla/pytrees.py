"""Make pytree registries and treedefs, and name the keys of key paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sagax._src.xla.engine import xla_extension

PyTreeDef = xla_extension.pytree.PyTreeDef
SequenceKey = xla_extension.pytree.SequenceKey
DictKey = xla_extension.pytree.DictKey
GetAttrKey = xla_extension.pytree.GetAttrKey
FlattenedIndexKey = xla_extension.pytree.FlattenedIndexKey


def new_tree_registry(*, none_is_leaf: bool = False) -> Any:
    """Make a registry of pytree nodes, shared with nobody; it has tuple, list, dict and None."""
    return xla_extension._PyTreeRegistry(
        enable_none=not none_is_leaf,
        enable_tuple=True,
        enable_namedtuple=True,
        enable_list=True,
        enable_dict=True,
    )


def treedef_tuple(registry: Any, treedefs: Iterable[Any]) -> Any:
    """Make the treedef of a tuple whose items have the given treedefs."""
    return xla_extension.pytree.treedef_tuple(registry, list(treedefs))
