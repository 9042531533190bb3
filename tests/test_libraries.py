"""Libraries written for jax run unchanged: `make test-libraries` installs them, without jax, and prints a table."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location(
    "library_table", Path(__file__).parent / "libraries" / "table.py"
)
table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(table)


@pytest.mark.parametrize("name", table.PROGRAMS)
def test_same_numbers_as_on_jax(name, run_python, oracle_data):
    if not table.is_installed(name):
        pytest.skip(f"{name} needs packages that `make test-libraries` installs")
    lines = run_python("-m", "sagax", "run", str(table.PROGRAMS[name])).stdout.splitlines()
    assert table.difference(json.loads(lines[-1]), oracle_data("libraries")[name]) is None


def test_every_program_has_numbers_of_jax(oracle_data):
    assert {*oracle_data("libraries")} == {*table.PROGRAMS}


def test_differences_of_numbers():
    assert table.difference({"a": [1.0, 2.0]}, {"a": [1.00001, 2.0]}) is None
    assert "up to 1" in table.difference({"a": [1.0, 3.0]}, {"a": [1.0, 2.0]})
    assert "in place of 2" in table.difference({"a": [1.0]}, {"a": [1.0, 2.0]})
    assert "prints ['a']" in table.difference({"a": [1.0]}, {"b": [1.0]})
