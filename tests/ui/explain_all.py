"""Explain programs as `python -m sagax explain` does, and print what it says: a JSON object a line.

    python explain_all.py PROGRAM.py ...

In a process of its own, in which no device has been touched: runs of the programs are forks of it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path

from sagax._autofix.run_task import Task
from sagax._autofix.search import explain
from sagax._autofix.subprocess_runs import run
from sagax._src.diagnostics import render
from sagax._src.diagnostics.edits import apply


def report(path):
    """What is said of a program, and what the program prints after each verified repair."""
    os.chdir(Path(path).parent)
    with contextlib.redirect_stdout(io.StringIO()):
        found = explain(path, seconds=60.0).diagnostic
    if found is None:
        return {"code": None}
    repaired = []
    for fix in found.suggestions:
        if fix.verified:
            text = apply(Path(path).read_text(encoding="utf-8"), fix.edits)
            outcome = run(Task(path, changed={path: text}), 120.0)
            repaired.append([fix.title, outcome.status, outcome.output])
    primary = found.primary
    return {
        "code": found.code,
        "at": [Path(primary.file).name, primary.line] if primary else None,
        "message": " ".join(found.message.split()),
        "text": f"{found.error}: {render.plain(found)}",
        "repaired": repaired,
    }


if __name__ == "__main__":
    for path in sys.argv[1:]:
        print(json.dumps({"path": path, **report(path)}), flush=True)
