"""Flatten, map and rebuild pytrees: nested containers of arrays.

A pytree is any nesting of tuples, lists, dicts, namedtuples, `OrderedDict`, `defaultdict`, `None`
(a container without children) and classes registered here; every other object is a leaf.

- Taking apart and rebuilding: `tree_flatten`, `tree_unflatten`, `tree_leaves`, `tree_structure`.
- Working on all leaves: `tree_map`, `tree_reduce`, `tree_reduce_associative`, `tree_all`.
- Two trees: `tree_transpose`, `tree_broadcast`, and `tree_map` with more than one tree.
- Key paths: `tree_leaves_with_path`, `tree_map_with_path`, `keystr`.
- Own classes: `register_dataclass`, `register_pytree_node_class`, `register_pytree_node`,
  `register_pytree_with_keys`, `register_pytree_with_keys_class`, `register_static`, `Partial`.

The functions that work on entire trees are also in `sagax.tree`, under shorter names.

>>> from sagax import tree_util
>>> params = {"w": [1.0, 2.0], "b": 3.0}
>>> tree_util.tree_map(lambda x: 10 * x, params)
{'b': 30.0, 'w': [10.0, 20.0]}
"""

from sagax._src.trees import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    Partial,
    PyTreeDef,
    SequenceKey,
    all_leaves,
    default_registry,
    flatten_one_level,
    flatten_one_level_with_keys,
    is_tree_node,
    keystr,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
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
    treedef_tuple,
)

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "flatten_one_level",
    "flatten_one_level_with_keys",
    "is_tree_node",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]
