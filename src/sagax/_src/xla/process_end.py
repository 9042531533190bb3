"""End the process properly while other threads still compile, compute or call back.

Before 3.14, Python ends such a thread by unwinding its stack when it returns from the engine, and C++ answers with
an abort ("terminate called"). A client that is destroyed while its threads run ends in a crash.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

_HOLD = 2.0  # seconds that a callback is held, if the process does not end before
_PATIENCE = 0.5  # seconds for callbacks that run to end
_PAUSE = 0.05  # seconds for other threads to start their next callback
_LIBRARIES = ("libstdc++.so.6", "libc++.1.dylib")

running_callbacks: set[object] = set()
_held = threading.Lock()
_ending = False


def is_ending() -> bool:
    """Return whether the process has begun to end."""
    return _ending


def hold_callback() -> None:
    """Hold a callback of a process that ends; for a moment, since a function at exit may wait for it."""
    _held.acquire(timeout=_HOLD)


def prepare(clients: Iterable[Any]) -> None:
    """Keep the clients until the process is gone, and other threads from ending it."""
    global _ending
    _ending = True
    _held.acquire(timeout=0)
    _settle()
    for client in clients:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))
    if sys.version_info < (3, 14):
        _pause_on_terminate()


def _settle() -> None:
    """Wait until callbacks have ended, and those that other threads start are held."""
    end = time.monotonic() + _PATIENCE
    while running_callbacks and time.monotonic() < end:
        time.sleep(0.001)
    if threading.active_count() > 1:
        time.sleep(_PAUSE)


def _pause_on_terminate() -> None:
    """Let C++ pause a thread where it would abort the process."""
    for name in _LIBRARIES:
        with contextlib.suppress(OSError, AttributeError):  # another library, or another platform
            set_terminate = ctypes.CDLL(name)._ZSt13set_terminatePFvvE
            set_terminate.argtypes, set_terminate.restype = [ctypes.c_void_p], ctypes.c_void_p
            set_terminate(ctypes.cast(ctypes.CDLL(None).pause, ctypes.c_void_p))
            return
