"""Prove fixes, one after the other, and print what was found: a JSON object a line.

Reads [[broken, fixed, class of the mistake], ...] as JSON. In a process of its own, in which no
device has been touched: runs of the programs are forks of it.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from sagax._autofix.proof import prove
from sagax._autofix.run_task import Task
from sagax._autofix.search import reference_for
from sagax._autofix.subprocess_runs import run_all


def run_pairs(tasks):
    """Run tasks, two at a time."""
    return [o for i in range(0, len(tasks), 2) for o in run_all(tasks[i : i + 2], 60.0)]


if __name__ == "__main__":
    for broken, fixed, name in json.load(sys.stdin):
        (first,) = run_pairs([Task(broken, watch=True)])
        reported = [f for f in (first.found, *first.warnings) if f and f.diagnostic.error == name]
        reference = reference_for(name, reported[0] if reported else None)
        texts = [{broken: Path(p).read_text(encoding="utf-8")} for p in (broken, fixed)]
        found = prove(Task(broken, trial=True), *texts, reference, run_pairs)
        print(json.dumps({"fixed": fixed, **dataclasses.asdict(found)}), flush=True)
