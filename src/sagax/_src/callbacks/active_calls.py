"""Track which callbacks each thread is running."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

# by thread: its callbacks in progress, the innermost last. Empty most of the time, which users test first.
active_calls: dict[int, list[Any]] = {}
_ident = threading.get_ident


def call_tracked(callback: Any, function: Callable[[], Any]) -> Any:
    """Call a function while it is marked that an executable runs `callback` in this thread.

    No code of a context manager stands between the mark and the `try`, where a signal handler could raise.
    """
    ident = _ident()
    calls = active_calls.setdefault(ident, [])
    count = len(calls)
    try:
        calls.append(callback)
        return function()
    finally:
        del calls[count:]
        if not calls:
            active_calls.pop(ident, None)


def innermost_call() -> Any:
    """Return the callback that this thread is running, or None."""
    calls = active_calls.get(_ident())
    return calls[-1] if calls else None
