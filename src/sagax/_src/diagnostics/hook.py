"""Print uncaught exceptions without sagax's frames, and sagax's own errors in color."""

from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.boundary import hide_frames
from sagax._src.diagnostics.spans import display_path, is_installed
from sagax._src.diagnostics.wording import in_users_language
from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.diagnostics import render


def use_color(stream: TextIO) -> bool:
    """Return whether to write in color: to a terminal, unless NO_COLOR (see no-color.org) is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def install() -> None:
    """Install an exception hook; the previous hook prints all but sagax's own errors."""
    before = sys.excepthook
    if getattr(before, "_is_sagax", False):
        return

    def hook(
        kind: type[BaseException], error: BaseException, entries: TracebackType | None
    ) -> None:
        hide_frames(error)
        stream = sys.stderr
        if isinstance(error, SagaxError) and stream is not None and use_color(stream):
            _print_in_color(error, stream)
        else:
            before(kind, error, error.__traceback__)
        if isinstance(error, SagaxError) and stream is not None:
            stream.write(_more(error))

    hook._is_sagax = True  # type: ignore[attr-defined]
    sys.excepthook = hook


def _print_in_color(error: SagaxError, stream: TextIO) -> None:
    # what Python prints, with the text of the error in color
    found = traceback.TracebackException.from_exception(error)
    _, *notes = found.format_exception_only()
    parts = list(found.format())
    stream.write("".join(parts[: len(parts) - len(notes) - 1]))
    render.ansi(error.shown(), stream)
    stream.write("".join(notes))


def _more(error: SagaxError) -> str:
    """Return the line that says how to learn more about an uncaught error."""
    script = sys.argv[0] if sys.argv else ""  # also under `sagax run`
    page = f"sagax explain {error.code}"
    path = os.path.abspath(script)
    if not script.endswith((".py", ".ipynb")) or not os.path.isfile(path) or is_installed(path):
        return in_users_language("{command} tells more", command=page) + "\n"
    other = f"sagax explain {display_path(path)}"
    template = "{command} tells more; {other} tries fixes"
    return in_users_language(template, command=page, other=other) + "\n"
