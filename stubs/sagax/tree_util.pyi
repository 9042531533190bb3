"""Flatten, map and rebuild pytrees: nested containers of arrays."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Concatenate, TypeVar, overload

from sagax._src.core.value import Array
from sagax._src.trees.operations import PyTreeDef, Unset
from sagax._src.trees.paths import KeyEntry as KeyEntry
from sagax._src.trees.paths import KeyPath as KeyPath
from sagax._src.trees.registry import Partial as Partial
from sagax._src.trees.registry import PyTreeDef as PyTreeDef
from sagax._src.trees.registry import default_registry as default_registry
from sagax._src.xla.pytrees import DictKey as DictKey
from sagax._src.xla.pytrees import FlattenedIndexKey as FlattenedIndexKey
from sagax._src.xla.pytrees import GetAttrKey as GetAttrKey
from sagax._src.xla.pytrees import SequenceKey as SequenceKey
from sagax.typing import ArrayLike

_T = TypeVar("_T")
_U = TypeVar("_U")
_K = TypeVar("_K")
_IsLeaf = Callable[[Any], bool]

def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool: ...
def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Hashable]: ...
def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[Any, Any]], Hashable]: ...
def is_tree_node(typ: type) -> bool: ...
def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str: ...
def register_dataclass(
    nodetype: Any,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Any: ...
def register_pytree_node(
    nodetype: type[Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]]
    | None = None,
) -> None: ...
def register_pytree_node_class(cls: Any) -> Any: ...
def register_pytree_with_keys(
    nodetype: type[Any],
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Hashable]] | None = None,
) -> None: ...
def register_pytree_with_keys_class(cls: Any) -> Any: ...
def register_static(cls: type[Any]) -> type[Any]: ...
def tree_all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool: ...
def tree_broadcast(
    prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any: ...
def tree_flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], PyTreeDef]: ...
def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]: ...
def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]: ...
def tree_leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[tuple[Any, ...], Any]]: ...
def tree_map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any: ...
def tree_reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any | Unset = ...,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any: ...
def tree_reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any | Unset = ...,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any: ...
def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef: ...
def tree_transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any: ...
def tree_unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any: ...
def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]: ...
def treedef_is_leaf(treedef: PyTreeDef) -> bool: ...
def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef: ...
@overload
def tree_map(f: Callable[[float], _U], tree: float, *, is_leaf: _IsLeaf | None = None) -> _U: ...
@overload
def tree_map(
    f: Callable[[float], _U], tree: dict[_K, float], *, is_leaf: _IsLeaf | None = None
) -> dict[_K, _U]: ...
@overload
def tree_map(
    f: Callable[[float], _U], tree: list[float], *, is_leaf: _IsLeaf | None = None
) -> list[_U]: ...
@overload
def tree_map(f: Callable[[Array], Array], tree: _T, *, is_leaf: _IsLeaf | None = None) -> _T: ...
@overload
def tree_map(f: Callable[[Array], _U], tree: Array, *, is_leaf: _IsLeaf | None = None) -> _U: ...
@overload
def tree_map(
    f: Callable[[Array], _U], tree: dict[_K, Array], *, is_leaf: _IsLeaf | None = None
) -> dict[_K, _U]: ...
@overload
def tree_map(
    f: Callable[[Array], _U], tree: list[Array], *, is_leaf: _IsLeaf | None = None
) -> list[_U]: ...
@overload
def tree_map(
    f: Callable[[Array, Array], Array], tree: _T, x: Any, /, *, is_leaf: _IsLeaf | None = None
) -> _T: ...
@overload
def tree_map(
    f: Callable[[Array, Array, Array], Array],
    tree: _T,
    x: Any,
    y: Any,
    /,
    *,
    is_leaf: _IsLeaf | None = None,
) -> _T: ...
@overload
def tree_map(
    f: Callable[[Array, Array, Array, Array], Array],
    tree: _T,
    x: Any,
    y: Any,
    z: Any,
    /,
    *,
    is_leaf: _IsLeaf | None = None,
) -> _T: ...
@overload
def tree_map(
    f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: _IsLeaf | None = None
) -> Any: ...
