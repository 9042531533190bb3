"""The command `python -m sagax check`: files, formats, comments that ignore, notebooks, bad input."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from sagax._check import command, findings, formats
from sagax._src.diagnostics import cautions
from sagax._src.runtime import array as _array
from sagax.errors import SagaxError
from sagax.numpy._indexing import parse as _parse

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """import jax
import jax.numpy as jnp


@jax.jit
def f(x):
    if x > 0:
        return x
    return -x


jnp.ones(3).at[0].set(1)
"""


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Runs the command in an empty folder: the exit status and what it prints."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = command.run(arguments)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def write(name: str, text: str | bytes) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


# ------------------------------------------------------------------------------------------- formats


def test_text_shows_the_source_a_mark_and_what_to_do(check):
    write("a.py", PROGRAM)
    status, out, err = check("a.py")
    assert status == 1
    assert out.startswith(
        "SX0102 TracerBoolConversionError: `x > 0` is not known while `f` is traced, so `if` cannot choose by it\n"
        " --> a.py:7:8\n  |\n7 |     if x > 0:\n  |        ^^^^^\n  = help: it depends on `x`; "
    )
    assert err == "2 findings; python -m sagax explain SX0102 explains\n"
    assert check("a.py", "--output-format", "full")[1] == out


def test_concise_is_a_line_for_each(check):
    write("a.py", PROGRAM)
    lines = check("--output-format=concise", "a.py")[1].splitlines()
    assert [re.match(r"a\.py:(\d+:\d+): (\w+) .", line)[1] for line in lines] == ["7:8", "12:1"]  # type: ignore[index]
    assert lines[1].split()[1] == "SX0410"


def test_json_has_the_fields_of_ruff(check):
    write("a.py", PROGRAM)
    first, second = json.loads(check("--output-format=json", "a.py")[1])
    assert first["code"] == "SX0102"
    assert first["location"] == {"row": 7, "column": 8}
    assert first["end_location"] == {"row": 7, "column": 13}
    assert first["filename"] == str(Path("a.py").resolve())
    assert (first["severity"], second["severity"]) == ("error", "warning")
    fields = {
        "cell",
        "code",
        "end_location",
        "filename",
        "fix",
        "location",
        "message",
        "noqa_row",
        "url",
    }
    assert fields <= first.keys()
    write("clean.py", "import jax\n")
    assert json.loads(check("--output-format=json", "clean.py")[1]) == []


def test_sarif_has_what_its_schema_requires(check):
    write("a.py", PROGRAM)
    log = json.loads(check("--output-format=sarif", "a.py")[1])
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    assert len(run["results"]) == 2
    for result in run["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        assert result["message"]["text"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert place["artifactLocation"] == {"uri": "a.py"}
        region: dict[str, Any] = place["region"]
        assert region.keys() == {"startLine", "startColumn", "endLine", "endColumn"}
        assert all(type(number) is int and number >= 1 for number in region.values())
    write("clean.py", "import jax\n")
    assert json.loads(check("--output-format=sarif", "clean.py")[1])["runs"][0]["results"] == []


def test_github_annotates_lines(check):
    write("a,b.py", PROGRAM)
    first, second = check("--output-format=github", "a,b.py")[1].splitlines()
    assert first.startswith(
        "::error file=a%2Cb.py,line=7,endLine=7,col=8,endColumn=13,title=sagax (SX0102)::a,b.py:7:8: SX0102 "
    )
    assert second.startswith("::warning ")


def test_each_format_is_offered():
    assert set(formats.FORMATS) == {"text", "full", "concise", "json", "sarif", "github"}


# -------------------------------------------------------------------------------- codes and choosing


def test_codes_are_those_of_the_errors_and_warnings():
    assert _parse and _array  # they define classes of errors
    classes = [getattr(cautions, name) for name in cautions.__all__]
    todo = [SagaxError]
    while todo:
        kind = todo.pop()
        classes.append(kind)
        todo += kind.__subclasses__()
    names = {kind.__dict__["code"]: kind.__name__ for kind in classes if "code" in kind.__dict__}
    for code, name in findings.NAMES.items():
        if code.startswith("SX"):
            assert names[code] == name
            assert (ROOT / "docs/errors" / f"{code}.md").is_file()


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        (["--select", "SX04"], ["SX0410"]),
        (["--select", "SX01,SX0410"], ["SX0102", "SX0410"]),
        (["--select=sx01", "--select=SX02"], ["SX0102"]),
        (["--ignore", "SX0410"], ["SX0102"]),
        (["--select", "SX04", "--ignore", "SX0410"], []),
        (["--ignore", "SX"], []),
    ],
)
def test_codes_are_chosen_by_their_beginnings(check, options, codes):
    write("a.py", PROGRAM)
    status, out, _ = check("--output-format=json", *options, "a.py")
    assert [row["code"] for row in json.loads(out)] == codes
    assert status == bool(codes)


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("# sagax: ignore", False),
        ("# sagax: ignore[SX0102]", False),
        ("# why: sagax is told  # sagax: ignore[sx0401, SX0102]", False),
        ("# sagax:ignore[SX0102] for now", False),
        ("# sagax: ignore[SX0101]", True),
        ("# noqa", True),
    ],
)
def test_comments_ignore_findings_of_their_line(check, comment, found):
    write("a.py", PROGRAM.replace("if x > 0:", f"if x > 0:  {comment}"))
    out = check("--output-format=concise", "a.py")[1]
    assert ("SX0102" in out, "SX0410" in out) == (found, True)


def test_a_comment_after_the_last_line_of_a_finding_counts(check):
    write("a.py", "import jax.numpy as jnp\njnp.sort(\n    jnp.ones(3),\n)  # sagax: ignore\n")
    assert check("a.py")[0] == 0


def test_exit_status(check):
    write("a.py", PROGRAM)
    write("clean.py", "import jax\n")
    assert check("a.py")[0] == 1
    assert check("--exit-zero", "a.py")[0] == 0
    assert check("clean.py") == (0, "", "no findings\n")
    status, out, err = check("missing.py", "a.py")
    assert status == 2 and "a.py:7:8" in out and err.startswith("missing.py: No such file")


def test_wrong_options_are_errors(check):
    with pytest.raises(SystemExit) as stopped:
        check("--output-format=xml")
    assert stopped.value.code == 2


# --------------------------------------------------------------------------------------------- files


def test_folders_are_walked_without_what_is_hidden_or_installed(check):
    for name in ("a.py", "b/c.py", ".hidden/a.py", "venv/a.py", "other/pyvenv.cfg", "other/a.py",
                 "b/__pycache__/a.py", "b/notes.txt", "lib/site-packages/a.py", "b/.x.py"):  # fmt: skip
        write(name, PROGRAM)
    files = {line.partition(":")[0] for line in check("--output-format=concise")[1].splitlines()}
    assert files == {"a.py", "b/c.py"}
    assert check("--output-format=concise", "venv/a.py", ".")[1].count("SX0102") == 3


def test_only_files_that_use_jax_are_looked_at(check):
    write("a.py", "def jit(f): ...\ndef broken(:\n")
    assert check(".")[0] == 0
    assert check("a.py")[0] == 1  # named itself


def test_standard_input_has_a_name(check, monkeypatch):
    class Input:
        buffer = __import__("io").BytesIO(PROGRAM.encode())

    monkeypatch.setattr(sys, "stdin", Input)
    out = check("--output-format=concise", "--stdin-filename", "sub/x.py", "-")[1]
    assert out.startswith("sub/x.py:7:8: SX0102")


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"import jax\ndef f(:\n    pass\n", "invalid-syntax", "invalid syntax"),
        (b"import jax\n\xff\xfe\n", "unreadable", "cannot be decoded"),
        (b"# coding: nonsense\nimport jax\n", "unreadable", "cannot be decoded"),
        (b"import jax\nx = '\0'\n", "invalid-syntax", "null"),
        (b"import jax\n" + b"(" * 5000, "invalid-syntax", ""),
    ],
)
def test_what_cannot_be_read_is_one_finding(check, data, code, words):
    write("a.py", data)
    status, out, _ = check("--output-format=json", "--select", "SX01", "a.py")
    (row,) = json.loads(out)
    assert (status, row["code"]) == (1, code)
    assert words in row["message"]


@pytest.mark.parametrize(
    "data",
    [
        PROGRAM.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + PROGRAM.encode(),
        b"# coding: latin-1\n# \xe9\n" + PROGRAM.encode(),
        PROGRAM.rstrip().encode(),
    ],
)
def test_encodings_and_line_ends(check, data):
    write("a.py", data)
    assert check("--output-format=concise", "a.py")[1].count("SX0") == 2


@pytest.mark.parametrize("source", ["", "\n", "import jax", "import jax;" + "x = -" * 3000 + "1\n"])
def test_odd_sources_end_without_a_traceback(check, source):
    write("a.py", source)
    assert check("a.py")[0] in (0, 1)


# ----------------------------------------------------------------------------------------- notebooks


def notebook(*cells: str) -> str:
    contents: list[dict[str, Any]] = [{"cell_type": "markdown", "source": ["# Title"]}]
    contents += [
        {"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []}
        for cell in cells
    ]
    return json.dumps({"cells": contents, "nbformat": 4, "metadata": {}})


def test_notebooks_count_lines_by_cell(check):
    write(
        "a.ipynb", notebook("import jax\nimport jax.numpy as jnp\n", "x = jnp.zeros(3)\nx[0] = 1")
    )
    out = check("--output-format=concise", "a.ipynb")[1]
    assert out.startswith("a.ipynb:cell 3:2:1: SX0005 ")
    (row,) = json.loads(check("--output-format=json", "a.ipynb")[1])
    assert (row["cell"], row["location"]["row"]) == (3, 2)


def test_the_last_expression_of_a_cell_is_shown_not_thrown_away(check):
    write("a.ipynb", notebook("import jax.numpy as jnp", "jnp.sort(1)\njnp.ones(3)"))
    (row,) = json.loads(check("--output-format=json", "a.ipynb")[1])
    assert (row["code"], row["cell"], row["location"]["row"]) == ("SX0410", 3, 1)


def test_messages_name_lines_of_cells(check):
    draw = "x = jax.random.normal(key)"
    write(
        "a.ipynb", notebook("import jax\nkey = jax.random.key(0)", draw, f"y = 1\n{draw}\n{draw}")
    )
    rows = json.loads(check("--output-format=json", "a.ipynb")[1])
    assert [(row["cell"], row["location"]["row"]) for row in rows] == [(4, 2), (4, 3)]
    assert all("after line 1 of cell 3," in row["message"] for row in rows)


def test_magics_and_cells_of_other_languages_are_left_out(check):
    cells = [
        "%matplotlib inline\n!pip install jax\nimport jax.numpy as jnp\nfiles = !ls\njnp.sort?",
        "%%bash\nfor i in 1 2; do echo; done",
        "%%time\nx = jnp.zeros(3)\nx[0] = 1",
        "def f(:",
        "jnp.zeros(3).at[0].set(1)  # sagax: ignore",
        "x[1] = 2",
    ]
    write("a.ipynb", notebook(*cells))
    found = [
        (r["cell"], r["location"]["row"], r["code"])
        for r in json.loads(check("--output-format=json")[1])
    ]
    assert found == [(5, 1, "invalid-syntax"), (4, 3, "SX0005"), (7, 1, "SX0005")]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"cells": 3, "note": "jax"}', '{"cells": [3, {"cell_type": "code"}]}']
)
def test_broken_notebooks(check, text):
    write("a.ipynb", text)
    assert check("a.ipynb")[0] in (0, 1)


# --------------------------------------------------------------------------------- the process itself


def test_the_command_loads_no_engine(run_python, tmp_path):
    program = tmp_path / "a.py"
    program.write_text(PROGRAM)
    loaded = run_python("-X", "importtime", "-m", "sagax", "check", program, status=1)
    modules = {
        line.rpartition("|")[2].strip() for line in loaded.stderr.splitlines() if "|" in line
    }
    assert "sagax._check.command" in modules
    assert not modules & {"numpy", "jaxlib", "sagax._assemble", "sagax.__main__"}
    inner = {name.removeprefix("sagax._src.") for name in modules if name.startswith("sagax._src.")}
    words = {"languages", "languages.arguments", "languages.choice"}
    assert inner <= words | {
        "lazy_import"
    }  # no texts in other languages, and nothing that computes
    assert "a.py:7:8" in loaded.stdout
    assert "--output-format" in run_python("-m", "sagax", "check", "--help").stdout
    assert "find mistakes in source files" in run_python("-m", "sagax", "--help").stdout


def test_the_hook_of_pre_commit_runs_the_command():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert "entry: python -m sagax check" in text
    assert "id: sagax-check" in text


# ---------------------------------------------------------------------------- programs of the project


def test_the_examples_and_sources_of_the_project_have_no_findings(check):
    folders = [str(ROOT / name) for name in ("src", "benchmarks", "scripts", "docs")]
    examples = sorted((ROOT / "examples").rglob("*.py"))
    healthy = [str(path) for path in examples if path.parent.name != "broken"]
    assert len(healthy) > 3
    assert check("--output-format=concise", *folders, *healthy) == (0, "", "no findings\n")


def test_programs_with_visible_mistakes_are_found_on_their_lines(check):
    """At least as many as were found when this was written; each line is the one that `explain` names."""
    programs = sorted((ROOT / "tests/autofix/programs").glob("*.py"))
    found = 0
    wrong: list[str] = []
    for program in programs:
        text = program.read_text(encoding="utf-8")
        head = re.findall(r"^# (?:also-)?line: (.*)$", text, re.MULTILINE)
        lines = {int(number) for entry in head for number in entry.split(",")}
        rows = json.loads(check("--output-format=json", str(program))[1])
        if lines & {row["location"]["row"] for row in rows}:
            found += 1
        elif rows:
            wrong.append(program.name)
    assert wrong == []
    assert found >= 81
