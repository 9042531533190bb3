"""How an uncaught exception is printed: without sagax's frames, its own errors in colour."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import TextIO

from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.boundary import tidy
from sagax._src.lazy_import import lazy_imports


@lazy_imports
def _() -> None:
    global render
    from sagax._src.diagnostics import render


__all__ = ["install", "wants_colour"]


def wants_colour(stream: TextIO) -> bool:
    """Whether to write in colour: a terminal, and NO_COLOR (see no-color.org) is not set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def install() -> None:
    """Let sagax print uncaught exceptions. What printed them before prints all but sagax's own."""
    before = sys.excepthook
    if getattr(before, "_of_sagax", False):
        return

    def hook(
        kind: type[BaseException], error: BaseException, entries: TracebackType | None
    ) -> None:
        tidy(error)
        stream = sys.stderr
        if isinstance(error, SagaxError) and stream is not None and wants_colour(stream):
            _print_in_colour(error, stream)
        else:
            before(kind, error, error.__traceback__)

    hook._of_sagax = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def _print_in_colour(error: SagaxError, stream: TextIO) -> None:
    # all that Python prints, but for the text of the error, which is printed in colour
    found = traceback.TracebackException.from_exception(error)
    _, *notes = found.format_exception_only()
    parts = list(found.format())
    stream.write("".join(parts[: len(parts) - len(notes) - 1]))
    stream.write(f"{type(error).__module__}.{type(error).__qualname__}: ")
    render.ansi(error.shown(), stream)
    stream.write("".join(notes))
