"""The working memory of large programs on the CPU, kept by the process from one call to the next.

XLA asks the C library for a program's working memory and results at each call. glibc gives blocks
above 32 MiB back to the system when they are freed, so that each call has to have its pages filled
with zeros again: a fifth of the time of the gradient of a GPT of width 256. With the option
`keep_working_memory` freed memory stays with the process once a program that large is there.

It is no default: one heap for all threads is less orderly than one for each, and programs that
take a few MiB then run a tenth slower. Blocks that are freed do not fit exactly where they are asked
for again, so that it takes a few calls and up to five times the program's memory until nothing more
is asked of the system: it is done for programs that take a small part of the machine's memory only.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from typing import Any, Final

from sagax._src import config, tuning, xla

# Parameters of mallopt(3).
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_MMAP_MAX: Final = -4
_ARENA_MAX: Final = -8

_LEAST: Final = 32 << 20  # blocks up to this size glibc keeps by itself, once it has seen one freed
_MOST: Final = 2**31 - 1  # what mallopt can be told
_VARIABLES: Final = (
    "MALLOC_ARENA_MAX",
    "MALLOC_MMAP_MAX_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_TRIM_THRESHOLD_",
)

_lock = threading.Lock()
_largest = 0  # bytes that the largest program takes for which memory is kept
_given_up = False  # a program has been there that takes too much


@functools.cache
def _library() -> Any:
    """The C library, if it is glibc and nobody has told its allocator how to work; else None."""
    try:
        glibc = (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (ValueError, OSError, AttributeError):  # another C library, or another system
        return None
    told = any(name in os.environ for name in _VARIABLES)
    told = told or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
    return ctypes.CDLL(None) if glibc and not told else None


def prepare() -> None:
    """To be called before XLA starts its threads.

    All threads then take memory from one heap. In a heap of its own, which is what each would get, a
    thread cannot keep a block of 64 MiB. The one heap keeps as much as those together would have.
    """
    if config.current().keep_working_memory and (library := _library()) is not None:
        library.mallopt(_ARENA_MAX, 1)
        _keep_small_blocks(library)


def _keep_small_blocks(library: Any) -> None:
    """What glibc comes to by itself, once it has seen blocks of all sizes freed."""
    library.mallopt(_MMAP_MAX, 65536)
    library.mallopt(_MMAP_THRESHOLD, _LEAST)
    library.mallopt(_TRIM_THRESHOLD, 4 * _LEAST)


def keep(executable: xla.executable.Executable) -> None:
    """From now on, keep the memory that a call of this program frees."""
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
    """Give free memory back to the system."""
    if _largest and (library := _library()) is not None:
        library.malloc_trim(0)
