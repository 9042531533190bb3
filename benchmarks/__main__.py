"""Measure sagax beside JAX, and print the ratio of every row.

    python -m benchmarks --jax-python .venv-jax/bin/python [--quick] [--only NAME ...]
    python -m benchmarks --jax-python .venv-jax/bin/python --only growth [--quick]
    python -m benchmarks --jax-python .venv-jax/bin/python --sweep [--only numpy.sort call]
    python -m benchmarks --peers [--torch-python PATH] [--only sort depthwise]

Each library has its own interpreter; for each row both get a process, and these take turns, so
that what disturbs the machine disturbs both. A full run is written to benchmarks/results as a page
and as data. Let the machine be quiet: other load makes the spread wide and the ratio doubtful.
`--only growth` measures how times grow with the size of a program (see benchmarks/growth.py),
`--sweep` every public function and every form of a call (see benchmarks/sweep.py), `--peers`
operations beside NumPy and torch (see benchmarks/peers.py).
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import os
import sys
from pathlib import Path

from benchmarks import growth, peers, report, sweep
from benchmarks.measure import FULL, QUICK, ROOT, Result, Side, measure
from benchmarks.rows import Row
from benchmarks.table import GPU, ROWS, SHORT

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
    parser.add_argument(
        "--sweep", action="store_true", help="every public function and every form of a call"
    )
    parser.add_argument("--peers", action="store_true", help="operations beside NumPy and torch")
    parser.add_argument(
        "--torch-python",
        type=interpreter,
        metavar="PATH",
        help="interpreter that has torch and NumPy, for --peers",
    )
    parser.add_argument(
        "--gpu", action="store_true", help="the rows that tell most on a GPU, on its device"
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


def chosen(names: list[str] | None, quick: bool, gpu: bool) -> list[Row]:
    if names is None and gpu:
        return [row for row in ROWS if row.name in GPU]
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


def measure_growth(args: argparse.Namespace) -> int:
    """Measure the exponents of growth; write the table as a full run does."""
    if args.list:
        print("\n".join(f"{name:18} {case.title}" for name, case in growth.CASES.items()))
        return 0
    ours, theirs = Side("sagax", args.sagax_python, "sagax"), Side("jax", args.jax_python, "jax")
    lines, over = growth.measure_all(ours, theirs, repeats=1 if args.quick else 2)
    if not args.quick or args.output:
        folder = args.output or RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{datetime.date.today().isoformat()}-{report.machine()}-growth.md"
        path.write_text(growth.page(lines, report.revision(ROOT)))
        print(f"written: {path}")
    if over:
        print(f"steeper than {growth.BOUND}: {', '.join(over)}")
    return 1 if over and args.check else 0


def measure_sweep(args: argparse.Namespace) -> int:
    """Measure the sweep; write its report, sorted by ratio."""
    ours, theirs = Side("sagax", args.sagax_python, "sagax"), Side("jax", args.jax_python, "jax")
    load = os.getloadavg()[0]
    found = sweep.sweep(ours, theirs, args.only)
    about = facts([], (ours, theirs), load)
    text = sweep.page(found, about)
    print(text if args.only else "\n".join(text.splitlines()[:60]))
    if not args.only or args.output:
        folder = args.output or RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{datetime.date.today().isoformat()}-{report.machine()}-sweep"
        (folder / f"{stem}.md").write_text(text)
        (folder / f"{stem}.json").write_text(sweep.data(found, about))
        print(f"written: {folder / stem}.md, .json")
    return 1 if args.check and any(r.slow for r in found) else 0


def measure_peers(args: argparse.Namespace) -> int:
    """Measure operations beside NumPy and torch; write the report."""
    sides = [Side(library, args.sagax_python, library) for library in ("sagax", "numpy")]
    if args.torch_python:
        sides.append(Side("torch", args.torch_python, "torch"))
    load = os.getloadavg()[0]
    found = []
    for result in peers.compare(sides, args.only):
        found.append(result)
        print(peers.line(result), flush=True)
    about = {**facts([], (sides[0], sides[1]), load), **found[0].versions}
    if not args.only or args.output:
        folder = args.output or RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        stem = f"{datetime.date.today().isoformat()}-{report.machine()}-peers"
        (folder / f"{stem}.md").write_text(peers.page(found, about))
        (folder / f"{stem}.json").write_text(peers.data(found, about))
        print(f"written: {folder / stem}.md, .json")
    return 0


def main() -> int:
    args = arguments()
    if args.peers:
        return measure_peers(args)
    if args.sweep:
        return measure_sweep(args)
    if args.only == ["growth"]:
        return measure_growth(args)
    rows = chosen(args.only, args.quick, args.gpu)
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
    full = not (args.quick or args.gpu or args.only or args.self_check)
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
