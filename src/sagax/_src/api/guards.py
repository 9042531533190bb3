"""Check that values captured during tracing are unchanged.

A compiled function uses the captured values of its trace. A guard records those. If one has
changed, the option `stale` decides: "warn" (once for each variable), "retrace", "raise" or
"ignore". Cache entries carry their guard; a function without captured values has none, at no cost.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from sagax._src import source_stacks, tuning
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.cautions import StaleValueWarning
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.source import line_span
from sagax._src.diagnostics.spans import display_path, user_span
from sagax._src.diagnostics.wording import bilingual
from sagax._src.function_analysis import free_variables
from sagax._src.function_analysis.free_variables import MISSING, FreeVariable
from sagax._src.runtime.array import ConcreteArray

MODES = ("warn", "retrace", "raise", "ignore")

_VARIANTS = 8  # cache entries for different captured values of one function


class StaleValueError(SagaxError, RuntimeError):
    """A captured value of a compiled function has changed, under stale='raise'."""

    code = "SX0241"


StaleValueError.__module__ = "sagax.errors"  # its public home


class Guard:
    """Record the values that a trace captured. Created by `recording`."""

    __slots__ = ("_fun", "fast_check", "captured", "name")

    def __init__(self, fun: Any, found: Sequence[FreeVariable]) -> None:
        # Caches with guards belong to the function: a reference would keep it, and what it captures, alive.
        self._fun = weakref.ref(fun) if type(fun) is FunctionType else lambda: fun
        self.name = function_name(fun)
        self.captured = tuple(found)
        self.fast_check = _checker(self.captured)

    def is_of(self, fun: Any) -> bool:
        """Return whether the guard was made for this function."""
        return self._fun() == fun

    def holds(self) -> bool:
        """Return whether all values are unchanged."""
        return self.fast_check() or self._equal()

    def _equal(self) -> bool:
        """Compare other objects than the recorded ones: if they are equal, record them instead."""
        if self.changes():
            return False
        self.captured = tuple([_refreshed(read) for read in self.captured])
        self.fast_check = _checker(self.captured)
        return True

    def changes(self) -> list[tuple[FreeVariable, Any]]:
        """Return the changed values, with their current objects."""
        found = []
        for read in self.captured:
            now = read.now()
            if not free_variables.same(read.value, now):
                found.append((read, now))
        return found


def _checker(found: Sequence[FreeVariable]) -> Callable[[], bool]:
    """Build a function that checks that the captured objects are identical.

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
        except (AttributeError, ValueError, LookupError):  # deleted since
            return False
        for array, content in contents.values():
            if array.tobytes() != content:
                return False
        return True

    return all_hold if attributes or cells or items or contents else globals_hold


def _refreshed(read: FreeVariable) -> FreeVariable:
    links, holder = [], read.links[0].holder
    for link in read.links:
        value = free_variables.fetch(link.kind, holder, link.key)
        links.append(link._replace(holder=holder, value=value))
        holder = value
    return FreeVariable(read.text, tuple(links), read.value, read.code, read.offset, read.line)


def _frozen(read: FreeVariable) -> FreeVariable:
    """Return the captured value with a copy of its NumPy array, which may be mutated later."""
    value = read.value
    if (
        isinstance(value, np.ndarray)
        and value.flags.writeable
        and value.nbytes <= tuning.GUARD_MAX_ARRAY_BYTES
    ):
        value = value.copy()
        return FreeVariable(read.text, read.links, value, read.code, read.offset, read.line)
    return read


# --- recording guards
# --------------------------------------------------------------------------------


class Recording:
    """Hold the guard of a finished trace, or None if it captured nothing."""

    __slots__ = ("guard",)

    def __init__(self) -> None:
        self.guard: Guard | None = None


@contextmanager
def recording(fun: Any, bound: Mapping[str, Any]) -> Iterator[Recording]:
    """Record the values that `fun` captures while it is traced in a `with` block.

    `bound` holds the values of static parameters.
    """
    recorded = Recording()
    found = [_frozen(read) for read in free_variables.find_free_variables(fun, bound)]
    if not found:
        yield recorded
        return
    codes: dict[int, CodeType] = {id(read.code): read.code for read in found}
    with free_variables.record_execution(codes) as ran:
        yield recorded
    captured = [read for read in found if read in ran]
    if captured:
        recorded.guard = Guard(fun, captured)


def rebound(guard: Guard, fun: Any, bound: Mapping[str, Any]) -> Guard:
    """Return the guard for another function of the same code with its own free variables."""
    if guard.is_of(fun):
        return guard
    captured = {(id(read.code), read.offset) for read in guard.captured}
    found = [
        r
        for r in free_variables.find_free_variables(fun, bound)
        if (id(r.code), r.offset) in captured
    ]
    return Guard(fun, [_frozen(read) for read in found])


def reused(guard: Guard | None) -> None:
    """Tell the current traces that a cached trace was reused as a part of them."""
    if guard is not None:
        free_variables.mark_reused(guard.captured)


# --- reactions to a change
# ---------------------------------------------------------------------------

Entry = Callable[[list, list], Any]


def guarded(
    entry: Entry,
    guard: Guard,
    mode: str,
    retrace: Callable[[list], tuple[Entry, Guard | None]],
    warned: set[str],
) -> Entry:
    """Wrap `entry`, a compiled function, to check its guard first.

    Args:     retrace: traces and compiles for these arguments again, under "retrace".     warned:
    the names that were warned of, under "warn"; it grows.
    """
    if mode == "retrace":
        return _retracing(entry, guard, retrace)

    def call(bufs: list, arrays: list) -> Any:
        if not guard.fast_check() and not guard.holds():
            react(guard, mode, warned)
        return entry(bufs, arrays)

    return call


def _retracing(
    entry: Entry, guard: Guard, retrace: Callable[[list], tuple[Entry, Guard | None]]
) -> Entry:
    variants: list[tuple[Callable[[], bool], Entry]] = [(guard.holds, entry)]

    def call(bufs: list, arrays: list) -> Any:
        for variant in variants:
            if variant[0]():
                if variant is not variants[0]:  # for values that alternate: the latest first
                    variants[:] = [variant, *[v for v in variants if v is not variant]]
                return variant[1](bufs, arrays)
        new_entry, its_guard = retrace(arrays)
        holds = its_guard.holds if its_guard is not None else _always
        variants[:] = [(holds, new_entry), *variants[: _VARIANTS - 1]]
        return new_entry(bufs, arrays)

    return call


def _always() -> bool:
    return True


def react(guard: Guard, mode: str, warned: set[str]) -> None:
    """Warn of a change, or raise. A variable is warned of once."""
    changes = guard.changes()
    if mode == "raise" and changes:
        read, now = changes[0]
        raise StaleValueError(
            _describe_change(read, now, guard.name),
            fix=f"pass {read.text} as an argument, or set the option stale to 'retrace'",
            read=read.text,
            old=read.value,
            new=now,
        )
    for read, now in changes:
        if read.text in warned:
            continue
        warned.add(read.text)
        text = (
            f"{_describe_change(read, now, guard.name)}. The compiled program goes on with the old value: pass {read.text} as an "
            "argument, or set the option stale to 'retrace'"
        )
        warning = StaleValueWarning(bilingual(text))
        warning.function = guard.name
        warning.read, warning.code_read, warning.line_read = read.text, read.code, read.line
        warning.arguments = (read.text.partition(".")[0].partition("[")[0],)
        span = user_span(source_stacks.stack())
        file, line = ("sagax", 1) if span is None else (span.file, span.line)
        warnings.warn_explicit(warning, StaleValueWarning, file, line)


def _describe_change(read: FreeVariable, now: Any, name: str) -> str:
    file = read.code.co_filename
    text = "".join(line_span(file, read.line, read.line, "").source).strip()
    where = f"{display_path(file)}:{read.line}" + (f" (`{text}`)" if text else "")
    return (
        f"{read.text} has changed since {name} was compiled: it was {_shown(read.value)} and is "
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
