"""Find what traced functions read from iterators and files, and compiled ones then do not read again."""

from __future__ import annotations

import builtins
import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from sagax._autofix.checks.report import Add, in_loop_body, is_own_file, is_staging, traced_function
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.spans import CodePosition, is_sagax, span_at

__all__ = ["TracedInputs"]


class TracedInputs:
    """Follow items and files that jitted functions read while they are traced.

    One read is harmless if the function is called once, so that a later call makes the finding: of an
    iterator always, of a file if it has changed since.
    """

    def __init__(self, add: Add, is_outside: Callable[[int], bool]) -> None:
        self.add = add
        self.is_outside = is_outside
        self.called: Any = None  # the jitted function that the user calls
        self.pending: dict[int, list[tuple[CodePosition, str, Callable[[], bool]]]] = {}

    def install(self) -> None:
        """Watch `next` and the opening of files, for the rest of this process."""
        real = builtins.next

        def watched(iterator: Any, *default: Any) -> Any:
            if is_own_file(sys._getframe(1).f_code.co_filename) and is_staging():
                # a counter numbers what is traced
                if not isinstance(iterator, itertools.count) and self.is_outside(id(iterator)):
                    self._note("the next item", lambda: True)
            return real(iterator, *default)

        builtins.next = watched  # type: ignore[assignment]
        sys.addaudithook(self._audit)

    @contextlib.contextmanager
    def of(self, jitted: Any) -> Iterator[None]:
        """Belong what is read to a call of a jitted function; report what it reads no more."""
        earlier = list(self.pending.get(id(jitted), ()))
        outer, self.called = self.called, jitted
        try:
            yield
        finally:
            self.called = outer
        again = {p[0] for p in self.pending.get(id(jitted), ())[len(earlier) :]}
        for position, what, changed in earlier:
            if position not in again and changed():
                self._report(position, what, function_name(jitted._fun))

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "open" or self.called is None or not is_staging():
            return
        path, mode, _ = arguments
        if not isinstance(path, (str, bytes, os.PathLike)) or (mode and set(mode) & set("wax+")):
            return
        with contextlib.suppress(OSError):
            before = _state(path)
            self._note("the file", lambda: _state(path) != before)

    def _note(self, what: str, changed: Callable[[], bool]) -> None:
        position = _reader()
        if position is None:
            return
        if self.called is not None:
            found = self.pending.setdefault(id(self.called), [])
            found.append((position, what, changed))
        elif in_loop_body() and what == "the next item":
            self._report(position, what)

    def _report(self, position: CodePosition, what: str, function: str = "") -> None:
        span = span_at(position)
        text = " ".join(span.text.split()) or what
        function = function or traced_function()
        traced = f"`{function}` is" if function else "the function is"
        self.add(
            cautions.ImpureTraceWarning,
            f"`{text}` is called once, while {traced} traced: all calls use this one value of {what}",
            None,
            span=span,
        )


def _state(path: Any) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _reader() -> CodePosition | None:
    """Return the position in the user's code that reads, None if sagax or a library does."""
    frame = sys._getframe(2)
    here = __file__
    while frame is not None:
        file = frame.f_code.co_filename
        if file != here:
            if is_own_file(file):
                return CodePosition(frame.f_code, frame.f_lasti)
            if is_sagax(file):
                return None
        frame = frame.f_back  # type: ignore[assignment]
    return None
