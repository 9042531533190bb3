"""Implement pytrees: flatten nested containers to leaves and structure, and rebuild them.

The names without `tree_` are for use inside sagax. `engine_flatten`, `unflatten`, `flatten_up_to` and
`flatten_with_path` are the engine's own methods: for calls that must be fast, with positional
arguments only and terse errors; `flatten` is the first where exceptions may pass. `flatten_argument` and the public `tree_*` functions cost 30 ns
more, and their errors name the position in the tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names
from sagax._src.trees.dataclasses import pytree_dataclass
from sagax._src.trees.operations import (
    UNSET,
    all_leaves,
    broadcast_prefix,
    flatten_argument,
    key_paths,
    of_objects,
    tree_all,
    tree_broadcast,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_leaves_with_path,
    tree_map,
    tree_map_with_path,
    tree_reduce,
    tree_reduce_associative,
    tree_structure,
    tree_transpose,
    tree_unflatten,
    treedef_children,
    treedef_is_leaf,
    treedef_of,
    treedef_tuple,
)
from sagax._src.trees.paths import KeyEntry, KeyPath, argument_path, keystr
from sagax._src.trees.registry import (
    Partial,
    PyTreeDef,
    default_registry,
    engine_flatten,
    flatten,
    flatten_one_level,
    flatten_one_level_with_keys,
    flatten_up_to,
    flatten_with_path,
    is_tree_node,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    restore_recursion_depth,
    static,
    unflatten,
)
from sagax._src.xla import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey

if TYPE_CHECKING:
    from sagax._src.trees._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)

map = tree_map
leaves = tree_leaves
structure = tree_structure
