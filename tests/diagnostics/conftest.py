"""Programs of users, in files of their own; the tests count as a library that is not shown."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

import fake_traces
from sagax._src.diagnostics import spans

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@pytest.fixture
def tests_are_a_library(monkeypatch):
    monkeypatch.setattr(spans, "_hidden", set(spans._hidden))
    spans.hide(fake_traces.__file__)
    spans.hide(HERE)
    yield
    spans.is_hidden.cache_clear()
    spans.is_user_file.cache_clear()


@pytest.fixture
def user(tmp_path, monkeypatch):
    """Runs a program of a user: `user(source, **names)` gives the names it defines."""
    monkeypatch.chdir(tmp_path)

    def run(source: str, file: str = "program.py", **names: Any) -> SimpleNamespace:
        path = tmp_path / file
        path.write_text(source, encoding="utf-8")
        names["__name__"] = "program"
        exec(compile(source, str(path), "exec"), names)
        return SimpleNamespace(**names)

    return run
