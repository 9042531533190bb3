"""Evict executables before `vm.max_map_count` is reached.

Each program takes about six of them, of the 65,530 that Linux allows by default. XLA does not count: at the
limit it ends the process. So they are counted, the more often the fewer are left. When an eighth is left,
what was compiled is forgotten, to be compiled anew when it is needed; when next to nothing is left, because
the caller holds what was compiled, compiling raises.
"""

from __future__ import annotations

import functools
import gc
import threading
import warnings
from collections.abc import Callable

from sagax._src import tuning, xla

_lock = threading.Lock()
_programs = 0
_next = 256  # the number of the program before which maps are counted
_few = 0  # maps: with so many left programs are forgotten
_forgetting = False
# forgets all that was compiled; whoever holds programs adds to it
forget: list[Callable[[], None]] = []


@functools.cache
def _limit() -> int:
    """How many memory maps the process may have; 0 where that is not known."""
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
    """To be called before a program is compiled or loaded.

    Raises EngineError where the process could not take another one.
    """
    global _programs, _next, _few, _forgetting
    with _lock:
        _programs += 1
        if _programs < _next or not _limit():
            return
        used = _used()
        free = _limit() - used
        _next = _programs + max(1, free // tuning.MAPS_PER_COUNT)
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
        # by another thread: this one may hold what guards the caches
        threading.Thread(target=_forget, name="sagax forgets").start()
        warnings.warn(f"sagax forgets what it compiled. {advice}", RuntimeWarning, stacklevel=2)
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
            # what the caller holds cannot be forgotten: later again, not for every program
            free = _limit() - _used()
            most = _limit() // tuning.MAPS_EVICT_PART
            _few = most if free >= most else max(free // 2, 2 * tuning.MAPS_MIN_LEFT)
            _next, _forgetting = _programs + max(1, free // tuning.MAPS_PER_COUNT), False
