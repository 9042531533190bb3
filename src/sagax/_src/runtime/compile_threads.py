"""Compile on worker threads, to isolate malloc arenas.

Compilation allocates very many small blocks and frees most of them. In the arena of the results of
executables, the remaining ones slow each call with a hundred results. The threads are reused: a new one
needs new memory from the system, a fortieth of the time of a small compilation.
"""

from __future__ import annotations

import _thread
import atexit
import contextvars
import os
import threading
from collections.abc import Callable
from typing import TypeVar

from sagax._src import fork_locks

T = TypeVar("T")

# The engine calls itself for each nested function, with 11 KB of stack, and crashes where the stack ends. Only
# what is used takes memory.
_STACK_BYTES = 512 << 20
_start_lock = fork_locks.reentrant_lock()  # a signal handler may compile too


class _Worker:
    """A thread that runs one task after the other."""

    def __init__(self) -> None:
        self._task_ready = threading.Lock()
        self._task_ready.acquire()
        # Python exits without joining it; if it is busy, `_finish` waits. The start of a threading.Thread runs
        # signal handlers, and hides what they raise behind errors of its own.
        with _start_lock:
            before = _thread.stack_size(_STACK_BYTES)
            try:
                _thread.start_new_thread(self._run, ())
            finally:
                _thread.stack_size(before)

    def _run(self) -> None:
        while True:
            self._task_ready.acquire()
            _busy.add(self)
            work, finished = self._work, self.finished
            work()
            del work, self._work  # with its results
            _busy.discard(self)
            _idle.append(self)
            finished.release()

    def do(self, work: Callable[[], None]) -> None:
        """Run a task; an exception that interrupts the wait abandons the worker."""
        self._work = work
        # A lock, since a threading.Event cannot be waited for where signal handlers raise.
        self.finished = finished = threading.Lock()
        finished.acquire()
        self._task_ready.release()
        _wait(finished)


def _wait(finished: threading.Lock) -> None:
    finished.acquire()
    finished.release()  # for others that wait


_idle: list[_Worker] = []
_busy: set[_Worker] = set()


@atexit.register
def _finish() -> None:
    for worker in list(_busy):  # the waiting thread was interrupted
        _wait(worker.finished)


def _forget() -> None:
    """Drop the workers in a forked process, whose only thread is the caller of fork."""
    _idle.clear()
    _busy.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def run_on_worker(function: Callable[[], T]) -> T:
    """Run `function()` on a worker thread under the caller's settings; raise its exception here."""
    results: list[T] = []
    errors: list[BaseException] = []
    within = contextvars.copy_context()

    def work() -> None:
        try:
            results.append(within.run(function))
        except BaseException as error:
            errors.append(error)

    try:
        worker = _idle.pop() if _idle else _Worker()
    except IndexError:  # another thread created one in the meantime
        worker = _Worker()
    except RuntimeError:  # the interpreter is shutting down, or there are too many threads
        return function()
    worker.do(work)
    if errors:
        raise errors.pop()
    return results.pop()
