"""The programs beside the suite still run: the soak, in small, and the benchmark of the documentation."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_soak_in_small(run_python):
    lines = run_python(ROOT / "scripts/soak.py", "--scale", "0.002").stdout.splitlines()
    parts = {line.split("  ")[0] for line in lines[1:-1]}
    assert parts == {
        "closures",
        "shapes",
        "errors",
        "jitted calls",
        "operations",
        "donations",
        "callbacks",
        "transfers",
        "failures",
    }
    assert lines[-1] == "memory is flat"


def test_the_benchmark_prints_its_table(run_python):
    device, head, *rows = run_python(ROOT / "examples/faq_benchmark.py").stdout.splitlines()
    assert device.startswith("device: ")
    assert head.split() == ["input", "NumPy", "transfer", "compile", "run", "NumPy", "/", "run"]
    assert [row.split()[0] for row in rows] == ["1000x1000", "10x10"]
    assert all(float(cell) > 0 for row in rows for cell in row.split()[1:])
