"""Clean up exceptions where they leave sagax: hide its frames, and add the tracing context.

    staging = tracing(fun, "jit")  # once, when jit is applied

    def call(*args):
        with staging:  # each time: about 0.1 us when nothing fails
            return trace_and_run(fun, args)

    def __call__(self, *args):  # or, without that cost
        try:
            return fast_path(args)
        except Exception as error:
            staging.leave(error)
            raise

An exception that leaves the block keeps its type. sagax's own frames are removed from its traceback,
except those outside of the block, which belongs into the outermost function. The context becomes a note
("while tracing `loss` for grad, in the body of scan") on the user's exceptions, and text of sagax's
own. Boundaries nest. A boundary has no state: one object serves all threads and recursive calls.

The option `traceback` (SAGAX_TRACEBACK) is "short" by default. "full" keeps all frames, and "off" does
not touch exceptions.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from sagax._src import config
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.diagnostics.source import function_code as function_code
from sagax._src.diagnostics.spans import is_hidden, is_sagax, is_user_file
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.diagnostics import foreign_keywords, wording

P = ParamSpec("P")
R = TypeVar("R")

_MAX_PHRASES = 8
# In sagax's own frames these are bugs of sagax; its frames stay, to help find them.
_INTERNAL_ERRORS = (AssertionError, AttributeError, LookupError, NameError)
_CONTROL_EXCEPTIONS = (StopIteration, StopAsyncIteration)


class Boundary:
    """Add a context to exceptions and hide frames, as a context manager or a decorator.

    Args:
      phrase: follows "while", such as "tracing `loss` for grad"; "" only hides frames.
    """

    __slots__ = ("phrase",)

    def __init__(self, phrase: str = "") -> None:
        self.phrase = phrase

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: object
    ) -> None:
        if error is not None:
            self.leave(error)

    def leave(self, error: BaseException) -> None:
        """Process an error that leaves; call it in an `except` clause and `raise` again."""
        if not isinstance(error, Exception) or isinstance(error, _CONTROL_EXCEPTIONS):
            return
        try:
            _explain_hash(error)
            if type(error) is TypeError:
                foreign_keywords.add_hint(error)
            mode = _traceback_mode()
            if mode != "off":
                _annotate(error, self.phrase, hide=mode == "short")
        except Exception:  # an odd exception, or no stack left: keep the user's exception
            return

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return inside


class tracing(Boundary):
    """Mark the tracing of `function` for a transformation: "tracing `loss` for grad".

    It is cheap to create: the phrase is composed on failure.
    """

    __slots__ = ("function", "reason")

    def __init__(self, function: object, reason: str) -> None:
        self.function = function
        self.reason = reason

    @property
    def phrase(self) -> str:  # type: ignore[override]
        return f"tracing `{function_name(self.function)}` for {self.reason}"


class running(tracing):
    """Mark the execution of a compiled function: "running `loss` for jit"."""

    __slots__ = ()

    @property
    def phrase(self) -> str:  # type: ignore[override]
        return f"running `{function_name(self.function)}` for {self.reason}"


def passed_through(error: BaseException, code: CodeType) -> bool:
    """Return whether an exception passed through a code object."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code is not code:
        entry = entry.tb_next
    return entry is not None


def user_traceback(error: BaseException) -> TracebackType | None:
    """Return the traceback of an exception from the first user frame on.

    Return all of it without such a frame, or if the option keeps all frames.
    """
    entry = error.__traceback__ if _traceback_mode() == "short" else None
    while entry is not None and not is_user_file(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    return entry or error.__traceback__


def function_name(function: object) -> str:
    """Return the display name of a function, through partial, with the class of a method."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
    if not isinstance(name, str):
        return type(function).__name__
    return name.rpartition("<locals>.")[2]


# --- context of an exception ---------------------------------------------------------------------


class _Context:
    """Hold the phrases around an exception, outermost first, and its processed traceback."""

    __slots__ = ("counts", "head", "internal")

    def __init__(self) -> None:
        self.counts: list[tuple[str, int]] = []
        self.head: TracebackType | None = None
        self.internal = False

    def add(self, phrase: str) -> None:
        if self.counts and self.counts[0][0] == phrase:  # recursion
            self.counts[0] = (phrase, self.counts[0][1] + 1)
            return
        self.counts.insert(0, (phrase, 1))
        if len(self.counts) > _MAX_PHRASES:
            half = _MAX_PHRASES // 2
            self.counts[half - 1 : half + 1] = [("...", 1)]

    def phrases(self) -> tuple[str, ...]:
        return tuple(p if n == 1 else f"{p} ({n} times)" for p, n in self.counts)


def _explain_hash(error: Exception) -> None:
    """Explain the error of Python for the hash of a traced value.

    The class cannot do it: with a `__hash__` that raises, values would count as `collections.abc.Hashable`.
    """
    text = error.args[0] if type(error) is TypeError and len(error.args) == 1 else None
    if not isinstance(text, str) or not text.startswith("unhashable type: '") or text[-1] != "'":
        return
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None:
        return
    kind = text.split("'")[1]
    values = list(entry.tb_frame.f_locals.values())
    traced = [x for x in values if type(x).__name__ == kind and hasattr(x, "aval")]
    if not traced:
        return
    explained = ArgumentError(
        f"{text}: a traced value cannot be hashed, since its content is not known yet",
        got=traced[0],
        traceback=error.__traceback__,
        fix="do not use it in a set, as a key of a dict or as a static argument; compare shapes or names instead",
    )
    error.args = (str(explained),)


class _Note(str):
    """Hold the note on a user's exception, in the user's language; it pickles as plain text."""

    context: _Context
    english: str  # such as "while tracing `loss` for grad"

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def _traceback_mode() -> str:
    settings = config.current()
    if settings.traceback == "short" and settings.traceback_filtering == "off":
        return "full"
    return settings.traceback


def _annotate(error: Exception, phrase: str, *, hide: bool) -> None:
    context = _context_of(error)
    entries, followed = _entries_until(error.__traceback__, context.head if context else None)
    if context is None or (context.head is not None and not followed):
        context = _Context()  # raised for the first time, or raised anew
    rest = context.head if followed else None
    if hide:
        head = _without_sagax(entries, rest, error, context)
        if head is not error.__traceback__:
            BaseException.with_traceback(error, head)  # also where attributes are read-only
            if config.current().traceback_filtering == "quiet_remove_frames":
                _note_hidden_frames(error)
    context.head = error.__traceback__
    if phrase:
        context.add(phrase)
    _set_context(error, context)


_HIDDEN = (
    "For simplicity, JAX has removed its internal frames from the traceback, those of sagax: "
    "config.update('jax_traceback_filtering', 'off') shows them."
)


def _note_hidden_frames(error: Exception) -> None:
    if _HIDDEN not in getattr(error, "__notes__", ()):
        error.add_note(_HIDDEN)


def _context_of(error: Exception) -> _Context | None:
    if isinstance(error, SagaxError):
        return error.__dict__.get("_boundary_context")
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, _Note):
            return note.context
    return None


def _set_context(error: Exception, context: _Context) -> None:
    if isinstance(error, SagaxError):
        error.__dict__["_boundary_context"] = context
        error.in_context(context.phrases())
        return
    english = "while " + ", ".join(context.phrases()) if context.counts else ""
    text = english and _worded(context.phrases())
    if context.internal:
        internal = "this error comes from inside sagax: please report it"
        english = f"{english}; {internal}" if english else internal
        internal = wording.localized(internal)
        text = text + wording.localized("; ") + internal if text else internal
    if isinstance(error, RecursionError):
        advice = _deep_advice()
        english, text = english + advice, text + advice
    if not text:
        return
    note = _Note(text)
    note.context = context
    note.english = english
    notes = getattr(error, "__notes__", None)
    if notes is None:
        error.add_note(note)
        return
    for i, old in enumerate(notes):
        if isinstance(old, _Note):
            notes[i] = note
            return
    error.add_note(note)


def _worded(phrases: tuple[str, ...]) -> str:
    """Return what was in progress, in the language of the settings."""
    if config.current().lang == "en":
        return "while " + ", ".join(phrases)
    shown = wording.localized(", ").join(map(wording.localized, phrases))
    return wording.in_users_language("while {phrases}", phrases=shown)


def _deep_advice() -> str:
    """Say what to do about nesting that is deeper than Python's limit, which sagax does not change by itself."""
    limit = sys.getrecursionlimit()
    higher = f"call sys.setrecursionlimit({10 * limit}) before,\n    or " if limit <= 10_000 else ""
    return (
        "\nPython limits nested calls, and each nested jit, scan or cond takes several:"
        f"\n  - is the depth meant? {higher}repeat the inner function with lax.scan or lax.fori_loop"
        "\n  - does a function call itself without end? its end must depend on a value that"
        "\n    is not traced: a Python number, or an argument in static_argnums"
    )


# --- frames --------------------------------------------------------------------------------------


def _entries_until(
    head: TracebackType | None, stop: TracebackType | None
) -> tuple[list[TracebackType], bool]:
    """Return the entries of a traceback before `stop`, and whether `stop` was found."""
    entries: list[TracebackType] = []
    while head is not None and head is not stop:
        entries.append(head)
        head = head.tb_next
    return entries, stop is not None and head is stop


def _without_sagax(
    entries: list[TracebackType],
    rest: TracebackType | None,
    error: BaseException,
    context: _Context,
) -> TracebackType | None:
    """Return a traceback of the entries outside of sagax, followed by `rest`.

    The entries are new: a debugger may hold the old ones.
    """
    files = [entry.tb_frame.f_code.co_filename for entry in entries]
    hidden = [is_hidden(file) for file in files]
    if rest is None and isinstance(error, _INTERNAL_ERRORS) and not isinstance(error, SagaxError):
        for i in reversed(range(len(files))):  # the frames that failed stay
            if not is_sagax(files[i]) or entries[i].tb_frame.f_code.co_name == "__getattr__":
                break  # a name that an object lacks is the user's
            hidden[i] = False
            context.internal = True
    if not any(hidden):
        return entries[0] if entries else rest
    for entry, hide in zip(reversed(entries), reversed(hidden), strict=True):
        if not hide:
            rest = TracebackType(rest, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return rest


def hide_frames(error: BaseException) -> None:
    """Remove sagax's frames from the tracebacks of an exception, its causes and contexts; hint at keywords.

    Call it before printing: errors of eager operations cross no boundary.
    """
    if _traceback_mode() != "short":
        return
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        found = todo.pop()
        if found is None or id(found) in seen:
            continue
        seen.add(id(found))
        if type(found) is TypeError:
            foreign_keywords.add_hint(found)
        entries, _ = _entries_until(found.__traceback__, None)
        BaseException.with_traceback(found, _without_sagax(entries, None, found, _Context()))
        todo += [found.__cause__, found.__context__]
