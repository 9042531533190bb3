"""Measure one row: start both processes, let them take turns, and summarize the samples."""

from __future__ import annotations

import contextlib
import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.rows import Row

ROOT = Path(__file__).resolve().parents[1]

# Prints the CPU seconds of a statement; the interpreter's own start is not part of it.
NEW_PROCESS = {
    "cpu": "import time; t = time.process_time(); {statement}; print(time.process_time() - t)",
    "wall": "import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)",
    # VmHWM is this process's own: ru_maxrss begins with what the process held that started it
    "memory": (
        "import os, resource; {statement}; status = '/proc/self/status'; print(1024 * ("
        "next(int(line.split()[1]) for line in open(status) if line.startswith('VmHWM')) if os.path.exists(status) "
        "else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))"
    ),
}


# Two threads of BLAS that wait for each other on few cores: the same program takes once or twice the time. And those
# that NumPy starts turn in circles for 0.1 s of CPU time before they sleep, whatever is measured.
ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Side:
    """One of the two libraries, and the interpreter that has it."""

    library: str
    python: str
    label: str

    def environment(self, row: Row) -> dict[str, str]:
        # Options of the shell would count for one side only; bytecode is kept, as for users.
        dropped = ("SAGAX_", "JAX_", "PYTHON")
        kept = {name: v for name, v in os.environ.items() if not name.startswith(dropped)}
        path = [str(ROOT)]
        if self.library == "sagax":
            path.append(str(ROOT / "src"))
        return {
            **kept,
            "PYTHONPATH": os.pathsep.join(path),
            "TF_CPP_MIN_LOG_LEVEL": "1",
            **ONE_BLAS_THREAD,
            "JAX_ENABLE_COMPILATION_CACHE": str(row.cached and self.library == "sagax"),
            "JAX_NUM_CPU_DEVICES": str(row.devices),
        }


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1]


class Failed(Exception):
    """A side could not do a row; the message is the last thing it said."""


class Worker:
    """A process of one side that is set up for one row and measures when told."""

    def __init__(self, side: Side, row: Row, seconds: float) -> None:
        command = [side.python, "-m", "benchmarks.worker", side.library, row.name, str(seconds)]
        self._label = side.label
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=side.environment(row),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            errors="replace",
        )
        self.versions: dict[str, str] = {}

    def get_ready(self) -> None:
        """Waits until the row is set up and warm."""
        self.versions = self._answer()["versions"]

    def measure(self) -> float:
        """Seconds of one call."""
        assert self._process.stdin is not None
        self._process.stdin.write("measure\n")
        self._process.stdin.flush()
        return self._answer()["seconds"]

    def _answer(self) -> dict:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Failed(f"{self._label}: its process ended: {self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(f"{self._label}: {answer['error']}")
        return answer

    def _last_words(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return last_line(self._errors.read())

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()


class NewProcesses:
    """Stands for a worker where each measurement is a process of its own."""

    def __init__(self, side: Side, row: Row) -> None:
        self._side = side
        self._row = row
        self._code = NEW_PROCESS[row.clock].format(statement=row.statement.format(lib=side.library))
        self.versions: dict[str, str] = {}

    def get_ready(self) -> None:
        self.measure()  # writes the bytecode

    def measure(self) -> float:
        done = subprocess.run(
            [self._side.python, "-c", self._code],
            cwd=ROOT / "benchmarks",
            env=self._side.environment(self._row),
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise Failed(f"{self._side.label}: {last_line(done.stderr)}")
        return float(done.stdout)

    def close(self) -> None:
        pass


@dataclass
class Result:
    """The samples of one row, ours and theirs in pairs that were measured one after the other."""

    row: Row
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    failure: str = ""
    versions: tuple[dict[str, str], dict[str, str]] = ({}, {})

    @property
    def ratio(self) -> float | None:
        """Median of ours by median of theirs, None if a side failed."""
        if self.failure or not self.ours:
            return None
        return statistics.median(self.ours) / statistics.median(self.theirs)

    @property
    def spread(self) -> tuple[float, float] | None:
        """The middle half of the ratios of the pairs: first and third quartile."""
        if self.ratio is None:
            return None
        ratios = [a / b for a, b in zip(self.ours, self.theirs)]
        if len(ratios) < 2:
            return ratios[0], ratios[0]
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return low, high

    @property
    def within_bound(self) -> bool | None:
        """None where there is no bound; a row that failed is not within its bound."""
        if self.row.bound is None:
            return None
        return self.ratio is not None and self.ratio <= self.row.bound


@dataclass(frozen=True)
class Effort:
    """How long to measure one row.

    A row is measured by several pairs of processes one after the other: where a process happens to
    lay its memory makes small calls some percent faster or slower for as long as it lives. Many
    short measurements are better than few long ones: a disturbance then falls on both sides.
    """

    processes: int
    measurement: float  # seconds that one measurement should take
    seconds: float  # after which a pair of processes has measured enough
    least: int  # measurements of a process
    most: int
    total: float = math.inf  # seconds after which no further pair of processes is started


FULL = Effort(processes=5, measurement=0.02, seconds=5.0, least=3, most=50)
SLOW_START = Effort(processes=3, measurement=0.05, seconds=3.0, least=3, most=50)
SLOW = Effort(processes=5, measurement=0.001, seconds=3.0, least=2, most=20, total=12.0)
QUICK = Effort(processes=2, measurement=0.01, seconds=1.5, least=2, most=50)


def measure(row: Row, ours: Side, theirs: Side, effort: Effort) -> Result:
    """Both sides in turns, the first of a pair changing: what disturbs one disturbs both."""
    result = Result(row)
    effort = SLOW if row.slow else SLOW_START if row.slow_start else effort
    end = time.monotonic() + effort.total
    try:
        for count in range(effort.processes):
            if count and time.monotonic() > end:
                break
            measure_pair(result, (ours, theirs), effort)
    except Failed as failed:
        result.failure = str(failed)
    return result


def measure_pair(result: Result, sides: tuple[Side, Side], effort: Effort) -> None:
    """Adds the samples of one pair of processes to the result."""
    with contextlib.ExitStack() as stack:
        pair = []
        for side in sides:
            pair.append(open_side(side, result.row, effort))
            stack.callback(pair[-1].close)
        for worker in pair:
            worker.get_ready()
        result.versions = (pair[0].versions, pair[1].versions)
        samples = (result.ours, result.theirs)
        end = time.monotonic() + effort.seconds
        for count in range(effort.most):
            if count >= effort.least and time.monotonic() > end:
                break
            for i in (0, 1) if count % 2 == 0 else (1, 0):
                samples[i].append(pair[i].measure())


def open_side(side: Side, row: Row, effort: Effort) -> Worker | NewProcesses:
    return NewProcesses(side, row) if row.statement else Worker(side, row, effort.measurement)
