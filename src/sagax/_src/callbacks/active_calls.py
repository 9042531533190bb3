"""Track which callbacks each thread is running."""

from __future__ import annotations

import threading
from typing import Any

__all__ = ["active", "calling", "innermost"]

# thread -> the calls that it is in, the innermost last. Empty most of the time: what has to care
# only where a program calls Python asks for that first.
active: dict[int, list[Any]] = {}
_ident = threading.get_ident


class calling:
    """Context manager: a running program calls `what` in this thread."""

    __slots__ = ("what",)

    def __init__(self, what: Any) -> None:
        self.what = what

    def __enter__(self) -> None:
        active.setdefault(_ident(), []).append(self.what)

    def __exit__(self, *_: Any) -> None:
        ident = _ident()
        calls = active[ident]
        calls.pop()
        if not calls:
            del active[ident]


def innermost() -> Any:
    """The call that this thread is in, or None."""
    calls = active.get(_ident())
    return calls[-1] if calls else None
