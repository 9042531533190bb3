"""Run a script and write which of its functions were compiled, for which types: `python -m ... SCRIPT OUT`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import sagax.__main__ as commands
from sagax._src.api import compile_log


def facts(folder: str) -> list[dict[str, Any]]:
    """Describe the functions that were compiled in this process; paths are absolute, below `folder` if relative."""
    found: list[dict[str, Any]] = []
    for counter in compile_log.counters():
        file, _, line = counter.location.rpartition(":")
        if not file:
            continue
        compilations = [
            {
                "arguments": one.signature,
                "results": [a.str_short(short_dtypes=False) for a in one.jaxpr.out_avals]
                if one.jaxpr is not None
                else [],
                "seconds": round(one.seconds.total, 3),
                "cause": cause,
            }
            for one, cause in zip(counter.compilations, counter.causes(), strict=True)
        ]
        found.append(
            {
                "name": counter.name,
                "file": os.path.abspath(os.path.join(folder, file)),
                "line": int(line),
                "times": counter.times,
                "compilations": compilations,
            }
        )
    return found


def main(script: str, out: str) -> None:
    """Run a script as `sagax run` does, and write the facts, also if it fails."""
    compile_log.retain_jaxprs(True)
    folder = os.getcwd()
    try:
        commands.run(script, [])
    finally:
        Path(out).write_text(json.dumps(facts(folder)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
