"""Show a line on the terminal, or in a notebook, while a function is traced, lowered and compiled."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, TextIO

from sagax._src import config
from sagax._src.diagnostics.status_line import StatusLine, shows_updates
from sagax._src.diagnostics.wording import localized
from sagax._src.uninterrupted import uninterrupted

_EVERY = 1.0  # seconds between two updates
_DEBUGGERS = frozenset(("bdb", "cmd", "code", "pdb"))


class _Local(threading.local):
    teller: _Teller | None = None  # of the outermost line of this thread


_local = _Local()


class line:
    """Show on stderr what is running, after some seconds: "sagax: tracing step ... 3 s".

    The option `progress_after` sets the delay, which counts from the start of the outermost line: `line("", name)`
    makes one delay of its parts. Nothing is shown in files and while a debugger waits for the user. A final line
    shows the durations of the parts.
    """

    __slots__ = ("_before", "_outermost", "_teller", "doing", "name")

    def __init__(self, doing: str, name: str) -> None:
        self.doing = doing
        self.name = name

    def __enter__(self) -> None:
        teller = _local.teller
        self._outermost = teller is None
        if teller is None:
            stream, after = sys.stderr, config.thread.settings.progress_after
            if after > 0 and stream is not None and shows_updates(stream):
                teller = _local.teller = _Teller(stream, after, self.name)
                teller.start()
        self._teller = teller
        if teller is not None and self.doing:
            self._before = teller.switch((self.doing, self.name))

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        teller = self._teller
        if teller is None:
            return
        try:
            if self.doing:
                teller.switch(self._before)
        finally:
            if self._outermost:
                _local.teller = None
                teller.done.set()
                teller.join()


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


class _Teller(threading.Thread):
    def __init__(self, stream: TextIO, after: float, name: str) -> None:
        super().__init__(name="sagax progress", daemon=True)
        self.line, self.after, self.function = StatusLine(stream), after, name
        self.done = threading.Event()
        self.begun = self.switched = time.monotonic()
        self.now: tuple[str, str] | None = None
        self.seconds: dict[str, float] = {}
        self.watched = threading.get_ident()

    def switch(self, now: tuple[str, str] | None) -> tuple[str, str] | None:
        """Begin a part, or go back to one; return the part before. The time since the last switch is that part's."""
        before, at = self.now, time.monotonic()
        if before is not None:
            self.seconds[before[0]] = self.seconds.get(before[0], 0.0) + at - self.switched
        self.now, self.switched = now, at
        return before

    def run(self) -> None:
        if self.done.wait(self.after):
            return
        while True:
            if (now := self.now) is not None and not self._is_debugged():
                seconds = f"{time.monotonic() - self.begun:.0f}"
                self.line.write(localized(f"sagax: {now[0]} {now[1]} ... {seconds} s"))
            if self.done.wait(_EVERY):
                break
        if self.line.shown:
            self.line.write(f"sagax: {self._took()}", "\n")

    def _took(self) -> str:
        total = f"took {time.monotonic() - self.begun:.1f} s"
        if len(self.seconds) == 1:
            return localized(f"{next(iter(self.seconds))} {self.function} {total}")
        parts = [f"{localized(doing)} {seconds:.1f}" for doing, seconds in self.seconds.items()]
        return localized(f"{self.function} {total}: {localized(', ').join(parts)} s")

    def _is_debugged(self) -> bool:
        """Return whether the user is at the prompt of a debugger, which the line would overwrite."""
        frames = _frames(sys._current_frames().get(self.watched))
        return any(f.f_globals.get("__name__") in _DEBUGGERS for f in frames)
