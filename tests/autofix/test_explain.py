"""`python -m sagax explain` on programs that fail: what it says, and whether its repairs are right.

A sample of the programs; all of them with FULL=1 (`make test-full`).

`programs/` holds the programs. Their first lines say what has to be found: the class, the line, the
arguments, the kind of the repair, and what the program prints when it is right (recorded from a run
without jit or of the repaired program with jax 0.12, or computed by hand); and, where no repair is proven,
that they only run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src"
FULL = os.environ.get("FULL") == "1"
STEP = 1 if FULL else 24  # every so many programs; `make test-full` takes all
EVERY = sorted((HERE / "programs").glob("*.py"))
PROGRAMS = EVERY[::STEP]
HEALTHY = sorted((HERE / "healthy").glob("*.py"))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")


def header(path):
    """The `# key: value` lines at the top of a program."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        match = re.match(r"# ([a-z-]+): (.*)", line)
        if not match:
            return found
        found[match[1]] = match[2].strip()
    return found


def same(text, wanted):
    """Equal texts, whose numbers are equal to three digits."""
    lines = " ; ".join(line.strip() for line in text.strip().splitlines())
    if re.sub(r"\s+", "", NUMBER.sub("#", lines)) != re.sub(r"\s+", "", NUMBER.sub("#", wanted)):
        return False
    pairs = zip(NUMBER.findall(lines), NUMBER.findall(wanted), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=1e-3, abs=2e-4) for a, b in pairs)


def explained(programs, *options):
    """What is said of programs, by name: one process explains them in turn."""
    path = os.pathsep.join(p for p in (str(SOURCE), os.environ.get("PYTHONPATH")) if p)
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, str(HERE / "batch.py"), *options, *map(str, programs)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=6000 if FULL else 1500,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"script"')]
    return {Path(row["script"]).stem: row for row in rows}


@pytest.fixture(scope="module")
def reports(once):
    """What is said of all programs."""
    return json.loads(once("explained", lambda: json.dumps(explained(PROGRAMS))))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_a_program_is_explained_and_repaired(path, reports):
    wanted, got = header(path), reports[path.stem]
    assert got["error"] in [n.strip() for n in wanted.get("expect", wanted["error"]).split("|")], (
        got
    )
    lines = re.findall(r"\d+", wanted["line"] + " " + wanted.get("also-line", ""))
    assert str(got["line"]) in lines, got
    if wanted["depends"] != "-":
        assert got["depends"] == sorted(n.strip() for n in wanted["depends"].split(",")), got
    ran = [s for s in got["suggestions"] if s["grade"] in ("proven", "ran")]
    assert {*wanted["fix"].split(" | ")} & {s["kind"] for s in ran}, got
    for suggestion in ran:
        assert suggestion["status"] == "clean", suggestion
        if suggestion["verified"]:
            assert same(suggestion["output"], wanted["result"]), suggestion
    if wanted.get("grade") != "ran":  # a repair of it is proven
        assert "proven" in {s["grade"] for s in ran}, got


def test_most_repairs_are_proven():
    proven = [path for path in EVERY if header(path).get("grade") != "ran"]
    assert len(proven) >= 0.75 * len(EVERY)


def test_there_are_enough_kinds():
    assert len(EVERY) >= 40
    assert len({fix for p in EVERY for fix in header(p)["fix"].split(" | ")}) >= 20


def test_nothing_is_found_in_healthy_programs():
    assert len(HEALTHY) >= 150
    programs = HEALTHY[::STEP]
    found = explained(programs, "--once")
    assert len(found) == len(programs)
    wrong = {
        name: row
        for name, row in found.items()
        if row["error"] is not None or row["status"] != "clean"
    }
    assert not wrong, wrong


def test_a_comment_ignores_a_finding(tmp_path):
    text = (HERE / "healthy/same_key_for_all_strikes.py").read_text()
    kept, other, bare = (tmp_path / f"{name}.py" for name in ("kept", "other", "bare"))
    kept.write_text(text)
    other.write_text(text.replace("SX0108", "SX0102"))
    bare.write_text(text.replace("[SX0108]", ""))
    found = explained([kept, other, bare], "--once")
    assert [found[name]["error"] for name in ("kept", "other", "bare")] == [
        None,
        "KeyReuseError",
        None,
    ]


def test_one_of_several_readings_is_not_verified(tmp_path):
    path = tmp_path / "signs.py"
    path.write_text("import jax.numpy as jnp\nx = jnp.ones(3)\nif x > 0:\n    print('positive')\n")
    suggestions = explained([path])["signs"]["suggestions"]
    assert [(s["kind"], s["grade"], s["verified"]) for s in suggestions] == [
        ("reduce_test", "ran", False)
    ] * 2
