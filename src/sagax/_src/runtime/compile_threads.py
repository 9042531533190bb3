"""Compile on worker threads, to isolate malloc arenas.

Compiling asks for very many small blocks and gives most of them back. In the heap that results of programs
come from, what is left between them makes each call of a program with a hundred results slower. The threads
are kept: a new one has to get its memory from the system anew, a fortieth of the time of a small program.
"""

from __future__ import annotations

import atexit
import contextvars
import os
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class _Worker:
    """A thread that does one piece of work after the other, and waits in between."""

    def __init__(self) -> None:
        self._given = threading.Lock()
        self._given.acquire()
        # Python ends without waiting for it; where it is at work, `_finish` waits.
        threading.Thread(target=self._run, name="sagax compiles", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._given.acquire()
            _busy.add(self)
            work, finished = self._work, self.finished
            work()
            del work, self._work  # with its results
            _busy.discard(self)
            _idle.append(self)
            finished.set()

    def do(self, work: Callable[[], None]) -> None:
        """Have it done; an exception that ends the waiting leaves the worker to itself."""
        self._work = work
        self.finished = finished = threading.Event()
        self._given.release()
        finished.wait()


_idle: list[_Worker] = []
_busy: set[_Worker] = set()


@atexit.register
def _finish() -> None:
    for worker in list(_busy):  # whoever gave it work was interrupted
        worker.finished.wait()


def _forget() -> None:
    """In a process made by fork, whose only thread is the one that called it."""
    _idle.clear()
    _busy.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def aside(function: Callable[[], T]) -> T:
    """`function()`, under the settings of the caller, on another thread; its exception is raised here."""
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
    except IndexError:  # another thread was quicker
        worker = _Worker()
    except RuntimeError:  # the interpreter is about to end, or there are too many threads
        return function()
    worker.do(work)
    if errors:
        raise errors.pop()
    return results.pop()
