"""Explain programs, one after the other, and print what was found: a JSON object a line.

    python batch.py [--once] PROGRAM.py ...

In a process of its own, in which no device has been touched: runs of the programs are forks of it.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

import sagax._autofix.search as search
from sagax._autofix.repairs.case import base_name
from sagax._autofix.run_task import Task
from sagax._autofix.search import Trials, explain
from sagax._autofix.subprocess_runs import run, run_all
from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.model import Trust


def changed(edits):
    """The files with edits made."""
    by_file = {}
    for edit in edits:
        by_file.setdefault(edit.span.file, []).append(edit)
    texts = {}
    for file, found in by_file.items():
        with open(file, encoding="utf-8") as handle:
            texts[file] = apply(handle.read(), found)
    return texts


@contextlib.contextmanager
def recorded_trials():
    """The outcomes of the trials of a search, by the texts that ran: they need not run again."""
    found = {}

    def recorded(tasks, timeout, show=False):
        outcomes = run_all(tasks, timeout, show)
        for task, outcome in zip(tasks, outcomes, strict=True):
            if task.watch and task.trial:
                found[tuple(sorted(task.changed.items()))] = outcome
        return outcomes

    def recorded_run(task, timeout, show=False):
        return recorded([task], timeout, show)[0]

    search.run_all, search.run = recorded, recorded_run
    try:
        yield found
    finally:
        search.run_all, search.run = run_all, run


def report(script, trials):
    """What `explain` says of a program, and what the program prints with each repair that ran."""
    with contextlib.redirect_stdout(io.StringIO()), recorded_trials() as outcomes:
        found = explain(script, seconds=60.0, trials=trials)
    d = found.diagnostic
    if d is None:
        return {"error": None, "status": found.outcome.status, "text": found.outcome.traceback}
    suggestions = []
    for s in d.suggestions:
        entry = {"kind": s.kind, "verified": s.verified, "title": s.title, "grade": s.trust.value}
        if s.trust in (Trust.PROVEN, Trust.RAN):
            texts = changed(s.edits)
            outcome = outcomes.get(tuple(sorted(texts.items())))
            if outcome is None or outcome.status != "clean":
                outcome = run(Task(script, changed=texts), 120.0)
            entry["output"], entry["status"] = outcome.output, outcome.status
        suggestions.append(entry)
    return {
        "error": d.error,
        "message": d.message,
        "line": d.primary.line if d.primary is not None else None,
        "depends": sorted({base_name(name) for name in d.depends}),
        "suggestions": suggestions,
    }


if __name__ == "__main__":
    once = sys.argv[1] == "--once"
    kind = Trials.NONE if once else Trials.HARMLESS
    for path in sys.argv[1 + once :]:
        print(json.dumps({"script": path, **report(path, kind)}), flush=True)
