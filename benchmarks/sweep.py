"""Measure every public function and every form of a call beside JAX.

    python -m benchmarks --jax-python .venv-jax/bin/python --sweep [--only numpy.sort call]

A pair of processes, one of each library, shares a core. All pairs build some rows at the same time, which takes
most of the time; then they measure them, one pair after the other, the two processes in turns. Rows over their bound
are measured again in new processes, longer; those over it both times are reported as slow.
"""

from __future__ import annotations

import dataclasses
import json
import os
import select
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import ROOT, Side, last_line
from benchmarks.rows import Row
from benchmarks.sweep_rows import SweepRow, rows

TURNS, MORE_TURNS = 7, 25
PATIENCE = 120.0  # seconds that a side may take for an answer
BATCH = 25  # rows that a pair builds at once
FEW = 300  # rows of a pair of processes: what they keep is given back

_ENVIRONMENT = Row("sweep", "", None, "cpu")


class Ended(Exception):
    """A process ended or gave no answer in time."""


class Process:
    """A process of one library that builds and measures rows."""

    def __init__(self, side: Side, core: int) -> None:
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            [side.python, "-m", "benchmarks.sweep_worker", side.library, str(core)],
            cwd=ROOT,
            env=side.environment(_ENVIRONMENT),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self._read()

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Send a request, and return the answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Ended(self._reason()) from None
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], PATIENCE)[0]:
            self._process.kill()
            raise Ended(f"no answer in {PATIENCE:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise Ended(self._reason())
        return json.loads(line)

    def _reason(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        return f"its process ended: {last_line(self._errors.read())}"

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


@dataclass
class Measured:
    """The samples of a row, in pairs; `failure` is what our side said, `skipped` why there is nothing to compare."""

    row: SweepRow
    level: str = ""
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    failure: str = ""
    skipped: str = ""
    again: float | None = None  # the ratio of the second, longer measurement

    def fail(self, who: int, reason: Exception) -> None:
        """Note that a process ended: theirs (0) or ours (1)."""
        self.ours, self.theirs = [], []
        if who == 0:
            self.skipped = f"jax: {reason}"
        else:
            self.failure = str(reason)

    @property
    def ratio(self) -> float | None:
        """Return the median of ours over the median of theirs."""
        return statistics.median(self.ours) / statistics.median(self.theirs) if self.ours else None

    @property
    def lower(self) -> float:
        """Return the lower quartile of the ratios of pairs."""
        ratios = [a / b for a, b in zip(self.ours, self.theirs, strict=True)]
        return statistics.quantiles(ratios, n=4, method="inclusive")[0]

    @property
    def over(self) -> bool:
        """Return whether the row is over its bound beyond its noise."""
        return (
            self.ratio is not None and self.lower > self.row.bound and self.ratio > self.row.bound
        )

    @property
    def slow(self) -> bool:
        """Return whether the row was over its bound both times."""
        return self.again is not None and self.again > self.row.bound


class Pair:
    """Our process and theirs on one core; made anew when one ends, or after some rows."""

    def __init__(self, ours: Side, theirs: Side, core: int) -> None:
        self._sides = (theirs, ours)
        self._core = core
        self._open: list[Process] = []
        self._count = 0
        self._at_work = 0  # theirs (0) or ours (1)

    def build(self, batch: Sequence[Measured]) -> None:
        """Compile rows in both processes, in place of earlier ones."""
        if self._count >= FEW:
            self.close()
        for process in self._open:
            process.ask(do="forget")
        self._open = self._open or [Process(side, self._core) for side in self._sides]
        for result in batch:
            if result.failure or result.skipped:
                continue
            self._count += 1
            try:
                self._build(result)
            except Ended as reason:
                result.fail(self._at_work, reason)
                self.close()
                self.build(batch)  # those built before are lost
                return

    def _build(self, result: Measured) -> None:
        level = None
        for who, process in enumerate(self._open):
            self._at_work = who
            answer = process.ask(do="build", row=dataclasses.astuple(result.row), level=level)
            if "level" not in answer:
                reason = answer.get("skip") or answer["error"]
                if who == 0:
                    result.skipped = reason
                else:
                    result.failure = reason
                return
            level = answer["level"]
        result.level = level or ""

    def measure(self, batch: Sequence[Measured], turns: int) -> None:
        """Measure rows that are built, in turns."""
        for result in batch:
            if result.failure or result.skipped:
                continue
            samples = (result.theirs, result.ours)
            try:
                for turn in range(turns):
                    for who in (0, 1) if turn % 2 else (1, 0):
                        self._at_work = who
                        answer = self._open[who].ask(do="measure", row=result.row.name)
                        samples[who].append(answer["seconds"])
            except Ended as reason:
                result.fail(self._at_work, reason)
                self.close()
                self.build(batch[batch.index(result) :])

    def close(self) -> None:
        """End both processes."""
        for process in self._open:
            process.close()
        self._open, self._count = [], 0


def measured(found: Sequence[Measured], pairs: Sequence[Pair], turns: int) -> None:
    """Build and measure rows, some at a time."""
    step = BATCH * len(pairs)
    with ThreadPoolExecutor(len(pairs)) as threads:
        for start in range(0, len(found), step):
            shares = [found[start + i : start + step : len(pairs)] for i in range(len(pairs))]
            list(threads.map(Pair.build, pairs, shares))
            for pair, share in zip(pairs, shares, strict=True):
                pair.measure(share, turns)
            done = min(start + step, len(found))
            print(f"{done} of {len(found)} rows", file=sys.stderr, flush=True)


def sweep(ours: Side, theirs: Side, only: list[str] | None) -> list[Measured]:
    """Measure all rows, those over their bound twice."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    pairs = [Pair(ours, theirs, core) for core in cores]
    found = [Measured(r) for r in rows() if not only or r.name.startswith(tuple(only))]
    if not found:
        sys.exit(f"--only {' '.join(only or ())}: no such row")
    try:
        measured(found, pairs, TURNS)
        for pair in pairs:
            pair.close()
        over = [r for r in found if r.over]
        again = [Measured(r.row) for r in over]
        measured(again, pairs, MORE_TURNS)
        for first, second in zip(over, again, strict=True):
            first.again = second.ratio
    finally:
        for pair in pairs:
            pair.close()
    return found


def page(found: list[Measured], about: dict[str, str]) -> str:
    """Return the report: counts, then the rows by ratio, slowest first."""
    measured = sorted((r for r in found if r.ratio is not None), key=lambda r: -(r.ratio or 0))
    slow = [r for r in measured if r.slow]
    lines = ["# Every public function beside JAX", ""]
    lines += [f"- {k}: {v}" for k, v in about.items()]
    lines += [
        f"- {len(measured)} rows measured, {len(slow)} over their bound in both measurements",
        f"- not measured: {sum(bool(r.skipped) for r in found)} have no call on JAX in this form, {sum(bool(r.failure) for r in found)} failed on sagax",
        "- by form, median of ratios: "
        + ", ".join(
            f"{form} {statistics.median(r.ratio or 0 for r in measured if r.row.form == form):.2f}"
            for form in dict.fromkeys(r.row.form for r in measured)
        ),
        "",
        "Ratios are CPU time of sagax to that of JAX, on one core; below 1, sagax is faster. The second ratio is that of a longer measurement.",
        "Eager calls are those after 1,500 others: functions of many operations are compiled after 1,000 calls.",
        "",
        "| row | size | call | sagax | JAX | ratio | again |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in measured:
        again = "" if r.again is None else f"{r.again:.2f}"
        ours, theirs = statistics.median(r.ours), statistics.median(r.theirs)
        text = r.row.text.replace("|", "\\|")
        lines.append(
            f"| {r.row.name} | {r.level} | `{text}` | {ours * 1e6:.1f} µs | {theirs * 1e6:.1f} µs | {r.ratio:.2f} | {again} |"
        )
    failed = [f"- {r.row.name}: {r.failure}" for r in found if r.failure]
    if failed:
        lines += ["", "## Failed on sagax", "", *failed]
    return "\n".join(lines) + "\n"


def data(found: list[Measured], about: dict[str, str]) -> str:
    """Return all measurements as JSON."""
    listed = [
        {
            "row": r.row.name,
            "level": r.level,
            "ours": statistics.median(r.ours) if r.ours else None,
            "theirs": statistics.median(r.theirs) if r.theirs else None,
            "again": r.again,
            "failure": r.failure,
            "skipped": r.skipped,
        }
        for r in found
    ]
    return json.dumps({"about": about, "rows": listed}, indent=0) + "\n"
