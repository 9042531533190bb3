"""The pages of the codes: each code has one owner and one page, whose programs do what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import sagax
import sagax.export
import sagax.lax
import sagax.nn
import sagax.numpy
import sagax.random
from sagax.errors import SagaxError

PAGES = Path(__file__).resolve().parents[2] / "docs" / "errors"
_BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def owners() -> dict[str, list[type[SagaxError]]]:
    """The classes of sagax that set a code, by code."""
    found: dict[str, list[type[SagaxError]]] = {}
    todo: list[type[SagaxError]] = [SagaxError]
    while todo:
        kind = todo.pop()
        if "code" in kind.__dict__ and kind.__module__.startswith("sagax"):
            found.setdefault(kind.code, []).append(kind)
        todo += kind.__subclasses__()
    return found


OWNERS = owners()
SHOWN = sorted(p.stem for p in PAGES.glob("SX*.md") if "```" in p.read_text(encoding="utf-8"))


def test_each_code_has_one_owner():
    assert {code: kinds for code, kinds in OWNERS.items() if len(set(kinds)) > 1} == {}


def test_each_code_has_a_page():
    assert sorted(OWNERS) == sorted(path.stem for path in PAGES.glob("SX*.md"))


def blocks(code: str) -> list[tuple[str, str]]:
    return _BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8"))


def run(source: str, name: str) -> str:
    """What a program prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec"), {"__name__": "__main__"})
    return printed.getvalue()


@pytest.mark.parametrize("code", SHOWN)
def test_the_programs_of_a_page(code):
    (_, fails), (_, said), (_, works), (_, prints) = blocks(code)
    caught: Any = None
    try:
        run(fails, f"<page {code}>")
    except SagaxError as error:
        caught = error
    assert caught is not None, "the first program does not fail"
    assert caught.code == code
    kind, _, words = said.strip().partition(": ")
    assert kind.rpartition(".")[2] in {k.__name__ for k in type(caught).__mro__}
    assert str(caught).startswith(words), str(caught)
    assert run(works, f"<page {code}>") == prints


def test_pages_name_their_class():
    for code, (kind, *_) in OWNERS.items():
        title = (PAGES / f"{code}.md").read_text(encoding="utf-8").splitlines()[0]
        assert title == f"# {code}: {kind.__name__}"
    assert sagax.errors.SagaxError is SagaxError
