"""Show a line on the terminal during long operations."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

from sagax._src import config

_EVERY = 1.0  # seconds between two updates


@contextlib.contextmanager
def line(what: str) -> Iterator[None]:
    """Show on stderr, if that is a terminal, that `what` is running, after some seconds.

    The option `progress_after` sets the delay. A final line shows the duration.
    """
    stream, after = sys.stderr, config.thread.settings.progress_after
    if after <= 0 or stream is None or not stream.isatty():
        yield
        return
    done = threading.Event()
    teller = _Teller(stream, what, after, done)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


class _Teller(threading.Thread):
    def __init__(self, stream: TextIO, what: str, after: float, done: threading.Event) -> None:
        super().__init__(name="sagax progress", daemon=True)
        self.stream, self.what, self.after, self.done = stream, what, after, done

    def run(self) -> None:
        start = time.monotonic()
        if self.done.wait(self.after):
            return
        while True:
            self._write(f"{self.what} ... {time.monotonic() - start:.0f} s", "")
            if self.done.wait(_EVERY):
                break
        self._write(f"{self.what} took {time.monotonic() - start:.1f} s", "\n")

    def _write(self, text: str, end: str) -> None:
        # the terminal may have been closed
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(f"\r\x1b[K{text}{end}")
            self.stream.flush()
