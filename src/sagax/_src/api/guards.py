"""Guards: whether what a trace read from outside is still as it was.

A compiled function goes on with the values that it saw while it was traced. A guard knows those, and
the option `stale` says what happens when one has changed: "warn" (once for each variable), "retrace",
"raise" or "ignore". Entries of the cache of calls carry their guard; a function that reads nothing has
none, and pays nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any

import numpy as np

from sagax._src import source_stacks, tuning
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.cautions import StaleValueWarning
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.source import line_span
from sagax._src.diagnostics.spans import display_path, user_span
from sagax._src.function_analysis import free_variables
from sagax._src.function_analysis.free_variables import MISSING, Read
from sagax._src.runtime.array import ConcreteArray

MODES = ("warn", "retrace", "raise", "ignore")

_VARIANTS = 8  # programs kept for the values that a function has seen


class StaleValueError(SagaxError, RuntimeError):
    """What a compiled function read from outside has changed, under stale='raise'."""

    code = "SX0241"


StaleValueError.__module__ = "sagax.errors"  # its public home


class Guard:
    """The values that a trace read from outside. Made by `recording`."""

    __slots__ = ("fun", "quick", "reads")

    def __init__(self, fun: Any, found: Sequence[Read]) -> None:
        self.fun = fun
        self.reads = tuple(found)
        self.quick = _checker(self.reads)

    def holds(self) -> bool:
        """Whether all values are as they were."""
        return self.quick() or self._equal()

    def _equal(self) -> bool:
        """Other objects were found: whether they are equal; then they are the ones to expect."""
        if self.changes():
            return False
        self.reads = tuple([_refreshed(read) for read in self.reads])
        self.quick = _checker(self.reads)
        return True

    def changes(self) -> list[tuple[Read, Any]]:
        """The values that have changed, with what is there now."""
        found = []
        for read in self.reads:
            now = read.now()
            if not free_variables.same(read.value, now):
                found.append((read, now))
        return found


def _checker(found: Sequence[Read]) -> Callable[[], bool]:
    """A function that tells whether the very objects are there that were found.

    They are sorted by how they are fetched: this runs at each call.
    """
    rows: dict[str, dict[Any, tuple]] = {k: {} for k in ("dict", "cell", "attribute", "item")}
    contents: dict[int, tuple] = {}
    for read in found:
        for link in read.links:
            rows[link.kind][id(link.holder), link.key] = (link.holder, link.key, link.value)
        value = read.links[-1].value
        if (
            isinstance(value, np.ndarray)
            and value.flags.writeable
            and value.nbytes <= tuning.GUARD_MAX_ARRAY_BYTES
        ):
            contents[id(value)] = (value, read.value.tobytes())
    dicts = [(holder.get, key, value) for holder, key, value in rows["dict"].values()]
    cells = [(cell, value) for cell, _, value in rows["cell"].values()]
    attributes, items = list(rows["attribute"].values()), list(rows["item"].values())

    def globals_hold() -> bool:
        for get, key, value in dicts:
            if get(key) is not value:
                return False
        return True

    def all_hold() -> bool:
        for get, key, value in dicts:
            if get(key) is not value:
                return False
        try:
            for holder, key, value in attributes:
                if getattr(holder, key) is not value:
                    return False
            for cell, value in cells:
                if cell.cell_contents is not value:
                    return False
            for holder, key, value in items:
                if holder[key] is not value:
                    return False
        except (AttributeError, ValueError, LookupError):  # it is not there any more
            return False
        for array, content in contents.values():
            if array.tobytes() != content:
                return False
        return True

    return all_hold if attributes or cells or items or contents else globals_hold


def _refreshed(read: Read) -> Read:
    links, holder = [], read.links[0].holder
    for link in read.links:
        value = free_variables.fetch(link.kind, holder, link.key)
        links.append(link._replace(holder=holder, value=value))
        holder = value
    return Read(read.text, tuple(links), read.value, read.code, read.offset, read.line)


def _frozen(read: Read) -> Read:
    """The read with a copy of the NumPy array that is there, which may be written to later."""
    value = read.value
    if (
        isinstance(value, np.ndarray)
        and value.flags.writeable
        and value.nbytes <= tuning.GUARD_MAX_ARRAY_BYTES
    ):
        value = value.copy()
        return Read(read.text, read.links, value, read.code, read.offset, read.line)
    return read


# --- making guards -----------------------------------------------------------------------------------


class Recording:
    """What a trace has read, once it is over: `guard`, None if it read nothing from outside."""

    __slots__ = ("guard",)

    def __init__(self) -> None:
        self.guard: Guard | None = None


@contextmanager
def recording(fun: Any, bound: Mapping[str, Any]) -> Iterator[Recording]:
    """Make a guard for what `fun` reads from outside while it is traced in a `with` block.

    `bound` gives the values of parameters that are static.
    """
    recorded = Recording()
    found = [_frozen(read) for read in free_variables.outside(fun, bound)]
    if not found:
        yield recorded
        return
    codes: dict[int, CodeType] = {id(read.code): read.code for read in found}
    with free_variables.running(codes) as ran:
        yield recorded
    kept = [read for read in found if read in ran]
    if kept:
        recorded.guard = Guard(fun, kept)


def rebound(guard: Guard, fun: Any, bound: Mapping[str, Any]) -> Guard:
    """The guard for another function of the same code and meaning, which has variables of its own."""
    if guard.fun == fun:
        return guard
    kept = {(id(read.code), read.offset) for read in guard.reads}
    found = [r for r in free_variables.outside(fun, bound) if (id(r.code), r.offset) in kept]
    return Guard(fun, [_frozen(read) for read in found])


def reused(guard: Guard | None) -> None:
    """Tell the traces at work that this earlier one was used again as a part of them."""
    if guard is not None:
        free_variables.reused_reads(guard.reads)


# --- what happens when one does not hold -------------------------------------------------------------

Entry = Callable[[list, list], Any]


def guarded(
    entry: Entry,
    guard: Guard,
    mode: str,
    again: Callable[[list], tuple[Entry, Guard | None]],
    warned: set[str],
) -> Entry:
    """`entry`, a compiled function, that first looks whether its guard holds.

    Args:
      again: traces and compiles anew for these arguments, under "retrace".
      warned: the names that were warned of, under "warn"; it grows.
    """
    if mode == "retrace":
        return _retracing(entry, guard, again)

    def call(bufs: list, arrays: list) -> Any:
        if not guard.quick() and not guard.holds():
            react(guard, mode, warned)
        return entry(bufs, arrays)

    return call


def _retracing(
    entry: Entry, guard: Guard, again: Callable[[list], tuple[Entry, Guard | None]]
) -> Entry:
    variants: list[tuple[Callable[[], bool], Entry]] = [(guard.holds, entry)]

    def call(bufs: list, arrays: list) -> Any:
        for variant in variants:
            if variant[0]():
                if variant is not variants[0]:  # the values alternate: the latest first
                    variants[:] = [variant, *[v for v in variants if v is not variant]]
                return variant[1](bufs, arrays)
        made, its_guard = again(arrays)
        holds = its_guard.holds if its_guard is not None else _always
        variants[:] = [(holds, made), *variants[: _VARIANTS - 1]]
        return made(bufs, arrays)

    return call


def _always() -> bool:
    return True


def react(guard: Guard, mode: str, warned: set[str]) -> None:
    """Warn of what has changed, or raise; a variable that was warned of is not mentioned again."""
    changes = guard.changes()
    if mode == "raise" and changes:
        read, now = changes[0]
        raise StaleValueError(
            _said(read, now, guard.fun),
            fix=f"pass {read.text} as an argument, or set the option stale to 'retrace'",
            read=read.text,
            old=read.value,
            new=now,
        )
    for read, now in changes:
        if read.text in warned:
            continue
        warned.add(read.text)
        warning = StaleValueWarning(
            f"{_said(read, now, guard.fun)}. The compiled program goes on with the old value: pass {read.text} as an "
            "argument, or set the option stale to 'retrace'"
        )
        warning.function = function_name(guard.fun)
        warning.read, warning.code_read, warning.line_read = read.text, read.code, read.line
        warning.arguments = (read.text.partition(".")[0].partition("[")[0],)
        place = user_span(source_stacks.stack())
        file, line = ("sagax", 1) if place is None else (place.file, place.line)
        warnings.warn_explicit(warning, StaleValueWarning, file, line)


def _said(read: Read, now: Any, fun: Any) -> str:
    file = read.code.co_filename
    text = "".join(line_span(file, read.line, read.line, "").source).strip()
    where = f"{display_path(file)}:{read.line}" + (f" (`{text}`)" if text else "")
    return (
        f"{read.text} has changed since {function_name(fun)} was compiled: it was {_shown(read.value)} and is "
        f"{_shown(now)}; it is read at {where}"
    )


def _shown(value: Any) -> str:
    if value is MISSING:
        return "no longer there"
    if isinstance(value, (ConcreteArray, np.ndarray)):
        if isinstance(value, ConcreteArray) and value.is_deleted():
            return "a deleted array"
        text = " ".join(repr(value).split())
        if len(text) <= 60:
            return text
        return f"an array {value.dtype}[{','.join(map(str, value.shape))}]"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
