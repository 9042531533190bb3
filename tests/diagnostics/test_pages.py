"""The pages of the codes: each code has one owner and one page, whose programs do what it says."""

from __future__ import annotations

import contextlib
import io
import json
import linecache
import re
from pathlib import Path
from typing import Any

import pytest

import sagax
import sagax.experimental.checkify
import sagax.experimental.pallas
import sagax.export
import sagax.lax
import sagax.nn
import sagax.numpy
import sagax.numpy._indexing.parse  # an owner that is only loaded when it is needed
import sagax.profiler
import sagax.random
from sagax._src.diagnostics import cautions
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
WARNINGS = {getattr(cautions, name).code: name for name in cautions.__all__}
SHOWN = sorted(p.stem for p in PAGES.glob("SX*.md") if "```" in p.read_text(encoding="utf-8"))


def test_each_code_has_one_owner():
    assert {code: kinds for code, kinds in OWNERS.items() if len(set(kinds)) > 1} == {}


def test_each_code_has_a_page():
    assert sorted([*OWNERS, *WARNINGS]) == sorted(path.stem for path in PAGES.glob("SX*.md"))


def blocks(code: str) -> list[tuple[str, str]]:
    return _BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8"))


def run(source: str, name: str) -> str:
    """What a program prints."""
    printed = io.StringIO()
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with contextlib.redirect_stdout(printed):
        exec(compile(source, name, "exec"), {"__name__": "__main__"})
    return printed.getvalue()


@pytest.mark.parametrize("code", sorted(set(SHOWN) - set(WARNINGS)))
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
    assert words in str(caught), str(caught)
    assert caught.args[0].startswith(words), str(caught)
    assert run(works, f"<page {code}>") == prints


@pytest.mark.parametrize("code", sorted(WARNINGS))
def test_the_programs_of_a_page_of_a_warning(code, tmp_path, run_python):
    (_, warns), (_, said), (_, works), (_, prints) = blocks(code)
    program = tmp_path / "program.py"
    program.write_text(warns)
    kind, _, words = said.strip().partition(": ")
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    printed = run_python("-m", "sagax", "explain", "--once", "--json", program, status=1).stdout
    found = json.loads(printed.splitlines()[-1])
    assert (found["code"], found["error"]) == (code, kind.rpartition(".")[2])
    assert found["message"].startswith(words)
    if "`python -m sagax check` without running it" in page:
        command = ("-m", "sagax", "check", "--output-format", "json", program)
        (finding,) = json.loads(run_python(*command, status=1).stdout)
        assert (finding["code"], finding["name"]) == (code, found["error"])
    assert run(works, f"<page {code}>") == prints


def test_pages_name_their_class():
    names = {code: kinds[0].__name__ for code, kinds in OWNERS.items()} | WARNINGS
    for code, name in names.items():
        title = (PAGES / f"{code}.md").read_text(encoding="utf-8").splitlines()[0]
        assert title == f"# {code}: {name}"
    assert sagax.errors.SagaxError is SagaxError
