"""The memory of large programs: kept from call to call, where that was asked for and does no harm.

Each case is a process of its own, since what the C library's allocator is told holds for all of it.
The allocator itself says whether it takes a large block from the system or from what it keeps.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = textwrap.dedent(
    """
    import ctypes, json, resource, sys
    import numpy as np
    import sagax, sagax.numpy as snp
    from sagax._src import tuning
    from sagax._src.runtime import working_memory

    Info = type("Info", (ctypes.Structure,), {"_fields_": [
        (name, ctypes.c_size_t) for name in
        "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]})
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Info

    def from_the_system(size=48):  # whether a block of so many MiB is
        before = library.mallinfo2().hblks
        block = np.empty(size << 20, np.uint8)
        return library.mallinfo2().hblks > before

    def compiled(rows):  # a program that writes an array of this many rows, 1 MiB each, in between
        f = sagax.jit(lambda x: snp.cumsum(snp.sin(x), axis=0)[::3, ::2].sum(0))
        return f.lower(sagax.ShapeDtypeStruct((rows, 1 << 18), np.float32)).compile()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() >> 20
    """
)


def said(steps: str, **environment: str) -> list:
    """What the expressions in `steps` give, one a line, in a process of their own; "!": a statement."""
    lines = [line.strip() for line in steps.strip().splitlines()]
    program = PROGRAM + "\n".join(
        line[1:] if line.startswith("!") else f"print(json.dumps({line}))" for line in lines
    )
    ours = {"SAGAX_ENABLE_COMPILATION_CACHE": "0", "SAGAX_KEEP_WORKING_MEMORY": "1"}
    environment = {**os.environ, **ours, **environment}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def glibc() -> tuple[int, ...]:
    try:
        name, version = (os.confstr("CS_GNU_LIBC_VERSION") or "other 0").split()
    except (ValueError, AttributeError):
        return (0,)
    return tuple(map(int, version.split("."))) if name == "glibc" else (0,)


needs_glibc = pytest.mark.skipif(
    glibc() < (2, 33), reason="needs the allocator of glibc 2.33 or newer, which can be asked"
)

STEPS = """
    from_the_system()
    !compiled(8)
    from_the_system()
    !compiled(64)
    from_the_system()
"""


@needs_glibc
def test_memory_is_kept_from_the_first_large_program_on():
    assert said(STEPS) == [True, True, False]


@needs_glibc
@pytest.mark.parametrize(
    "environment",
    [
        {"SAGAX_KEEP_WORKING_MEMORY": "0"},
        {"MALLOC_TOP_PAD_": "131072"},
        {"GLIBC_TUNABLES": "glibc.malloc.top_pad=131072"},
    ],
    ids=lambda e: next(iter(e)),
)
def test_memory_is_not_kept_where_that_was_not_wanted(environment):
    assert said(STEPS, **environment) == [True, True, True]


@needs_glibc
def test_memory_is_not_kept_for_programs_that_take_much_of_what_there_is():
    part = "!tuning.WORKING_MEMORY_MAX_PART = 1 << 20"
    assert said(part + STEPS) == [True, True, True]


@needs_glibc
def test_a_program_that_takes_much_ends_the_keeping():
    # larger than anything that was free when keeping ended, and may be taken again
    steps = """
        !compiled(64)
        from_the_system()
        !tuning.WORKING_MEMORY_MAX_PART = 1 << 20
        !compiled(128)
        from_the_system(1024)
        !tuning.WORKING_MEMORY_MAX_PART = 64
        !compiled(256)
        from_the_system(1024)
    """
    assert said(steps) == [False, True, True]


@needs_glibc
def test_memory_that_was_kept_can_be_given_back():
    steps = """
        !compiled(64)
        !block = np.ones(100 << 20, np.uint8)
        !high = resident()
        !del block
        high - resident() < 10
        !sagax.clear_caches()
        high - resident() > 90
    """
    assert said(steps) == [True, True]


@needs_glibc
def test_results_are_the_same():
    steps = """
        !x = np.arange(64 << 18, dtype=np.float32).reshape(64, -1)
        !expected = np.cumsum(x, axis=0)[::3, ::2].sum(0)
        !f = sagax.jit(lambda x: snp.cumsum(x, axis=0)[::3, ::2].sum(0))
        [bool(np.allclose(f(x), expected, rtol=1e-5)) for _ in range(5)]
    """
    assert said(steps) == [[True] * 5]
