"""Format results: lines on the screen, a Markdown page, JSON."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Result, Side


def seconds(value: float) -> str:
    """A time with the unit that suits it: 4.52 us, 118 ms, 3.2 s."""
    if value < 1e-3:
        return f"{value * 1e6:.3g} us"
    if value < 1.0:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s"


def amount(value: float, clock: str) -> str:
    """A measured value: bytes as 412 MiB where the clock is "memory", else a time."""
    return f"{value / 2**20:.3g} MiB" if clock == "memory" else seconds(value)


def verdict(result: Result) -> str:
    if result.failure:
        return "failed"
    return {None: "", True: "ok", False: "OVER"}[result.within_bound]


def fields(result: Result) -> tuple[str, str, str, str, str, str, str]:
    """The columns of a row: title, ours, theirs, ratio, spread, bound, verdict."""
    row = result.row
    bound = "" if row.bound is None else f"{row.bound:g}"
    if result.ratio is None or result.spread is None:
        return row.title, "", "", "", "", bound, verdict(result)
    low, high = result.spread
    return (
        row.title,
        amount(statistics.median(result.ours), row.clock),
        amount(statistics.median(result.theirs), row.clock),
        f"{result.ratio:.3f}",
        f"{low:.3f}-{high:.3f}",
        bound,
        verdict(result),
    )


WIDTHS = (42, 9, 9, 7, 13, 6, 6)


def line(columns: Sequence[str]) -> str:
    """The columns as a line on the screen: the first to the left, the others to the right."""
    first, *others = columns
    cells = [text.rjust(width) for text, width in zip(others, WIDTHS[1:])]
    return "  ".join([first.ljust(WIDTHS[0]), *cells]).rstrip()


def heading(ours: Side, theirs: Side) -> tuple[str, ...]:
    return "", ours.label, theirs.label, "ratio", "middle half", "bound", ""


def machine() -> str:
    """The processor in a form fit for a file name, with the number of cores we may use."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.MULTILINE)
        model = found.group(1) if found else model
    model = re.sub(r"\((R|TM)\)|CPU|@.*", "", model)
    return re.sub(r"[^a-z0-9]+", "-", f"{model} {cores()}cores".lower()).strip("-")


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def revision(root: Path) -> str:
    """The commit, with a mark if the checkout differs from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() or "unknown"


def page(results: Sequence[Result], about: Mapping[str, str], sides: tuple[Side, Side]) -> str:
    """The Markdown of a run."""
    lines = ["# sagax beside JAX", ""]
    lines += [f"- {name}: {value}" for name, value in about.items()]
    lines += [
        "",
        "The ratio is that of the medians. Of the pairs measured in turns, half have ratios in the",
        'range "middle half". Times are of one call. Clock cpu: the CPU time of the process.',
        "",
    ]
    table = [("row", "clock", *heading(*sides)[1:])]
    table.append(("---", "---", *["---:"] * 5, "---"))
    for result in results:
        title, *others = fields(result)
        table.append((f"{title} (`{result.row.name}`)", result.row.clock, *others))
    lines += ["| " + " | ".join(cells) + " |" for cells in table]
    failures = [r for r in results if r.failure]
    if failures:
        lines += ["", *(f"- `{r.row.name}` failed: {r.failure}" for r in failures)]
    return "\n".join(lines) + "\n"


def data(results: Sequence[Result], about: Mapping[str, str]) -> str:
    """The JSON of a run, with every sample (seconds of one call, or bytes)."""
    rows = [
        {
            "name": r.row.name,
            "title": r.row.title,
            "clock": r.row.clock,
            "bound": r.row.bound,
            "ratio": r.ratio,
            "spread": r.spread,
            "within_bound": r.within_bound,
            "failure": r.failure or None,
            "ours": r.ours,
            "theirs": r.theirs,
        }
        for r in results
    ]
    return json.dumps({"about": dict(about), "rows": rows}, indent=1) + "\n"
