"""Build and measure operations on one library, as the driver of the peers asks.

    python -m benchmarks.peers_worker LIBRARY THREADS

LIBRARY is sagax, numpy or torch. It answers each line of JSON on stdin with one: `build` prepares an operation and
calls it until it is warm, `measure` times it: the CPU time of a call with one thread, else its wall time.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.operations import OPERATIONS, Operation

SHORTEST = 0.004  # seconds of a measurement
WARM = 5


class Absent(Exception):
    """A library that does not have an operation."""


def builder(
    library: str, threads: int
) -> tuple[Callable[[Operation], Callable[[], Any]], Callable[[Any], Any]]:
    """Return a function that makes calls of operations, and one that waits for a result."""
    if library == "sagax":
        from benchmarks.worker import open_library

        opened = open_library("sagax")
        return lambda o: o._case(opened).call, opened.lib.block_until_ready
    if library == "numpy":

        def in_numpy(operation: Operation) -> Callable[[], Any]:
            if operation.in_numpy is None:
                raise Absent
            return functools.partial(operation.in_numpy, *operation.values())

        return in_numpy, lambda result: result
    torch = importlib.import_module("torch")
    torch.set_num_threads(threads)

    def in_torch(operation: Operation) -> Callable[[], Any]:
        if operation.in_torch is None:
            raise Absent
        return functools.partial(operation.in_torch, torch, *map(torch.tensor, operation.values()))

    return in_torch, lambda result: result


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    library, threads = sys.argv[1], int(sys.argv[2])
    if hasattr(os, "sched_setaffinity"):  # Linux
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:threads]))
    clock = time.process_time if threads == 1 else time.perf_counter
    make, wait = builder(library, threads)
    version = importlib.metadata.version(library)
    answers.write(json.dumps({"ready": True, "version": version}) + "\n")
    operations = {o.name: o for o in OPERATIONS}
    call: Callable[[], Any] = lambda: None  # noqa: E731
    number = 1

    def seconds() -> float:
        result = None
        start = clock()
        for _ in itertools.repeat(None, number):
            result = call()
        wait(result)
        return (clock() - start) / number

    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "build" in asked:
                call, number = make(operations[asked["build"]]), 1
                fastest = min(seconds() for _ in range(WARM))
                number = max(1, round(SHORTEST / fastest))
                answer: dict[str, Any] = {"seconds": fastest}
            else:
                answer = {"seconds": seconds()}
        except Absent:
            answer = {"absent": True}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
