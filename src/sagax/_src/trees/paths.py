"""Key paths: how a place in a pytree is named.

A key path is a tuple of key entries, one a level: `SequenceKey` (lists and tuples), `DictKey`
(the dict types), `GetAttrKey` (namedtuples and dataclasses), `FlattenedIndexKey` (nodes that name
no keys), or whatever a class's own flatten-with-keys function gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sagax._src.xla import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey

KeyEntry = TypeVar("KeyEntry")
KeyPath = tuple[KeyEntry, ...]
Path = tuple[Any, ...]
LeafTest = Callable[[Path, Any], Any]  # (path, subtree) -> whether the subtree counts as a leaf

# The one field of each key class that identifies a child among its siblings.
_ENTRY_FIELD = {
    SequenceKey: "idx",
    DictKey: "key",
    GetAttrKey: "name",
    FlattenedIndexKey: "key",
}


def _bare(entry: Any) -> str:
    field = _ENTRY_FIELD.get(type(entry))
    return str(entry if field is None else getattr(entry, field))


def as_leaf_test(is_leaf: Callable[..., Any] | None, takes_path: bool = False) -> LeafTest | None:
    """`is_leaf` as a test that takes `(path, subtree)`, whichever it takes itself."""
    if is_leaf is None or takes_path:
        return is_leaf
    return lambda _, subtree: is_leaf(subtree)


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """The text of a key path, written as Python code reaches the place: `['w'][0].bias`.

    Args:
      keys: a key path, as `tree_flatten_with_path` gives.
      simple: give only the key, index or name of each level, without brackets, quotes and dots.
      separator: put between levels.

    Raises:
      TypeError: `keys` is not a sequence of key entries.

    >>> from sagax import tree_util
    >>> [(path, leaf)] = tree_util.tree_leaves_with_path({"w": [3.0]})
    >>> tree_util.keystr(path)
    "['w'][0]"
    >>> tree_util.keystr(path, simple=True, separator="/")
    'w/0'
    """
    if not isinstance(keys, Iterable):
        raise TypeError(
            f"keystr: keys must be a key path, a tuple of key entries; got {keys!r}. "
            "One entry alone goes in a tuple: keystr((entry,))."
        )
    return separator.join(map(_bare if simple else str, keys))


def argument_path(name: str, path: Iterable[Any]) -> str:
    """How a user names the place `path` of the argument `name`: `params['w'][0]`."""
    return name + "".join(map(str, path))
