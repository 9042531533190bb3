"""Measure sagax beside JAX, and print the ratio of every row.

    python -m benchmarks --jax-python .venv-jax/bin/python [--quick] [--only NAME ...]

Each library has its own interpreter; for each row both get a process, and these take turns, so
that what disturbs the machine disturbs both. A full run is written to benchmarks/results as a page
and as data. Let the machine be quiet: other load makes the spread wide and the ratio doubtful.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import sys
from pathlib import Path

from benchmarks import report
from benchmarks.measure import FULL, QUICK, ROOT, Result, Side, measure
from benchmarks.rows import Row
from benchmarks.table import ROWS, SHORT

RESULTS = Path(__file__).resolve().parent / "results"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for library in ("jax", "sagax"):
        parser.add_argument(
            f"--{library}-python",
            type=interpreter,
            default=sys.executable,
            metavar="PATH",
            help=f"interpreter that has what {library} needs; default: this one",
        )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="three minutes: some rows of each kind (or those of --only), wider spread",
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="rows whose name begins so")
    parser.add_argument("--list", action="store_true", help="list the rows and stop")
    parser.add_argument("--output", type=Path, help="folder for the results, of any run")
    parser.add_argument("--check", action="store_true", help="exit status 1 if a row is over")
    parser.add_argument(
        "--self-check",
        action="store_true",
        help="JAX on both sides: every ratio should be about 1, which tells how far to trust",
    )
    return parser.parse_args()


def interpreter(text: str) -> str:
    path = os.path.abspath(text)  # not resolved: an environment's python is a link to another one
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{text} is not an interpreter")
    return path


def chosen(names: list[str] | None, quick: bool) -> list[Row]:
    if names is None:
        return [row for row in ROWS if not quick or row.name in SHORT]
    rows = [row for row in ROWS if row.name.startswith(tuple(names))]
    if not rows:
        known = ", ".join(row.name for row in ROWS)
        sys.exit(f"--only {' '.join(names)}: no such row; there are {known}")
    return rows


def facts(results: list[Result], sides: tuple[Side, Side], load: float) -> dict[str, str]:
    """What someone needs to know who reads the figures later."""
    about = {
        "date": datetime.datetime.now().isoformat(" ", "minutes"),
        "machine": report.machine(),
        "load at the start": f"{load:.2f} on {report.cores()} cores",
        "commit": report.revision(ROOT),
    }
    versions = next((r.versions for r in results if r.versions[0]), ({}, {}))
    for side, found in zip(sides, versions):
        about[side.label] = ", ".join(f"{name} {version}" for name, version in found.items())
    return about


def main() -> int:
    args = arguments()
    rows = chosen(args.only, args.quick)
    if args.list:
        for row in rows:
            print(f"{row.name:20} {row.title}" + (f"; at most {row.bound:g}" if row.bound else ""))
        return 0
    theirs = Side("jax", args.jax_python, "jax")
    ours = Side("sagax", args.sagax_python, "sagax")
    if args.self_check:
        ours = Side("jax", args.jax_python, "jax again")
        rows = [dataclasses.replace(row, bound=None) for row in rows]

    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"the machine is busy (load {load:.1f}): take the figures with care\n")
    print(report.line(report.heading(ours, theirs)), flush=True)
    results = []
    for row in rows:
        result = measure(row, ours, theirs, QUICK if args.quick else FULL)
        results.append(result)
        print(report.line(report.fields(result)), flush=True)
        if result.failure:
            print(f"    {result.failure}", flush=True)

    about = facts(results, (ours, theirs), load)
    full = not (args.quick or args.only or args.self_check)
    if full or args.output:
        folder = args.output or RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{datetime.date.today().isoformat()}-{report.machine()}"
        (folder / f"{stem}.md").write_text(report.page(results, about, (ours, theirs)))
        (folder / f"{stem}.json").write_text(report.data(results, about))
        print(f"written: {folder / stem}.md, .json")
    if args.self_check:
        off = max((r.ratio for r in results if r.ratio), key=lambda ratio: abs(ratio - 1))
        print(f"the ratio farthest from 1: {off:.3f}")
    over = [r.row.name for r in results if r.within_bound is False]
    if over:
        print(f"over the bound or failed: {', '.join(over)}")
    return 1 if over and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
