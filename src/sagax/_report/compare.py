"""Compare two reports: what each function took before and after a change."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html.parser import HTMLParser

from sagax._report.page import format_seconds
from sagax._src.diagnostics.wording import localized
from sagax._src.languages.widths import columns, pad


@dataclass(frozen=True)
class Totals:
    """Hold what a report says of a function, over all functions of its name."""

    runs: int = 0
    run_seconds: float = 0.0
    compilations: int = 0
    compile_seconds: float = 0.0

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.runs + other.runs,
            self.run_seconds + other.run_seconds,
            self.compilations + other.compilations,
            self.compile_seconds + other.compile_seconds,
        )

    @property
    def total(self) -> float:
        return self.run_seconds + self.compile_seconds

    @property
    def each(self) -> float:
        return self.run_seconds / self.runs if self.runs else 0.0


class _Reader(HTMLParser):
    """Collect the totals that stand at the functions of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Totals] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = {name: value or "" for name, value in attrs}
        if tag != "details" or "data-run-seconds" not in facts:
            return
        name = facts["data-name"]
        new = Totals(
            int(facts["data-runs"]),
            float(facts["data-run-seconds"]),
            int(facts["data-compilations"]),
            float(facts["data-compile-seconds"]),
        )
        self.found[name] = self.found.get(name, Totals()) + new


def read(path: str) -> dict[str, Totals]:
    """Read the totals of a report, by function; a ValueError if the page is no report."""
    reader = _Reader()
    with open(path, encoding="utf-8") as file:
        reader.feed(file.read())
    if not reader.found:
        raise ValueError(
            localized(f"{path} is not a report of `sagax run --report`, or lists no function")
        )
    return reader.found


def table(old: dict[str, Totals], new: dict[str, Totals]) -> str:
    """Write a line for each function, the largest difference first."""
    heads = ("function", "a run", "", "compiling", "", "compilations", "total", "")
    rows = [tuple(localized(head) for head in heads)]
    names = sorted({*old, *new}, key=lambda n: -abs(_total(new, n) - _total(old, n)))
    for name in names:
        a, b = old.get(name, Totals()), new.get(name, Totals())
        rows.append(
            (
                name,
                _change(a.each, b.each),
                _ratio(a.each, b.each),
                _change(a.compile_seconds, b.compile_seconds),
                _ratio(a.compile_seconds, b.compile_seconds),
                f"{a.compilations} -> {b.compilations}",
                _change(a.total, b.total),
                _ratio(a.total, b.total),
            )
        )
    whole = [sum(_total(side, n) for n in side) for side in (old, new)]
    rows.append((localized("all"), "", "", "", "", "", _change(*whole), _ratio(*whole)))
    widths = [max(columns(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(pad(cell, w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _total(side: dict[str, Totals], name: str) -> float:
    return side.get(name, Totals()).total


def _change(old: float, new: float) -> str:
    return f"{format_seconds(old)} -> {format_seconds(new)}"


def _ratio(old: float, new: float) -> str:
    return f"{new / old:.2f}x" if old and new else ""


def main(old: str, new: str) -> int:
    """Print the comparison of two pages; return the exit status."""
    try:
        print(table(read(old), read(new)))
    except (OSError, ValueError) as error:
        print(localized(f"sagax report: {error}"), file=sys.stderr)
        return 2
    return 0
