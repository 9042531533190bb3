"""Format key paths of pytrees.

A key path is a tuple of key entries, one a level: `SequenceKey` (lists and tuples), `DictKey`
(the dict types), `GetAttrKey` (namedtuples and dataclasses), `FlattenedIndexKey` (nodes that name
no keys), or the keys of a class's own flatten-with-keys function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sagax._src.languages.choice import worded
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


def _simple_name(entry: Any) -> str:
    field = _ENTRY_FIELD.get(type(entry))
    return str(entry if field is None else getattr(entry, field))


def as_leaf_test(is_leaf: Callable[..., Any] | None, takes_path: bool = False) -> LeafTest | None:
    """Convert `is_leaf` to a test that takes `(path, subtree)`."""
    if is_leaf is None or takes_path:
        return is_leaf
    return lambda _, subtree: is_leaf(subtree)


def keystr(keys: Iterable[Any], *, simple: bool = False, separator: str = "") -> str:
    """Format a key path as Python code: `['w'][0].bias`.

    Args:
      keys: a key path, as `tree_flatten_with_path` gives.
      simple: give only the key, index or name of each level, without brackets, quotes and dots.
      separator: put between levels.

    Raises:
      TypeError: `keys` is not a sequence of key entries.

    >>> [(path, leaf)] = tree_util.tree_leaves_with_path({"w": [3.0]})
    >>> tree_util.keystr(path)
    "['w'][0]"
    >>> tree_util.keystr(path, simple=True, separator="/")
    'w/0'
    """
    if not isinstance(keys, Iterable):
        raise worded(
            TypeError(
                f"keystr: keys must be a key path, a tuple of key entries; got {keys!r}. "
                "One entry alone goes in a tuple: keystr((entry,))."
            )
        )
    return separator.join(map(_simple_name if simple else str, keys))


def argument_path(name: str, path: Iterable[Any]) -> str:
    """Format the path of an argument's leaf as Python code: `params['w'][0]`."""
    return name + "".join(map(str, path))
