"""The gate that fails the build when less of the shared examples holds than has been reached."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

LEAST = {"class": 1.0, "line": 0.97, "depends": 0.95, "fixed": 0.85}
GATE = runpy.run_path(str(Path(__file__).resolve().parents[1] / "scripts" / "gate.py"))


def case(name, status, kind="checked"):
    return {"id": name, "status": status, "kind": kind, "why": "output differs"}


def test_examples_of_pages():
    seeds = GATE["seeds"]
    known = next(iter(GATE["DEPARTURES"]))
    fine = [case("a:1", "pass"), case("a:2", "fail", "trivial"), case(known, "fail")]
    assert seeds({"cases": fine}) == []
    assert seeds({"cases": [*fine, case("a:3", "fail")]}) == ["a:3: output differs"]
    assert seeds({"cases": [case("a:4", "fail", "legacy")]}) == ["a:4: output differs"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, []),
        ({"line": [97, 100], "depends": [95, 100], "fixed": [85, 100]}, []),
        ({"class": [99, 100]}, ["class: 99 of 100, at least 100% are wanted"]),
        ({"line": [96, 100]}, ["line: 96 of 100, at least 97% are wanted"]),
        ({"fixed": [84, 100]}, ["fixed: 84 of 100, at least 85% are wanted"]),
    ],
)
def test_broken_programs(changed, said):
    full = dict.fromkeys(LEAST, [100, 100])
    found = {"table": {"TOTAL": {**full, **changed}}, "false_verified": 0}
    assert GATE["diagnose"](found, LEAST) == said


def test_a_repair_that_was_said_to_work_and_does_not():
    found = {"table": {"TOTAL": dict.fromkeys(LEAST, [1, 1])}, "false_verified": 2}
    assert GATE["diagnose"](found, LEAST) == ["2 suggestions marked as verified do not repair"]


def test_nothing_to_check(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(GATE["main"].__globals__, "SHARED", tmp_path)
    assert GATE["main"]("seeds") == 0
    assert "nothing to check" in capsys.readouterr().out
