"""Measure every public function and every form of a call beside JAX.

    python -m benchmarks --jax-python .venv-jax/bin/python --sweep [--only numpy.sort call]

Two processes, one of each library, build a row and take turns in measuring it. Rows over their bound are
measured again in new processes, longer; those over it both times are reported as slow.
"""

from __future__ import annotations

import dataclasses
import json
import select
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import ROOT, Side, last_line
from benchmarks.rows import Row
from benchmarks.sweep_rows import SweepRow, rows

TURNS, MORE_TURNS = 7, 25
PATIENCE = 60.0  # seconds that a side may take for an answer
FEW = 300  # rows of a pair of processes: what they keep is given back

_ENVIRONMENT = Row("sweep", "", None, "cpu")


class Ended(Exception):
    """A process ended or gave no answer in time."""


class Process:
    """A process of one library that builds and measures rows."""

    def __init__(self, side: Side) -> None:
        self._errors = tempfile.TemporaryFile("w+", errors="replace")
        self._process = subprocess.Popen(
            [side.python, "-m", "benchmarks.sweep_worker", side.library],
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
    """Our process and theirs; made anew when one ends, or after some rows."""

    def __init__(self, ours: Side, theirs: Side) -> None:
        self._sides = (theirs, ours)
        self._open: list[Process] = []
        self._count = 0

    def measure(self, row: SweepRow, turns: int) -> Measured:
        """Measure a row in turns."""
        if self._count >= FEW:
            self.close()
        if not self._open:
            self._open = [Process(side) for side in self._sides]
        self._count += 1
        result = Measured(row)
        who = 0
        try:
            level = None
            for who, process in enumerate(self._open):
                answer = process.ask(do="build", row=dataclasses.astuple(row), level=level)
                if "level" not in answer:
                    reason = answer.get("skip") or answer["error"]
                    if who == 0:
                        result.skipped = reason
                    else:
                        result.failure = reason
                    return result
                level = answer["level"]
            result.level = level or ""
            samples = (result.theirs, result.ours)
            for turn in range(turns):
                for who in (0, 1) if turn % 2 else (1, 0):
                    samples[who].append(self._open[who].ask(do="measure")["seconds"])
        except Ended as reason:
            self.close()
            result.ours, result.theirs = [], []
            if who == 0:
                result.skipped = f"jax: {reason}"
            else:
                result.failure = str(reason)
        return result

    def close(self) -> None:
        """End both processes."""
        for process in self._open:
            process.close()
        self._open, self._count = [], 0


def sweep(ours: Side, theirs: Side, only: list[str] | None) -> Iterator[Measured]:
    """Measure all rows, those over their bound twice."""
    pair = Pair(ours, theirs)
    chosen = [r for r in rows() if not only or r.name.startswith(tuple(only))]
    if not chosen:
        sys.exit(f"--only {' '.join(only or ())}: no such row")
    try:
        found = []
        for count, row in enumerate(chosen):
            found.append(pair.measure(row, TURNS))
            if count % 50 == 49:
                print(f"{count + 1} of {len(chosen)} rows", file=sys.stderr, flush=True)
        pair.close()
        for result in found:
            if result.over:
                result.again = pair.measure(result.row, MORE_TURNS).ratio
        yield from found
    finally:
        pair.close()


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
