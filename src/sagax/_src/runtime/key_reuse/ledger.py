"""Record the uses of keys, for `debug_key_reuse`.

A new key gets a number, its id. A `Ledger` holds a range of ids (those of the keys of one array) and the
uses of each; `Cells` hold the id of each element of an array. Operations that move keys (indexing,
reshaping, stacking) return cells with the same ids at other positions, so all views of a key share one
account. Arrays that hold the numbers of raw keys have cells too: one for each number.

The same classes serve arrays and the variables of a jaxpr (analysis.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sagax._ignores import is_ignored
from sagax._src import fork_locks
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import KeyReuseError
from sagax._src.diagnostics.keys import innermost_user_stack, trim_common_frames
from sagax._src.diagnostics.spans import user_span

WORD = 8  # the id of the w-th number of a raw key is WORD * (id of the key) + w
UNKNOWN = -1  # id of an unknown key; it never counts as used twice


class Site(NamedTuple):
    """A use of a key by an equation: the primitive, and the operand."""

    what: str
    index: int | None = None
    inner: Any = None  # the use inside of the called function
    loop: str = ""  # the kind of loop that repeats it, if that is the error


# A use at run time: the site, and the stack. A bare tuple, as each draw creates one.
Use = tuple[Site, Any]


def chain(use: Use) -> list[Use]:
    """Return a use, and the uses inside of the called functions."""
    found = [use]
    while found[-1][0].inner is not None:
        found.append(found[-1][0].inner)
    return found


_lock = fork_locks.lock()
_next_id = 0


class Ledger:
    """Hold the accounts of `size` keys, with the ids `start`, `start + 1`, ..."""

    __slots__ = ("bulk", "children", "marks", "size", "splits", "start", "uses")

    def __init__(self, size: int) -> None:
        global _next_id
        with _lock:
            self.start = _next_id
            _next_id += size
        self.size = size
        self.marks = bytearray(size)
        self.uses: dict[int, Use] = {}  # of single keys, by offset
        self.bulk: list[tuple[np.ndarray, Use]] = []  # of several keys at once
        # (offset, number) -> the account of fold_in(key, number), which is the same key each time: a ledger
        # and the offset in it
        self.children: dict[tuple[int, int], tuple[Ledger, int]] = {}
        # offset -> the result of split, if split(key)[i] is fold_in(key, i): a ledger, the offset of the
        # first part, the number of parts
        self.splits: dict[int, tuple[Ledger, int, int]] = {}

    def use_of(self, offset: int) -> Use | None:
        """Return the use of one key, if there was one."""
        found = self.uses.get(offset)
        if found is not None:
            return found
        return next((use for where, use in self.bulk if (where == offset).any()), None)

    @property
    def all_uses(self) -> list[tuple[Any, Use]]:
        """(offset, or offsets; use)"""
        return [*self.uses.items(), *self.bulk]

    def copy(self) -> Ledger:
        """Create as many other keys with the same uses."""
        found = Ledger(self.size)
        found.marks[:] = self.marks
        found.uses, found.bulk = dict(self.uses), list(self.bulk)
        return found

    def folded(self, offset: int, number: int) -> tuple[Ledger, int]:
        """Return the account of fold_in(key, number): a ledger, and the offset in it."""
        split = self.splits.get(offset)
        if split is not None and number < split[2]:
            return split[0], split[1] + number
        found = self.children.get((offset, number))
        if found is None:
            found = self.children.setdefault((offset, number), (Ledger(1), 0))
        return found

    def adopt(self, offset: int, split: Ledger, first: int, parts: int) -> None:
        """Record the result of split for a key, and merge earlier results of fold_in into it."""
        for (at, number), (child, account) in self.children.items():
            if at == offset and number < parts and child.marks[account]:
                split.marks[first + number] = 1
                split.uses[first + number] = child.use_of(account)  # type: ignore[assignment]
        self.splits[offset] = split, first, parts


class Cells:
    """Hold the ids of the keys in an array, each at its position (an int for a single key).

    With `words` the array holds numbers of raw keys, and each has its own id.
    """

    __slots__ = ("ids", "ledgers", "words")

    def __init__(self, ids: Any, ledgers: tuple[Ledger, ...], words: bool = False) -> None:
        self.ids = ids
        self.ledgers = ledgers
        self.words = words

    @property
    def array(self) -> np.ndarray:
        return np.asarray(self.ids, np.int64)

    @property
    def known(self) -> bool:
        """Return whether any key is known."""
        return bool(self.ledgers)


def pack(ids: np.ndarray, ledgers: Any, words: bool = False) -> Cells:
    """Create cells for an array of ids."""
    ledgers = tuple(dict.fromkeys(ledgers))
    if words or ids.ndim:
        return Cells(ids, ledgers, words)
    return Cells(int(ids), ledgers)


def fresh(shape: tuple) -> Cells:
    """Create cells for new keys."""
    return of_ledger(Ledger(int(np.prod(shape, dtype=np.int64))), shape)


def of_ledger(ledger: Ledger, shape: tuple) -> Cells:
    """Create cells for the keys of a ledger in their order."""
    if shape == ():
        return Cells(ledger.start, (ledger,))
    ids = np.arange(ledger.start, ledger.start + ledger.size, dtype=np.int64)
    return Cells(ids.reshape(shape), (ledger,))


def unknown(shape: tuple, words: bool = False) -> Cells:
    """Create cells for unknown keys."""
    return pack(np.full(shape, UNKNOWN, np.int64), (), words)


def unwrapped(cells: Cells, key_shape: tuple) -> Cells:
    """Convert cells of keys to cells of their numbers."""
    (width,) = key_shape
    ids = cells.array[..., None]
    words = np.where(ids < 0, UNKNOWN, ids * WORD + np.arange(width))
    return Cells(words, cells.ledgers, True)


def wrapped(cells: Cells, key_shape: tuple) -> Cells:
    """Convert cells of raw numbers to cells of their keys. Mixed numbers of several keys form an unknown key."""
    (width,) = key_shape
    words = cells.array
    keys = words[..., 0] // WORD
    whole = np.all(words == keys[..., None] * WORD + np.arange(width), axis=-1) & (keys >= 0)
    return pack(np.where(whole, keys, UNKNOWN), cells.ledgers)


def raw_shape(aval: Any) -> tuple | None:
    """Return the shape of the keys whose numbers an array may hold; None if it cannot."""
    shape = aval.shape
    if len(shape) and shape[-1] in (2, 4) and all(type(s) is int for s in shape):
        return shape[:-1]
    return None


def fresh_raw(aval: Any) -> Cells:
    """Create cells for raw numbers of new keys."""
    shape = raw_shape(aval)
    assert shape is not None
    return unwrapped(fresh(shape), aval.shape[-1:])


def part(ledgers: tuple[Ledger, ...], ids: np.ndarray) -> list[tuple[Ledger, np.ndarray, Any]]:
    """Group ids by ledger: (ledger, offsets, mask of the ids)."""
    found = []
    for ledger in ledgers:
        own = (ids >= ledger.start) & (ids < ledger.start + ledger.size)
        if own.any():
            found.append((ledger, ids[own] - ledger.start, own))
    return found


# using keys -----------------------------------------------------------------------------------------


class Journal:
    """Record uses while it is open, so that they can be undone (one branch of several)."""

    def __init__(self) -> None:
        self.entries: list[tuple[Ledger, Any, Use]] = []

    def undo(self) -> None:
        for ledger, where, _ in reversed(self.entries):
            _set_marks(ledger, where, 0)
            if type(where) is int:
                del ledger.uses[where]
            else:
                ledger.bulk.pop()

    def redo(self) -> None:
        for ledger, where, use in self.entries:
            _set_marks(ledger, where, 1)
            if type(where) is int:
                ledger.uses[where] = use
            else:
                ledger.bulk.append((where, use))


def _set_marks(ledger: Ledger, where: Any, value: int) -> None:
    if type(where) is int:
        ledger.marks[where] = value
    else:
        np.frombuffer(ledger.marks, np.uint8)[where] = value


def consume(cells: Cells, use: Use, journal: Journal | None = None) -> None:
    """Use keys. Raises KeyReuseError if one of them was used before, or occurs twice."""
    ids = cells.ids
    if type(ids) is int:
        for ledger in cells.ledgers:
            at = ids - ledger.start
            if 0 <= at < ledger.size:
                # setdefault is atomic: one of two threads is first
                if ledger.marks[at] or ledger.uses.setdefault(at, use) is not use:
                    _refuse(ledger.use_of(at), use)
                ledger.marks[at] = 1
                if journal is not None:
                    journal.entries.append((ledger, at, use))
        return
    flat = ids.reshape(-1)
    for ledger, offsets, _ in part(cells.ledgers, flat):
        with _lock:
            marks = np.frombuffer(ledger.marks, np.uint8)
            before = marks[offsets]
            clash = before.any()
            if not clash:
                marks[offsets] = 1
                ledger.bulk.append((offsets, use))
        if clash:
            _refuse(ledger.use_of(int(offsets[np.argmax(before)])), use)
        if np.bincount(offsets).max() > 1:
            _refuse(use, use, " (the array holds the same key several times)")
        if journal is not None:
            journal.entries.append((ledger, offsets, use))


def _refuse(first: Use | None, second: Use, more: str = "") -> None:
    """Raise KeyReuseError for a key that is used a second time, unless a comment there ignores it."""
    error = _reused(first, second, more)
    span = user_span(error.facts["traceback"])
    if span is not None and is_ignored(error.code, span.source):
        return
    if events.key_reused.function is None or not events.key_reused.function(error):
        raise error


def _reused(first: Use | None, second: Use, more: str) -> KeyReuseError:
    site = second[0]
    if site.loop:
        where = f"used in the body of {site.loop}, which uses the same key in every round"
    elif site.index is None:
        where = f"used by {site.what}, which closes over it"
    else:
        where = f"passed to {site.what} at index {site.index}"
    error = KeyReuseError(f"Previously-consumed key {where}{more}")
    stacks = [stack for _, stack in chain(second)]
    before = [] if first is None else [stack for _, stack in chain(first)]
    if site.loop:  # the expression in the body is at fault, not the call of the loop
        stacks = [innermost_user_stack(stacks) or stacks[0]]
        before = [innermost_user_stack(before) or before[0]] if before else []
    elif (
        before
        and before[0] is stacks[0]
        and innermost_user_stack(stacks[1:])
        and innermost_user_stack(before[1:])
    ):
        # one call got the key as two operands: the expressions inside of it are at fault
        stacks, before = [innermost_user_stack(stacks[1:])], [innermost_user_stack(before[1:])]
    first_stack, second_stack = trim_common_frames(before[0] if before else None, stacks[0])
    error.facts.update(
        traceback=second_stack,
        first=first_stack,
        first_inside=innermost_user_stack(before[1:]),
        second_inside=innermost_user_stack(stacks[1:]),
        after_split=first is not None and chain(first)[-1][0].what == "random_split",
        loop=site.loop,
    )
    return error
