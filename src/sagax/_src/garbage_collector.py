"""Make Python's full garbage collections rarer while a program is traced or lowered.

A full collection looks at all living objects. A large program has a hundred of them for each operation, and keeps
nearly all until it is compiled: collections took half the time of lowering 16,000 jitted functions. Collections
of young objects go on as before, and what waits is collected soon afterwards. The limits are those of the process:
other threads meet fewer full collections, too.

There are no locks and no counts here, which a signal handler that raises could leave wrong: threads enter and remove
themselves by single operations, and the last thread to end puts the limits back.
"""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable
from threading import get_ident
from typing import ParamSpec, TypeVar

from sagax._src import tuning

P = ParamSpec("P")
R = TypeVar("R")

_MOST = 2**31 - 1  # CPython keeps limits as C's int

_Limits = tuple[int, int, int]


def _rarer(limits: _Limits) -> _Limits:
    young, middle, full = limits
    return young, middle, min(max(full, 1) * tuning.POSTPONED_COLLECTIONS, _MOST)


# The threads that trace or lower, by identifiers; the limits of `gc` before the first began, and meanwhile.
_waiting: dict[int, bool] = {}
_usual: _Limits = gc.get_threshold()
_rare: _Limits = _rarer(_usual)


def with_rare_collections(fun: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function so that full collections are rarer while it runs."""

    @functools.wraps(fun)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        thread = None
        try:
            thread = _postpone()
            return fun(*args, **kwargs)
        finally:
            if thread is not None:
                # First of all a call of C, before which Python looks for no signals.
                _waiting.pop(thread, None)
                _resume()

    return run


def are_rare() -> bool:
    """Return whether this thread has made full collections rarer already."""
    return get_ident() in _waiting


def _postpone() -> int | None:
    """Make full collections rarer and return the thread that waits; None: it does already."""
    global _usual, _rare
    thread = get_ident()
    if thread in _waiting:
        return None
    limits = gc.get_threshold()
    if limits != _rare:
        if limits != _usual:
            _usual, _rare = limits, _rarer(limits)
        gc.set_threshold(*_rare)
    _waiting[thread] = True  # no call: Python looks for signals in the caller's `try` only
    return thread


def _resume() -> None:
    """Put back the limits if no thread waits any more, unless others have changed them meanwhile."""
    if not _waiting and gc.get_threshold() == _rare:
        gc.set_threshold(*_usual)


def _after_fork() -> None:
    """Forget the threads that do not run in this process, a fork."""
    for thread in [each for each in _waiting if each != get_ident()]:
        _waiting.pop(thread, None)
    _resume()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
