"""Write one line of a terminal or a notebook again and again."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, TextIO

from sagax._src.lazy_import import lazy_imports

if TYPE_CHECKING or lazy_imports():
    from sagax._src.languages import widths


def shows_updates(stream: TextIO) -> bool:
    """Return whether a carriage return goes back to the start of a line: on terminals and in notebooks."""
    return stream.isatty() or type(stream).__module__.startswith("ipykernel")


class StatusLine:
    """The last line of a stream, which each text replaces. `shown` is the number of its columns."""

    __slots__ = ("shown", "stream")

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.shown = 0

    def write(self, text: str, end: str = "") -> None:
        """Replace the text of the line; `end` is a line break where it is the last text."""
        # a line that breaks would not be replaced; the terminal may have been closed
        with contextlib.suppress(OSError, ValueError):
            if self.stream.isatty():
                text = widths.cut(text, max(shutil.get_terminal_size().columns - 1, 20))
            taken = widths.columns(text)
            self.stream.write(f"\r{text}{' ' * (self.shown - taken)}{end}")
            self.stream.flush()
            self.shown = 0 if end else taken
