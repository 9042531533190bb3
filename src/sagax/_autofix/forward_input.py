"""Forward standard input to a run of the script, and record it for the runs that follow."""

from __future__ import annotations

import contextlib
import os
import select
import threading


class ForwardedInput:
    """Copy standard input to a pipe, until `stop`; `recorded` holds what the script could read."""

    def __init__(self) -> None:
        self.reading, self._writing = os.pipe()
        self._woken, self._wake = os.pipe()
        self._parts: list[bytes] = []
        self._thread = threading.Thread(target=self._copy, daemon=True)

    def take(self) -> int:
        """Return the end to read from, in the child process, which must not keep the other open."""
        os.close(self._writing)
        return self.reading

    def start(self) -> None:
        """Begin to copy; the reader's end belongs to the child process."""
        os.close(self.reading)
        self._thread.start()

    def stop(self) -> bytes:
        """Stop, and return what was copied."""
        os.write(self._wake, b".")
        self._thread.join(1.0)
        for end in (self._woken, self._wake):
            os.close(end)
        return b"".join(self._parts)

    def _copy(self) -> None:
        with contextlib.suppress(OSError):  # there is no standard input, or the script has ended
            while True:
                ready, _, _ = select.select([0, self._woken], [], [])
                data = b"" if self._woken in ready else os.read(0, 1 << 16)
                if not data:
                    break
                self._parts.append(data)
                left = memoryview(data)
                while left:
                    left = left[os.write(self._writing, left) :]
        with contextlib.suppress(OSError):
            os.close(self._writing)
