"""Programs beyond what the system lets a process map: forgotten or refused, where XLA would end the process.

Each case is a process of its own, which takes most of what it may have for itself first.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = textwrap.dedent(
    """
    import ctypes, itertools, warnings
    import numpy as np
    import sagax, sagax.numpy as snp
    from sagax._src.runtime import map_limit

    warnings.simplefilter("always")
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *3 * [ctypes.c_int], ctypes.c_long]

    rights = itertools.cycle((1, 3))

    def leave(maps):  # take what there is but so many: neighbours of other rights are not merged
        while (free := map_limit._limit() - map_limit._used()) > maps:
            for right in itertools.islice(rights, free - maps):
                library.mmap(None, 4096, right, 0x22, -1, 0)

    def compiled(k):
        return sagax.jit(lambda x: snp.cumsum(x * k)[-1])

    x = np.arange(3.0, dtype=np.float32)
    print(float(compiled(1)(x)))  # what the engine itself takes
    map_limit._next = 1
    """
)


def said(steps: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM + textwrap.dedent(steps)],
        capture_output=True,
        text=True,
        timeout=300,
    )


def limit() -> int:
    try:
        with open("/proc/sys/vm/max_map_count", encoding="ascii") as file:
            return int(file.read())
    except OSError:
        return 0


needs_limit = pytest.mark.skipif(
    not 0 < limit() < 1 << 18,
    reason="needs a system with a limit of memory maps that can be reached",
)


@needs_limit
def test_programs_are_forgotten_before_there_is_no_room():
    done = said(
        """
        leave(2500)
        map_limit._few = 2000
        functions = [compiled(k) for k in range(400)]  # which keep their programs: some 2,400 maps
        print(all(float(f(x)) == 3 * k for k, f in enumerate(functions)))
        print(all(float(f(x)) == 3 * k for k, f in enumerate(functions)))
        """
    )
    assert (done.returncode, done.stdout.split()) == (0, ["3.0", "True", "True"]), done.stderr
    assert "RuntimeWarning: sagax forgets what it compiled. This process has " in done.stderr


@needs_limit
def test_what_the_caller_holds_is_refused_with_words():
    done = said(
        """
        leave(1000)
        held = []
        try:
            for k in range(400):
                held.append(compiled(k).lower(x).compile())
        except sagax.errors.JaxRuntimeError as error:
            print(str(error).partition(".")[0])
        print(all(float(c(x)) == 3 * k for k, c in enumerate(held)))
        held.clear()
        sagax.clear_caches()
        print(float(compiled(7)(x)))
        """
    )
    refused = "RESOURCE_EXHAUSTED: no room for another compiled program"
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["3.0", refused, "True", "21.0"]
