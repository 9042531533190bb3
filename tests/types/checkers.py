"""Run pyright (strict) and mypy (strict) on programs of users, and gather what they report.

The programs are copied to a folder of their own, so that sagax is for the type checkers what it is for
users: an installed package with `py.typed`. Run it as a script for a score:

    python tests/types/checkers.py [pyright|mypy] [-v]
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHECKERS = ("pyright", "mypy")
PLANTED = "# expect-error"

Reports = Mapping[str, Mapping[int, list[str]]]  # messages by file and line
_MYPY_LINE = re.compile(r"([^:]+):(\d+): error: (.*)")
_MYPY_CONFIG = "[mypy]\nstrict = true\n[mypy-sagax.*]\nfollow_imports = silent\n"


class Score(NamedTuple):
    """What a type checker found in the programs."""

    assertions: int  # in the files of assertions
    failed: list[str]  # reports on them
    unexpected: list[str]  # reports on programs that are right
    planted: int
    missed: list[str]  # mistakes that were not reported
    elsewhere: list[str]  # reports on other lines of programs with mistakes


def available(checker: str) -> bool:
    """Return whether the type checker is installed."""
    command = [sys.executable, "-m", checker, "--version"]
    return subprocess.run(command, capture_output=True).returncode == 0


def install(folder: Path) -> None:
    """Put the package into a folder as a wheel does: modules, and stubs beside them."""
    shutil.copytree(ROOT / "src", folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "stubs", folder, dirs_exist_ok=True)


def _gather(found: Iterable[tuple[str, int, str]]) -> Reports:
    reports: dict[str, dict[int, list[str]]] = {}
    for file, line, message in found:
        reports.setdefault(file, {}).setdefault(line, []).append(message)
    return reports


def run(checker: str, folders: Iterable[Path], cache: Path | None = None) -> Reports:
    """Check all files of the folders; the names in the result are `folder/file.py`."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve()
        for folder in folders:
            shutil.copytree(folder, directory / folder.name, ignore=lambda *_: ["__pycache__"])
        site = directory / "site"
        install(site)
        if checker == "pyright":
            return _gather(_pyright(directory, site))
        return _gather(_mypy(directory, site, cache or directory / "cache"))


def _pyright(directory: Path, site: Path) -> Iterator[tuple[str, int, str]]:
    settings = {"typeCheckingMode": "strict", "exclude": ["site"]}
    (directory / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    environment = {**os.environ, "PYTHONPATH": str(site)}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    try:
        output = json.loads(done.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"pyright failed:\n{done.stdout}{done.stderr}") from None
    for report in output["generalDiagnostics"]:
        if report["severity"] in ("error", "warning"):
            file = str(Path(report["file"]).resolve().relative_to(directory))
            rule = report.get("rule", "")
            yield file, report["range"]["start"]["line"] + 1, f"{report['message']} ({rule})"


def _mypy(directory: Path, site: Path, cache: Path) -> Iterator[tuple[str, int, str]]:
    (directory / "mypy.ini").write_text(_MYPY_CONFIG)
    files = [
        str(x.relative_to(directory))
        for x in sorted(directory.glob("*/*.py"))
        if "site" not in x.parts
    ]
    command = [sys.executable, "-m", "mypy", "--config-file=mypy.ini", "--no-error-summary"]
    command += [f"--cache-dir={cache}", *files]
    environment = {**os.environ, "MYPYPATH": str(site)}
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    if done.returncode > 1 or done.stderr:
        raise RuntimeError(f"mypy failed:\n{done.stdout}{done.stderr}")
    for line in done.stdout.splitlines():
        match = _MYPY_LINE.match(line)
        if match:
            yield match[1], int(match[2]), match[3]


def _planted(folder: Path) -> dict[str, int]:
    """Return the line with the mistake of each file."""
    lines = {}
    for path in sorted(folder.glob("*.py")):
        marked = [n for n, x in enumerate(path.read_text().splitlines(), 1) if PLANTED in x]
        assert len(marked) == 1, f"{path} must have one line with {PLANTED}"
        lines[f"{folder.name}/{path.name}"] = marked[0]
    return lines


def score(checker: str, cache: Path | None = None) -> Score:
    """Check assertions, programs and mistakes."""
    folders = [HERE / x for x in ("assertions", "programs", "mistakes")]
    reports = run(checker, folders, cache)
    planted = _planted(folders[2])

    def of(folder: str) -> list[str]:
        return [
            f"{file}:{line}: {message}"
            for file, lines in sorted(reports.items())
            if file.startswith(folder)
            for line, messages in sorted(lines.items())
            if line != planted.get(file)
            for message in messages
        ]

    return Score(
        sum(x.read_text().count("assert_type(") for x in folders[0].glob("*.py")),
        of("assertions"),
        of("programs"),
        len(planted),
        [f"{file}:{line}" for file, line in planted.items() if line not in reports.get(file, {})],
        of("mistakes"),
    )


if __name__ == "__main__":
    for name in [x for x in CHECKERS if x in sys.argv] or CHECKERS:
        found = score(name, Path(tempfile.gettempdir()) / "sagax-mypy-cache")
        print(
            f"{name}: {found.assertions} assertions, {len(found.failed)} reports on them; "
            f"{len(found.unexpected)} in programs; {len(found.missed)} of {found.planted} mistakes "
            f"missed, {len(found.elsewhere)} reports beside them"
        )
        if "-v" in sys.argv:
            print(*found.failed, *found.unexpected, sep="\n")
            print(*[f"missed {x}" for x in found.missed], *found.elsewhere, sep="\n")
