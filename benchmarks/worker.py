"""Measure one case on one library in a process of its own, as the driver asks.

    python -m benchmarks.worker LIBRARY CASE SECONDS

It answers each line on stdin with one line of JSON on stdout: first how many calls a measurement
of about SECONDS holds, then the seconds of one call, as often as it is asked.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import itertools
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable

from benchmarks.rows import Fresh, Library, Loop
from benchmarks.table import ROWS

WARM_CALLS, WARM_SECONDS = 10, 1.0
CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}


def open_library(name: str) -> Library:
    return Library(name, importlib.import_module(name), importlib.import_module(f"{name}.numpy"))


def time_loop(work: Loop, number: int, clock: Callable[[], float], wait: Callable) -> float:
    """Seconds of one call, from `number` of them in a row."""
    call = work.call
    result = None
    start = clock()
    for _ in itertools.repeat(None, number):
        result = call()
    wait(result)
    return (clock() - start) / number


def time_fresh(work: Fresh, number: int, clock: Callable[[], float]) -> float:
    """Seconds of one run, from `number` of them with their preparations left out."""
    total = 0.0
    for _ in range(number):
        subject = work.prepare()
        gc.collect()
        start = clock()
        result = work.run(subject)
        total += clock() - start
        del result, subject
    return total / number


def calls_for(measure: Callable[[int], float], seconds: float) -> int:
    """How many calls take about `seconds`; the warm-up happens on the way.

    A library may work differently on its first few calls than from then on (and says so), as ours does
    for transformations outside of jit: calls are counted once several are over. A pause of the process,
    such as a collection of garbage, must not make measurements short: their first call finds the caches of
    the processor cold, after the other library's turn, and would count for more than on the other side.
    """
    spent = 0.0
    for _ in range(WARM_CALLS):
        spent += measure(1)
        if spent > WARM_SECONDS:
            break
    number = 1
    while True:
        took = min(measure(number), measure(number)) * number
        if took >= seconds / 4 or number >= 1_000_000:
            return max(1, round(number * seconds / max(took, 1e-9)))
        number *= 4


def versions(library: Library) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in (library.name, "jaxlib", "numpy"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = getattr(library.lib, "__version__", "?")
    return found


def main() -> None:
    # What a program prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    name, case, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    row = next(row for row in ROWS if row.name == case)

    def answer(**fields: object) -> None:
        answers.write(json.dumps(fields) + "\n")

    try:
        if row.case is None:
            raise ValueError(f"the row {case} is measured in new processes, not by a worker")
        if row.one_core and hasattr(os, "sched_setaffinity"):  # Linux
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        library = open_library(name)
        work = row.case(library)
        clock = CLOCKS[row.clock]
        wait = library.lib.block_until_ready

        def measure(number: int) -> float:
            if isinstance(work, Loop):
                return time_loop(work, number, clock, wait)
            return time_fresh(work, number, clock)

        number = calls_for(measure, seconds)
        answer(number=number, versions=versions(library))
        for _ in sys.stdin:
            answer(seconds=measure(number))
    except Exception as error:
        traceback.print_exc()
        answer(error=f"{type(error).__name__}: {error}".splitlines()[0])


if __name__ == "__main__":
    main()
