"""Evict executables before `vm.max_map_count` is reached.

Each executable takes about six memory maps, of the 65,530 that Linux allows by default. XLA does not count:
at the limit it aborts the process. So this module counts them, more often if fewer are left. When an eighth
is left, all executables are dropped, to be compiled again on demand. When next to nothing is left, because
the caller holds the executables, compiling raises.
"""

from __future__ import annotations

import functools
import gc
import threading
import warnings
from collections.abc import Callable

from sagax._src import fork_locks, tuning, xla
from sagax._src.diagnostics.wording import bilingual

_lock = fork_locks.lock()
_executables = 0
_next = 256  # the number of the executable before which maps are counted
_few = 0  # maps: with this many left, executables are dropped
_forgetting = False
# callbacks that drop executables; owners of executables add to it
forget: list[Callable[[], None]] = []


@functools.cache
def _limit() -> int:
    """Return the limit of memory maps of the process; 0 if it is unknown."""
    try:
        with open("/proc/sys/vm/max_map_count", "rb") as file:
            return int(file.read())
    except (OSError, ValueError):  # another system
        return 0


def _used() -> int:
    try:
        with open("/proc/self/maps", "rb") as file:
            return file.read().count(b"\n")
    except OSError:
        return 0


def make() -> None:
    """Ensure that enough maps are left; called before each compilation or load.

    Raises EngineError if the process could not take another one.
    """
    global _executables, _next, _few, _forgetting
    with _lock:
        _executables += 1
        if _executables < _next or not _limit():
            return
        used = _used()
        free = _limit() - used
        _next = _executables + max(1, free // tuning.MAPS_PER_COUNT)
        _few = _few or _limit() // tuning.MAPS_EVICT_PART
        if free >= _few:
            return
        begin, _forgetting = not _forgetting, True
    advice = (
        f"This process has {used} of the {_limit()} memory maps that the system allows, and each compiled "
        "program takes some. Functions compiled for ever new shapes, or made anew for each call, are the "
        "usual reason: sagax.explain_compiles() shows them. The system's limit is vm.max_map_count."
    )
    if begin:
        # by another thread: this one may hold the locks of the caches
        threading.Thread(target=_forget, name="sagax forgets").start()
        text = f"sagax forgets what it compiled. {advice}"
        warnings.warn(bilingual(text), RuntimeWarning, stacklevel=2)
    if free < tuning.MAPS_MIN_LEFT:
        raise xla.EngineError(f"RESOURCE_EXHAUSTED: no room for another compiled program. {advice}")


def _forget() -> None:
    global _few, _forgetting, _next
    try:
        for each in forget:
            each()
        gc.collect()
    finally:
        with _lock:
            # executables that the caller holds cannot be dropped: try again later, not for every executable
            free = _limit() - _used()
            most = _limit() // tuning.MAPS_EVICT_PART
            _few = most if free >= most else max(free // 2, 2 * tuning.MAPS_MIN_LEFT)
            _next, _forgetting = _executables + max(1, free // tuning.MAPS_PER_COUNT), False
