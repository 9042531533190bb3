"""Keep objects as long as others use them, without Python code that runs when one dies.

An exception of a signal handler that is raised in a callback of a weak reference, or in one of the `weakref` module's
collections, is printed and lost. Here only functions of C run then.
"""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
V = TypeVar("V")


class WeakBag(Generic[T]):
    """Objects that may be listed while they live; other threads may add to it meanwhile."""

    __slots__ = ("_dead", "_keys", "_refs")

    def __init__(self) -> None:
        self._refs: dict[int, _KeyedRef] = {}
        self._keys = itertools.count()
        self._dead: deque[_KeyedRef] = deque()

    def add(self, item: T) -> None:
        """Add an object that is not there yet."""
        _drop_dead(self._refs, self._dead)
        key = next(self._keys)
        self._refs[key] = _keyed(item, key, self._dead)

    def __iter__(self) -> Iterator[T]:
        return iter([item for ref in list(self._refs.values()) if (item := ref()) is not None])

    def __len__(self) -> int:
        """Count the objects, and those that died since the last was added."""
        return len(self._refs)


class InternTable(Generic[T]):
    """Objects by key: equal ones are the same object, while anything uses it.

    `add` is called with a lock held; `get` needs none.
    """

    __slots__ = ("_dead", "refs")

    def __init__(self) -> None:
        self.refs: dict[Hashable, weakref.ref[Any]] = {}
        self._dead: deque[_KeyedRef] = deque()

    def get(self, key: Hashable) -> T | None:
        """Return the object of a key, or None."""
        ref = self.refs.get(key)
        return None if ref is None else ref()

    def add(self, key: Hashable, value: T) -> None:
        """Store the object of a key that has none."""
        _drop_dead(self.refs, self._dead)
        self.refs[key] = _keyed(value, key, self._dead)

    def __len__(self) -> int:
        """Count the objects, and those that died since the last was added."""
        return len(self.refs)


class WeakKeyTable(Generic[T, V]):
    """Values by object, as long as the object lives; equal objects have one value.

    Raises TypeError for objects that have no hash or no weak references.
    """

    __slots__ = ("_values",)

    def __init__(self) -> None:
        # A reference is hashed when it is stored, and finds its entry when its object has died.
        self._values: dict[weakref.ref[T], V] = {}

    def __setitem__(self, item: T, value: V) -> None:
        self._values[weakref.ref(item, self._values.pop)] = value

    def __getitem__(self, item: T) -> V:
        return self._values[weakref.ref(item)]

    def __contains__(self, item: T) -> bool:
        return weakref.ref(item) in self._values

    def get(self, item: T) -> V | None:
        """Return the value of an object, or None."""
        return self._values.get(weakref.ref(item))

    def setdefault(self, item: T, value: V) -> V:
        """Return the value of an object, which becomes `value` if it has none."""
        return self._values.setdefault(weakref.ref(item, self._values.pop), value)

    def values(self) -> list[V]:
        """List the values."""
        return list(self._values.values())

    def __len__(self) -> int:
        return len(self._values)


class _KeyedRef(weakref.ref):
    """A weak reference that knows its key."""

    __slots__ = ("key",)

    key: Hashable


def _keyed(item: Any, key: Hashable, dead: deque[_KeyedRef]) -> _KeyedRef:
    ref = _KeyedRef(item, dead.append)
    ref.key = key
    return ref


def _drop_dead(refs: dict, dead: deque[_KeyedRef]) -> None:
    while dead:
        try:
            ref = dead.popleft()
        except IndexError:  # another thread took it
            return
        if refs.get(ref.key) is ref:  # a newer object may have the key
            refs.pop(ref.key, None)
