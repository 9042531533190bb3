"""Keep the working memory of large executables on the CPU from one call to the next.

XLA allocates an executable's working memory and results at each call. glibc returns blocks above 32 MiB to
the system when they are freed, so each call has to zero its pages again: a fifth of the time of the
gradient of a GPT of width 256. With the option `keep_working_memory` the process keeps freed memory once
there is an executable that large.

It is off by default: one arena for all threads is slower than one for each, and executables that take a few
MiB then take a tenth longer. Freed blocks do not fit later requests exactly. So it takes a few calls and up
to five times the executable's memory until the system is no longer asked for more. It is done only for
executables that take a small fraction of the machine's memory.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any, Final

from sagax._src import config, fork_locks, tuning, xla

# Parameters of mallopt(3).
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_MMAP_MAX: Final = -4
_ARENA_MAX: Final = -8

_LEAST: Final = 32 << 20  # glibc keeps blocks up to this size by default, once one was freed
_MOST: Final = 2**31 - 1  # the maximum for mallopt
_VARIABLES: Final = (
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
)

_lock = fork_locks.lock()
_largest = 0  # bytes that the largest executable with kept memory takes
_given_up = False  # an executable was too large


@functools.cache
def _library() -> Any:
    """Return the C library, if it is glibc with default allocator settings; else None."""
    try:
        glibc = (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (ValueError, OSError, AttributeError):  # another C library, or another system
        return None
    configured = any(name in os.environ for name in _VARIABLES)
    configured = configured or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
    return ctypes.CDLL(None) if glibc and not configured else None


def prepare() -> None:
    """Set up the allocator; called before XLA starts its threads.

    All threads then use one arena. In an arena of its own, which is the default, a thread cannot keep a
    block of 64 MiB. The single arena keeps as much as those together would.
    """
    if config.current().keep_working_memory and (library := _library()) is not None:
        library.mallopt(_ARENA_MAX, 1)
        _keep_small_blocks(library)


def _keep_small_blocks(library: Any) -> None:
    """Set the thresholds that glibc reaches itself, after it has freed blocks of all sizes."""
    library.mallopt(_MMAP_MAX, 65536)
    library.mallopt(_MMAP_THRESHOLD, _LEAST)
    library.mallopt(_TRIM_THRESHOLD, 4 * _LEAST)


def keep(executable: xla.executable.Executable) -> None:
    """Keep the memory that calls of this executable free."""
    global _given_up, _largest
    if not config.current().keep_working_memory or (library := _library()) is None:
        return
    sizes = executable.memory_analysis()  # on each of its devices
    taken = sizes.temp_size_in_bytes + sizes.output_size_in_bytes - sizes.alias_size_in_bytes
    taken *= len(executable.devices)
    if taken < _LEAST:
        return
    with _lock:
        if _given_up or taken <= _largest:
            return
        if (
            taken
            > os.sysconf("SC_PHYS_PAGES")
            * os.sysconf("SC_PAGE_SIZE")
            // tuning.WORKING_MEMORY_MAX_PART
        ):
            _given_up = True
            _keep_small_blocks(library)
        else:
            _largest = taken
            library.mallopt(_MMAP_MAX, 0)
            library.mallopt(_TRIM_THRESHOLD, min(4 * taken, _MOST))


def release() -> None:
    """Return free memory to the system."""
    if _largest and (library := _library()) is not None:
        library.malloc_trim(0)
