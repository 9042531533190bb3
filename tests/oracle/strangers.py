"""Checks the programs in folders of tests/autofix with jax (FOLDERS).

python tests/oracle/strangers.py [--folder FOLDER] [NAME ...]     (where jax 0.12 is installed)

A broken program raises or warns what its header says; its fixed version prints `result`, and `probe`
holds in it; a wrong fix differs in one of the two; a healthy program ends without a word on stderr.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parents[1] / "autofix"
HEALTHY = "healthy"  # a folder of programs that are right; those of the others are broken
FOLDERS = (
    "strangers",
    "visitors",
    "guests",
    "guests/healthy",
    "newcomers",
    "newcomers/healthy",
    "wayfarers",
    "wayfarers/healthy",
    "arrivals",
    "arrivals/healthy",
    "strollers",
    "pedestrians",
    "cyclists",
    "commuters",
    "riders",
    "boarders",
    "boarders/healthy",
    "hikers",
    "trekkers",
    "ramblers",
    "anglers",
    "rowers",
    "oarsmen",
    "joggers",
    HEALTHY,
)
PROBE = """
import runpy, sys
print(bool(eval(sys.argv[2], runpy.run_path(sys.argv[1], run_name="__main__"))))
"""


def header(path: Path) -> dict[str, str]:
    text = path.read_text().split("\n\n")[0]
    return dict(re.findall(r"^# ([a-z-]+): (.*)$", text, re.MULTILINE))


def run(*command: str | Path) -> tuple[int, str, str]:
    environment = dict(os.environ, JAX_PLATFORMS="cpu", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        [sys.executable, *command], env=environment, capture_output=True, text=True
    )
    output = " ; ".join(line.strip() for line in done.stdout.strip().splitlines())
    return done.returncode, output, done.stderr


def outcome(path: Path) -> str:
    """Gives the class of the error or warning of a program, or "none"."""
    status, _, errors = run(path)
    if status == 0:
        warned = re.findall(r"\b(\w+Warning): ", errors)
        return warned[-1] if warned else "none"
    last = errors.rpartition("Traceback (most recent call last)")[2]  # a message may quote another
    raised = re.search(r"^(?:\w+\.)*(\w+(?:Error|Exception))(?::|$)", last, re.MULTILINE)
    return raised[1] if raised else "?"


def meets(path: Path, head: dict[str, str]) -> bool:
    """Tells whether a version prints the result without a word, and its probe holds."""
    status, output, errors = run(path)
    if status or "Warning" in errors or output != head["result"]:
        return False
    return "probe" not in head or run("-c", PROBE, path, head["probe"])[1].endswith("True")


def check_broken(path: Path) -> list[str]:
    head = header(path)
    faults = []
    if (found := outcome(path)) != head["error"]:
        faults.append(f"raises {found}, not {head['error']}")
    if not meets(path.parent / "fixed" / path.name, head):
        faults.append("the fixed version does not hold")
    wrong = path.parent / "wrong" / path.name
    if wrong.exists() and meets(wrong, head):
        faults.append("the wrong fix is not told apart")
    return faults


def check_healthy(path: Path) -> list[str]:
    status, output, errors = run(path)
    return [] if status == 0 and output and not errors else [errors.strip()[-300:] or "no output"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", choices=FOLDERS, action="append", help="default: all")
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    wanted = parser.parse_args()
    count = 0
    for folder in wanted.folder or FOLDERS:
        check = check_healthy if Path(folder).name == HEALTHY else check_broken
        for path in sorted((PROGRAMS / folder).glob("*.py")):
            if not wanted.names or path.stem in wanted.names:
                faults = check(path)
                count += bool(faults)
                for fault in faults:
                    print(f"{folder}/{path.stem}: {fault}")
    print(f"{count} programs with faults")
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
