"""Make pytree registries and treedefs, and name the keys of key paths."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any

from sagax._src.xla.engine import xla_extension

PyTreeDef = xla_extension.pytree.PyTreeDef
SequenceKey = xla_extension.pytree.SequenceKey
DictKey = xla_extension.pytree.DictKey
GetAttrKey = xla_extension.pytree.GetAttrKey
FlattenedIndexKey = xla_extension.pytree.FlattenedIndexKey


def new_tree_registry(*, none_is_leaf: bool = False) -> Any:
    """Make a registry of pytree nodes of its own; it has tuple, list, dict and None."""
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


def restore_recursion_depth(registry: Any, tree: Any, is_leaf: Callable[..., Any] | None) -> None:
    """Give back the recursion depth that the engine kept when it failed to flatten `tree`.

    It enters a level of Python's recursion for each container, and leaves none when keys have no order or
    a function of a user raises. After some thousand such errors nothing of the thread would run any
    more. Flattening `tree` once more, with paths, tells how many levels are open; this fails alike,
    and keeps as many.

    Args:
      registry: the registry that failed.
      tree: what could not be flattened.
      is_leaf: takes `(path, subtree)`; None: there is no such test.
    """
    depth = 0

    def visit(path: tuple[Any, ...], subtree: Any) -> Any:
        nonlocal depth
        depth = len(path)
        return is_leaf is not None and is_leaf(path, subtree)

    try:
        registry.flatten_with_path(tree, visit)
    except SystemError:  # too deep: it keeps none, and one too many to give back would crash
        return
    except Exception:  # the same error, which the caller knows
        for _ in range(2 * depth):
            ctypes.pythonapi.Py_LeaveRecursiveCall()
