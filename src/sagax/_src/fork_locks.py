"""Create locks that forked processes find released.

Only the thread that calls `fork` lives on in the child. A lock that another thread held would stay locked there.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from sagax._src.weak_tables import WeakBag

_locks: WeakBag[Any] = WeakBag()


def lock() -> threading.Lock:
    """Create a lock."""
    created = threading.Lock()
    _locks.add(created)
    return created


def reentrant_lock() -> Any:
    """Create a lock that its owner may acquire again."""
    created = threading.RLock()
    _locks.add(created)
    return created


def _release_all() -> None:
    for each in _locks:
        each._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_all)
