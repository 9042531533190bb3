"""Wait for values inside callbacks, and raise where that would deadlock.

A callback may compute and wait, but not for values of its own executable: they would never come. The
dependencies are not recorded. A deadlock shows as a standstill: all callbacks are waiting, and no thread of
the process runs. Only a wait inside a callback checks for that. With several processes, a value may come
from another one: then the wait has no limit.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

from sagax._src.callbacks import active_calls
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.runtime.distributed import process

__all__ = ["CallbackDeadlockError", "before_reading", "refuse", "until"]

_STILL = 0.5  # seconds without activity
_PAUSE = 0.02
_TASKS = "/proc/self/task"
_waiting: set[int] = set()


class CallbackDeadlockError(SagaxError, RuntimeError):
    """A callback waits for the executable that calls it."""

    code = "SX0204"


CallbackDeadlockError.__module__ = "sagax.errors"  # its public module


def refuse(what: str) -> None:
    """Raise if this thread is in a callback of a running executable."""
    call = active_calls.innermost_call()
    if call is not None:
        raise _error(call, f"{what} waits for the programs that run, this one among them")


def _error(call: Any, text: str) -> CallbackDeadlockError:
    return CallbackDeadlockError(
        f"{text}: it would wait forever",
        function=f"{call.api_name} of {call}",
        fix="pass what the function needs as arguments of the callback, and wait outside of it",
    )


def before_reading(buffer: Any) -> None:
    """Wait for the values of a buffer, if this thread is in a callback."""
    if threading.get_ident() in active_calls.active_calls and not buffer.is_deleted():
        until(buffer.is_ready)


def until(done: Callable[[], bool]) -> None:
    """Wait inside a callback. Raises CallbackDeadlockError if that cannot end."""
    if done():
        return
    me = threading.get_ident()
    pause, still, worked = 0.0005, time.monotonic(), _work_of_others()
    _waiting.add(me)
    try:
        while not done():
            time.sleep(pause)
            pause = min(2 * pause, _PAUSE)
            work = _work_of_others()
            if (
                work - worked > 0.002
                or not _waiting.issuperset(active_calls.active_calls)
                or _any_runs()
            ):
                still, worked = time.monotonic(), work
            elif time.monotonic() - still > _STILL and process.session() is None:
                raise _error(
                    active_calls.innermost_call(),
                    "the function waits for a value that needs its program",
                )
    finally:
        _waiting.discard(me)


def _work_of_others() -> float:
    """Return the processor time in seconds that other threads have used."""
    return time.process_time() - time.thread_time()


def _any_runs() -> bool:
    """Return whether a thread runs, or waits for a processor, besides those that wait here."""
    here = threading.get_native_id()
    try:
        for task in os.listdir(_TASKS):
            if int(task) != here and _state(task) in "RD":
                return True
    except (OSError, ValueError):  # a system without these files; the processor time decides
        pass
    return False


def _state(task: str) -> str:
    try:
        with open(f"{_TASKS}/{task}/stat") as file:
            return file.read().rpartition(") ")[2][:1]
    except OSError:  # it has ended
        return "X"
