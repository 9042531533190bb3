"""Programs that users could write, and every word that sagax says about them.

A case is `<area>/<case>.py`. If it fails, the guilty line ends in a comment

    #~ SX0102 Attempted boolean conversion

with the code of the error and words of its message; the whole text is in `<case>.txt`. If nothing
is to be said the case has no such comment and no text. Files that begin with `_` are helpers that
cases import. For each suggestion that sagax calls verified, the program is changed as suggested and
run: it must print what `<case>.out` says.

Of the cases in `explained/` the text is what `python -m sagax explain` says: warnings that only it
gives, and programs that need a process of their own.

`pytest tests/ui --bless` rewrites the texts.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
from dataclasses import dataclass
from pathlib import Path

import pytest

from sagax._src.diagnostics import edits
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.model import Trust

HERE = Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "docs" / "errors"
ALL = sorted(path for path in HERE.glob("*/*.py") if not path.name.startswith("_"))
EXPLAINED = [path for path in ALL if path.parent.name == "explained"]
CASES = [path for path in ALL if path not in EXPLAINED]

_MARK = re.compile(r"# ?~ (SX\d{4})(?: (.*))?$")


@dataclass(frozen=True)
class Mark:
    """What a case says about itself: where it fails, with which code and words."""

    line: int
    code: str
    words: str


def mark_of(source: str) -> Mark | None:
    marks = [
        Mark(number, found[1], found[2] or "")
        for number, line in enumerate(source.splitlines(), 1)
        if (found := _MARK.search(line))
    ]
    assert len(marks) <= 1, "a case has one guilty line"
    return marks[0] if marks else None


def run(path: Path) -> tuple[str, Exception | None]:
    """What the program prints, and the exception that ends it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            runpy.run_path(str(path), run_name="__main__")
        except Exception as error:
            return printed.getvalue(), error
    return printed.getvalue(), None


def told(error: Exception) -> str:
    """All that Python prints of an exception below its traceback."""
    lines = [f"{type(error).__module__}.{type(error).__qualname__}: {error}"]
    return "\n".join([*lines, *getattr(error, "__notes__", ())])


def complaints(path: Path, source: str, error: Exception | None) -> list[str]:
    """In what the failure of a case differs from what its mark says."""
    mark = mark_of(source)
    if mark is None:
        return [] if error is None else [f"fails, and no line is marked: {told(error)}"]
    if error is None:
        return [f"line {mark.line} is marked, and the program does not fail"]
    if not isinstance(error, SagaxError):
        return [f"not an error of sagax: {told(error)}"]
    found = error.explain()
    said = [f"the code is {found.code}, not {mark.code}"] if found.code != mark.code else []
    blamed = found.primary and (Path(found.primary.file).name, found.primary.line)
    if blamed != (path.name, mark.line):
        said.append(f"{blamed} is blamed, not line {mark.line}")
    if mark.words not in " ".join(found.message.split()):
        said.append(f"the message lacks {mark.words!r}: {found.message}")
    return said


@pytest.fixture
def at_home(request, monkeypatch):
    """The case's folder is the working directory, and where its helpers are found."""
    folder = request.getfixturevalue("path").parent
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)


@pytest.mark.parametrize("path", CASES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_case(path, at_home, golden, tmp_path):
    source = path.read_text(encoding="utf-8")
    _, error = run(path)
    assert complaints(path, source, error) == []
    if error is None:
        assert not path.with_suffix(".txt").exists(), "a text, and nothing to say"
        return
    assert isinstance(error, SagaxError)
    golden(path.with_suffix(".txt"), told(error))
    assert len(str(error).splitlines()) <= 25
    for fix in error.explain().suggestions:
        if fix.trust is Trust.PROVEN:
            changed = tmp_path / path.name
            changed.write_text(edits.apply(source, fix.edits), encoding="utf-8")
            printed, failed = run(changed)
            assert failed is None, f"{fix.title}: {failed}"
            golden(path.with_suffix(".out"), printed)


@pytest.fixture(scope="module")
def explanations(run_python, once):
    """What `explain` says of the cases in explained/, by one process for all of them."""
    command = (HERE / "explain_all.py", *EXPLAINED)
    printed = once(
        "ui",
        lambda: run_python(*command, env={"JAX_PLATFORMS": "cpu"}, timeout=1500).stdout,
    )
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith('{"path"')]
    return {Path(row["path"]): row for row in rows}


@pytest.mark.parametrize("path", EXPLAINED, ids=lambda p: p.stem)
def test_explained_case(path, explanations, golden):
    found = explanations[path]
    mark = mark_of(path.read_text(encoding="utf-8"))
    assert mark is not None, "no line is marked"
    assert (found["code"], found["at"]) == (mark.code, [path.name, mark.line])
    assert mark.words in found["message"]
    golden(path.with_suffix(".txt"), found["text"])
    assert len(found["text"].splitlines()) <= 25
    for title, status, printed in found["repaired"]:
        assert status == "clean", title
        golden(path.with_suffix(".out"), printed)


def test_every_text_belongs_to_a_case():
    texts = [path for path in HERE.glob("*/*") if path.suffix in (".txt", ".out")]
    assert [path for path in texts if path.with_suffix(".py") not in ALL] == []


def test_every_code_has_a_case():
    marks = [mark_of(path.read_text(encoding="utf-8")) for path in ALL]
    shown = {mark.code for mark in marks if mark is not None}
    shown.add("SX0217")  # of forked processes, which tests/runtime/test_forks.py starts
    # live arrays are those of the whole process, and faults need a GPU: tests/runtime/test_device_errors.py
    shown |= {"SX0218", "SX0219"}
    assert sorted({path.stem for path in PAGES.glob("SX*.md")} - shown) == []


# ------------------------------------------------------------------- the runner, on cases that lie

FAILS = "from sagax.errors import ShapeError\nraise ShapeError('sizes differ')"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (FAILS + "  #~ SX0002 sizes differ", None),
        ("print(1)", None),
        (FAILS, "no line is marked"),
        ("print(1)  #~ SX0002", "does not fail"),
        (FAILS + "  #~ SX0003", "the code is SX0002"),
        ("#~ SX0002\n" + FAILS.replace("\n", ";"), "('case.py', 2) is blamed, not line 1"),
        (FAILS + "  #~ SX0002 ranks differ", "lacks 'ranks differ'"),
        ("1 / 0  #~ SX0002", "not an error of sagax"),
    ],
)
def test_the_runner_sees(tmp_path, source, complaint):
    path = tmp_path / "case.py"
    path.write_text(source)
    found = complaints(path, source, run(path)[1])
    assert (complaint is None and found == []) or (len(found) == 1 and complaint in found[0])
