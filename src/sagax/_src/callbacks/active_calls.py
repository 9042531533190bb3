"""Track which callbacks each thread is running."""

from __future__ import annotations

import threading
from typing import Any

# by thread: its callbacks in progress, the innermost last. Empty most of the time, which users test first.
active_calls: dict[int, list[Any]] = {}
_ident = threading.get_ident


class track_call:
    """Mark that an executable runs `callback` in this thread, as a context manager."""

    __slots__ = ("callback",)

    def __init__(self, callback: Any) -> None:
        self.callback = callback

    def __enter__(self) -> None:
        active_calls.setdefault(_ident(), []).append(self.callback)

    def __exit__(self, *_: Any) -> None:
        ident = _ident()
        calls = active_calls[ident]
        calls.pop()
        if not calls:
            del active_calls[ident]


def innermost_call() -> Any:
    """Return the callback that this thread is running, or None."""
    calls = active_calls.get(_ident())
    return calls[-1] if calls else None
