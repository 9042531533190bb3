"""Measure operations beside NumPy and torch, with one thread and with two.

    python -m benchmarks --peers [--torch-python PATH] [--only sort depthwise]

Each library has a process; they take turns. torch is optional: without `--torch-python`, an interpreter that has it,
its column stays empty.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import ROOT, Side, last_line
from benchmarks.operations import OPERATIONS, Operation
from benchmarks.report import seconds
from benchmarks.rows import Row

TURNS = 9
THREADS = (1, 2)
LIBRARIES = ("sagax", "numpy", "torch")


@dataclass
class Compared:
    """Samples of one operation with a number of threads, by library; what a library cannot do has none."""

    operation: Operation
    threads: int
    samples: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def time(self, library: str) -> float | None:
        found = self.samples.get(library)
        return statistics.median(found) if found else None

    @property
    def ratio(self) -> float | None:
        """Return our time over that of the best peer."""
        peers = [t for name in LIBRARIES[1:] if (t := self.time(name)) is not None]
        ours = self.time("sagax")
        return None if ours is None or not peers else ours / min(peers)


class Process:
    """A process of one library that builds and measures operations."""

    def __init__(self, side: Side, threads: int) -> None:
        environment = side.environment(Row("peers", "", None, "cpu"))
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            environment[name] = str(threads)
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            [side.python, "-m", "benchmarks.peers_worker", side.library, str(threads)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        answer = self._answer()
        self.version = answer.get("version", "")
        self.failure = "" if answer else self._reason()

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Send a request, and return the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {}

    def _reason(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return last_line(self._errors.read())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


def compare(sides: Sequence[Side], only: list[str] | None) -> Iterator[Compared]:
    """Measure the operations, all with one thread first."""
    chosen = [o for o in OPERATIONS if not only or o.name.startswith(tuple(only))]
    if not chosen:
        sys.exit(f"--only {' '.join(only or ())}: no such operation")
    for threads in THREADS:
        processes = {side.library: Process(side, threads) for side in sides}
        try:
            for library, process in list(processes.items()):
                if process.failure:
                    print(f"{library}: {process.failure}", file=sys.stderr)
                    processes.pop(library).close()
            for operation in chosen:
                yield _compared(operation, threads, processes)
        finally:
            for process in processes.values():
                process.close()


def _compared(operation: Operation, threads: int, processes: dict[str, Process]) -> Compared:
    result = Compared(operation, threads)
    result.versions = {library: process.version for library, process in processes.items()}
    able = []
    for library, process in processes.items():
        answer = process.ask(build=operation.name)
        if "seconds" in answer:
            able.append(library)
        elif "error" in answer:
            result.errors[library] = answer["error"]
    for turn in range(TURNS):
        for library in able if turn % 2 else reversed(able):
            taken = processes[library].ask(measure=True)["seconds"]
            result.samples.setdefault(library, []).append(taken)
    return result


def line(found: Compared) -> str:
    """Return a row of the table."""
    times = [found.time(library) for library in LIBRARIES]
    cells = ["" if t is None else seconds(t) for t in times]
    ratio = "" if found.ratio is None else f"{found.ratio:.2f}"
    return f"| {found.operation.title} | {found.threads} | {' | '.join(cells)} | {ratio} |"


def page(found: list[Compared], about: dict[str, str]) -> str:
    """Return the report."""
    lines = ["# sagax beside NumPy and torch", "", *[f"- {k}: {v}" for k, v in about.items()]]
    lines += [
        "",
        "Times of one call: CPU time with one thread, wall time with two. The ratio is that of sagax to the faster peer.",
        "NumPy and torch call functions one by one; sagax compiles the operation with jit.",
        "",
        "| operation | threads | sagax | NumPy | torch | ratio |",
        "|---|---|---|---|---|---|",
        *map(line, found),
    ]
    errors = [f"- {r.operation.title}: {name}: {e}" for r in found for name, e in r.errors.items()]
    return "\n".join([*lines, *(["", "Failed:", "", *errors] if errors else [])]) + "\n"


def data(found: list[Compared], about: dict[str, str]) -> str:
    """Return all samples as JSON."""
    rows = [
        {
            "operation": r.operation.name,
            "threads": r.threads,
            "samples": r.samples,
            "ratio": r.ratio,
        }
        for r in found
    ]
    return json.dumps({"about": about, "rows": rows}, indent=0) + "\n"
