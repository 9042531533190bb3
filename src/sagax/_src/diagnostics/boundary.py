"""The edge between the user's code and sagax: what an exception looks like when it has crossed it.

    staging = tracing(fun, "jit")  # once, when jit is applied

    def call(*args):
        with staging:  # each time: about 0.1 us when nothing fails
            return trace_and_run(fun, args)

    def __call__(self, *args):  # or, where each nanosecond counts: this costs nothing at all
        try:
            return fast_path(args)
        except Exception as error:
            staging.leave(error)
            raise

An exception that leaves the block keeps its type and its place. sagax's own frames are taken out of
its traceback (not those outside of the block: put the block into the outermost function). It learns
what was going on: one note ("while tracing `loss` for grad, in the body of scan") on the user's
exceptions, the same words in the text of sagax's own. Boundaries nest; a boundary has no state, so
one object serves all threads and recursive calls.

The option `traceback` (SAGAX_TRACEBACK) set to "full" keeps all frames, "off" leaves exceptions
entirely alone, "short" is the default.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import Any, ParamSpec, TypeVar

from sagax._src import config
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.source import function_code
from sagax._src.diagnostics.spans import is_hidden, is_sagax, is_users

__all__ = [
    "Boundary",
    "from_users",
    "function_code",
    "function_name",
    "passed",
    "running",
    "tidy",
    "tracing",
]

P = ParamSpec("P")
R = TypeVar("R")

_MOST_WORDS = 8
# What these mean in sagax's own frames is a defect of sagax, which its frames help to find.
_DEFECTS = (AssertionError, AttributeError, LookupError, NameError)
_SIGNALS = (StopIteration, StopAsyncIteration)


class Boundary:
    """A context manager, or a decorator, that tells exceptions what was going on.

    Args:
      words: a phrase that can follow "while", such as "tracing `loss` for grad"; "" only hides
        frames.
    """

    __slots__ = ("words",)

    def __init__(self, words: str = "") -> None:
        self.words = words

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: object
    ) -> None:
        if error is not None:
            self.leave(error)

    def leave(self, error: BaseException) -> None:
        """Tell `error` that it leaves; call it in an `except` clause and `raise` again."""
        if not isinstance(error, Exception) or isinstance(error, _SIGNALS):
            return
        try:
            mode = _mode()
            if mode != "off":
                _annotate(error, self.words, hide=mode == "short")
        except Exception:  # an odd exception, or no stack left: the user's must not be replaced
            return

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside


class tracing(Boundary):
    """The boundary around tracing `function` for a transformation: "tracing `loss` for grad".

    Cheap to make: the words are put together when something fails.
    """

    __slots__ = ("function", "reason")

    def __init__(self, function: object, reason: str) -> None:
        self.function = function
        self.reason = reason

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"tracing `{function_name(self.function)}` for {self.reason}"


class running(tracing):
    """The boundary around running what was compiled: "running `loss` for jit"."""

    __slots__ = ()

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"running `{function_name(self.function)}` for {self.reason}"


def passed(error: BaseException, code: CodeType) -> bool:
    """Whether an exception came through a piece of code."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code is not code:
        entry = entry.tb_next
    return entry is not None


def from_users(error: BaseException) -> TracebackType | None:
    """The traceback of an exception from the first frame of the user's on.

    All of it where there is no such frame, or where all frames are asked for.
    """
    entry = error.__traceback__ if _mode() == "short" else None
    while entry is not None and not is_users(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    return entry or error.__traceback__


def function_name(function: object) -> str:
    """What a user calls a function: through partial and wrappers, with the class of a method."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(name, str):
        return type(function).__name__
    return name.rpartition("<locals>.")[2]


# --- the crossing --------------------------------------------------------------------------------


class _Trail:
    """What was going on around an exception, outermost first, and how far it has been tidied."""

    __slots__ = ("defect", "head", "words")

    def __init__(self) -> None:
        self.words: list[tuple[str, int]] = []
        self.head: TracebackType | None = None
        self.defect = False

    def add(self, words: str) -> None:
        if self.words and self.words[0][0] == words:  # recursion
            self.words[0] = (words, self.words[0][1] + 1)
            return
        self.words.insert(0, (words, 1))
        if len(self.words) > _MOST_WORDS:
            half = _MOST_WORDS // 2
            self.words[half - 1 : half + 1] = [("...", 1)]

    def phrases(self) -> tuple[str, ...]:
        return tuple(w if n == 1 else f"{w} ({n} times)" for w, n in self.words)


class _Note(str):
    """The note on a user's exception. It pickles as plain text."""

    trail: _Trail

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def _mode() -> str:
    settings = config.current()
    if settings.traceback == "short" and settings.traceback_filtering == "off":
        return "full"
    return settings.traceback


def _annotate(error: Exception, words: str, *, hide: bool) -> None:
    trail = _trail_of(error)
    entries, followed = _entries_until(error.__traceback__, trail.head if trail else None)
    if trail is None or (trail.head is not None and not followed):
        trail = _Trail()  # raised for the first time, or raised anew
    rest = trail.head if followed else None
    if hide:
        head = _without_sagax(entries, rest, error, trail)
        if head is not error.__traceback__:
            BaseException.with_traceback(error, head)  # also where attributes are read-only
    trail.head = error.__traceback__
    if words:
        trail.add(words)
    _tell(error, trail)


def _trail_of(error: Exception) -> _Trail | None:
    if isinstance(error, SagaxError):
        return error.__dict__.get("_trail")
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, _Note):
            return note.trail
    return None


def _tell(error: Exception, trail: _Trail) -> None:
    if isinstance(error, SagaxError):
        error.__dict__["_trail"] = trail
        error.in_context(trail.phrases())
        return
    text = "while " + ", ".join(trail.phrases()) if trail.words else ""
    if trail.defect:
        text = f"{text}; " if text else ""
        text += "this error comes from inside sagax: please report it"
    if not text:
        return
    note = _Note(text)
    note.trail = trail
    notes = getattr(error, "__notes__", None)
    if notes is None:
        error.add_note(note)
        return
    for i, old in enumerate(notes):
        if isinstance(old, _Note):
            notes[i] = note
            return
    error.add_note(note)


# --- frames --------------------------------------------------------------------------------------


def _entries_until(
    head: TracebackType | None, stop: TracebackType | None
) -> tuple[list[TracebackType], bool]:
    """The entries of a traceback before `stop`, and whether `stop` was found."""
    entries: list[TracebackType] = []
    while head is not None and head is not stop:
        entries.append(head)
        head = head.tb_next
    return entries, stop is not None and head is stop


def _without_sagax(
    entries: list[TracebackType], rest: TracebackType | None, error: BaseException, trail: _Trail
) -> TracebackType | None:
    """The traceback of the entries that are not sagax's, followed by `rest`.

    Makes new entries: others (a debugger) may hold the old ones.
    """
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    hidden = [is_hidden(file) for file in files]
    if rest is None and isinstance(error, _DEFECTS) and not isinstance(error, SagaxError):
        for i in reversed(range(len(files))):  # the frames that failed stay
            if not is_sagax(files[i]):
                break
            hidden[i] = False
            trail.defect = True
    if not any(hidden):
        return entries[0] if entries else rest
    for entry, hide in zip(reversed(entries), reversed(hidden), strict=True):
        if not hide:
            rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def tidy(error: BaseException) -> None:
    """Take sagax's frames out of the tracebacks of an exception and of those that it came from.

    For whoever is about to print it: errors of operations that run at once cross no boundary.
    """
    if _mode() != "short":
        return
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        found = todo.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        entries, _ = _entries_until(found.__traceback__, None)
        BaseException.with_traceback(found, _without_sagax(entries, None, found, _Trail()))
        todo += [found.__cause__, found.__context__]
