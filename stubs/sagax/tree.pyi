"""Map and flatten pytrees, under short names: `tree.map`, `tree.leaves`, `tree.flatten`, ..."""

import builtins
import dataclasses
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, TypeVar, dataclass_transform, overload

from sagax._src.core.value import Array
from sagax._src.trees.operations import PyTreeDef, Unset
from sagax.typing import ArrayLike

_T = TypeVar("_T")
_U = TypeVar("_U")
_K = TypeVar("_K")
_IsLeaf = Callable[[Any], bool]

def all(tree: Any, *, is_leaf: Callable[[Any], bool] | None = None) -> bool: ...
def broadcast(
    prefix_tree: Any, full_tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any: ...
def flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], PyTreeDef]: ...
def flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[tuple[Any, ...], Any]], PyTreeDef]: ...
def leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]: ...
def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[tuple[Any, ...], Any]]: ...
def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any: ...
def reduce(
    function: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any | Unset = ...,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any: ...
def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any | Unset = ...,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any: ...
def structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> PyTreeDef: ...
def transpose(
    outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any
) -> Any: ...
def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any: ...
@overload
@dataclass_transform(field_specifiers=(dataclasses.field, static))
def dataclass(cls: type[_T], /) -> type[_T]: ...
@overload
@dataclass_transform(field_specifiers=(dataclasses.field, static))
def dataclass(**options: Any) -> Callable[[type[_T]], type[_T]]: ...
@overload
def map(f: Callable[[float], _U], tree: float, *, is_leaf: _IsLeaf | None = None) -> _U: ...
@overload
def map(
    f: Callable[[float], _U], tree: dict[_K, float], *, is_leaf: _IsLeaf | None = None
) -> dict[_K, _U]: ...
@overload
def map(
    f: Callable[[float], _U], tree: list[float], *, is_leaf: _IsLeaf | None = None
) -> list[_U]: ...
@overload
def map(f: Callable[[Array], Array], tree: _T, *, is_leaf: _IsLeaf | None = None) -> _T: ...
@overload
def map(f: Callable[[Array], _U], tree: Array, *, is_leaf: _IsLeaf | None = None) -> _U: ...
@overload
def map(
    f: Callable[[Array], _U], tree: dict[_K, Array], *, is_leaf: _IsLeaf | None = None
) -> dict[_K, _U]: ...
@overload
def map(
    f: Callable[[Array], _U], tree: list[Array], *, is_leaf: _IsLeaf | None = None
) -> list[_U]: ...
@overload
def map(
    f: Callable[[Array, Array], Array], tree: _T, x: Any, /, *, is_leaf: _IsLeaf | None = None
) -> _T: ...
@overload
def map(
    f: Callable[[Array, Array, Array], Array],
    tree: _T,
    x: Any,
    y: Any,
    /,
    *,
    is_leaf: _IsLeaf | None = None,
) -> _T: ...
@overload
def map(
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
def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: _IsLeaf | None = None) -> Any: ...
def static(**kwargs: Any) -> Any: ...
