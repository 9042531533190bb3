"""Flatten large dicts of arrays, as arguments of jitted functions, by keys recorded before."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from sagax._src import tuning
from sagax._src.runtime.array import ConcreteArray

_MOST_DICTS = 64


def leaves_of_dicts(args: tuple, known: dict[tuple, tuple]) -> tuple[list, Any] | None:
    """Flatten arguments that are arrays and dicts of arrays, if their keys were recorded before.

    Comparing keys with recorded ones is much faster than a general flattening.
    """
    found = known.get(tuple([tuple(x) if type(x) is dict else type(x) for x in args]))
    if found is None:
        return None
    tree, getters = found
    leaves: list = []
    for x, get in zip(args, getters):
        if get is None:
            leaves.append(x)
        else:
            leaves += get(x)
    return leaves, tree


def note_dicts(args: tuple, leaves: list, tree: Any, known: dict[tuple, tuple]) -> None:
    """Record the keys of arguments with large dicts."""
    if not any(type(x) is dict and len(x) >= tuning.NOTED_DICT_MIN_KEYS for x in args):
        return
    if not all(type(x) is ConcreteArray or (type(x) is dict and len(x) > 1) for x in args):
        return
    try:
        getters = [itemgetter(*sorted(x)) if type(x) is dict else None for x in args]
    except TypeError:  # incomparable keys
        return
    found = [y for x, get in zip(args, getters) for y in (get(x) if get else (x,))]
    if len(found) == len(leaves) and all(x is y for x, y in zip(found, leaves)):
        if len(known) >= _MOST_DICTS:
            known.clear()
        keys = tuple([tuple(x) if type(x) is dict else type(x) for x in args])
        known[keys] = tree, getters
