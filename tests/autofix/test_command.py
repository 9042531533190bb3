"""The command `explain` and its parts that need no program to fail: pages, counts, what agrees."""

from __future__ import annotations

import json

import pytest

import sagax
import sagax._autofix.sandbox as sandbox
import sagax.numpy as snp
from sagax._autofix.command import apply_one
from sagax._autofix.compare import same_result
from sagax._autofix.error_pages import read_page
from sagax._autofix.interactive import explain
from sagax._autofix.rewrite_files import ChangedFileError, rewrite
from sagax._autofix.run_task import Outcome
from sagax._src.diagnostics import cautions
from sagax._src.diagnostics.model import Diagnostic, Edit, Span, Suggestion, Trust

BROKEN = """\
import sagax
import sagax.numpy as np


@sagax.jit
def f(x):
    return np.sum(x) if x[0] > 0 else 0.0


print(f(np.array([2.0, 3.0])))
"""


def test_json_apply_and_then_nothing_to_explain(tmp_path, run_python):
    script = tmp_path / "broken.py"
    script.write_text(BROKEN)
    got = run_python("-m", "sagax", "explain", "--json", script, cwd=tmp_path, status=1)
    found = json.loads(got.stdout.splitlines()[-1])
    assert found["error"] == "TracerBoolConversionError"
    assert (found["primary"]["line"], found["primary"]["column"]) == (7, 24)
    assert found["depends"] == ["x"]
    assert found["suggestions"][0]["verified"] is True
    assert "+    return np.where(x[0] > 0, np.sum(x), 0.0)" in found["suggestions"][0]["diff"]

    # nobody answers which repair to make: none is made
    run_python("-m", "sagax", "explain", "--apply", script, cwd=tmp_path, status=1)
    assert script.read_text() == BROKEN
    script.write_text(
        BROKEN.replace("np.sum(x) if x[0] > 0 else 0.0", "np.where(x[0] > 0, np.sum(x), 0.0)")
    )
    assert run_python("-m", "sagax", "explain", "--json", script, cwd=tmp_path).stdout == "5.0\n"


def test_an_argument_is_said_to_be_of_the_function_that_has_it(tmp_path, run_python):
    script = tmp_path / "ring.py"
    script.write_text(
        """\
import sagax
import sagax.numpy as np


class Ring:
    def push(self, buffer, item):
        rows = buffer["rows"]
        rows[0] = item
        return rows


@sagax.jit
def collect(gain):
    return Ring().push({"rows": gain * np.ones(3)}, gain)


collect(0.5)
"""
    )
    got = run_python("-m", "sagax", "explain", script, cwd=tmp_path, status=1)
    assert "depends on: gain" in got.stdout + got.stderr
    assert "argument of push" not in got.stdout + got.stderr


def test_apply_writes_the_chosen_repair(tmp_path, monkeypatch, capsys):
    script = tmp_path / "broken.py"
    script.write_text("x = [1]\ny = 2\n")
    span = Span(str(script), 1, 4, 1, 7, "", ("x = [1]",))
    chosen = Suggestion("a", "make it two", (Edit(span, "[2]"),), Trust.PROVEN)
    untried = Suggestion("b", "not tried", (Edit(span, "[3]"),), Trust.SUGGESTED)
    monkeypatch.setattr("builtins.input", lambda _: "1")
    apply_one(Diagnostic("", "E", "m", suggestions=(untried, chosen)), {})
    assert script.read_text() == "x = [2]\ny = 2\n"
    assert "not tried" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("encoding", "head"),
    [("utf-8", ""), ("utf-8-sig", ""), ("latin-1", "# -*- coding: latin-1 -*-\r\n")],
)
def test_a_file_keeps_its_encoding_and_line_ends(tmp_path, monkeypatch, encoding, head):
    script = tmp_path / "a.py"
    text = f"{head}größe = 'é'  # ñ\r\ny = größe\r\n"
    script.write_bytes(text.encode(encoding))
    row = text.count("\r\n")
    line = "y = größe"
    edit = Edit(Span(str(script), row, 4, row, 9, "", (line,)), "größe * 2")
    repair = Suggestion("kind", "double", (edit,), Trust.PROVEN)
    monkeypatch.setattr("builtins.input", lambda _: "1")
    apply_one(Diagnostic("", "E", "m", suggestions=(repair,)), {})
    wanted = text.replace("y = größe", "y = größe * 2")
    assert script.read_bytes() == wanted.encode(encoding)


def test_an_uncaught_error_shows_the_script_alone(tmp_path, run_python):
    script = tmp_path / "fails.py"
    script.write_text("def f():\n    return 1 / 0\n\n\nf()\n")
    got = run_python("-m", "sagax", "run", script, cwd=tmp_path, status=1)
    frames = [line for line in got.stderr.splitlines() if line.startswith("  File ")]
    assert len(frames) == 2 and all("fails.py" in frame for frame in frames), got.stderr


def test_pages():
    for name in cautions.__all__:
        kind = getattr(cautions, name)
        text = read_page(kind.code)
        assert text is not None
        assert text.startswith(f"# {kind.code}: {name}\n")
        assert issubclass(kind, UserWarning)
    text = read_page("SX0102")
    assert text is not None
    assert "TracerBoolConversionError" in text
    assert read_page("SX9999") is None


def test_an_exception_is_explained_where_it_was_caught():
    @sagax.jit
    def f(x):
        if x > 1:
            return x
        return -x

    with pytest.raises(sagax.errors.TracerBoolConversionError) as caught:
        f(2.0)
    found = explain(caught.value).diagnostic
    kinds = [s.kind for s in found.suggestions]
    assert "where" in kinds
    assert found.depends == ("x",)
    assert sagax.explain is explain


def test_compilations_are_counted():
    @sagax.jit
    def counted_here(x):
        return x + 1

    for n in range(1, 6):
        counted_here(snp.ones(n))
        counted_here(snp.ones(n))
    table = sagax.explain_compiles().splitlines()
    row = next(
        r
        for r in table
        if r.startswith(("test_compilations_are_counted.counted_here", "counted_here"))
    )
    assert row.split()[1] == "5"
    assert row.endswith("x: float32[1], float32[2], float32[3], ... (5 in all)")
    assert any(r.startswith("advice for") and "counted_here" in r for r in table)


def test_a_donation_of_no_use_is_said_once_for_a_program():
    f = sagax.jit(lambda a, b: a + b.sum(), donate_argnums=(0, 1))
    with pytest.warns(sagax.errors.DonationWarning, match=r"not usable: f32\[3\]\{0\} \(b\)"):
        f(snp.ones(2), snp.ones(3))
    f(snp.ones(2), snp.ones(3))  # an error, if there were a second warning


@pytest.mark.parametrize(
    ("wanted", "got", "same"),
    [
        ("a 1.0 2.0", "a 1.0 2.0001", True),
        ("a 1.0 2.0", "a 1.0 2.1", False),
        ("a 1.0", "b 1.0", False),
        ("nan 1.0", "nan 1.0", True),
        ("nan 1.0", "0.0 1.0", False),
        ("1.0", "1.0 2.0", False),
    ],
)
def test_what_agrees(wanted, got, same):
    assert same_result(Outcome("clean", output=wanted), Outcome("clean", output=got)) is same


def test_a_nan_that_is_the_mistake_may_become_anything_finite():
    wanted, got = Outcome("clean", output="nan 1.0"), Outcome("clean", output="0.0 1.0")
    assert same_result(wanted, got, wildcard=True)
    assert not same_result(wanted, Outcome("clean", output="nan 1.0"), wildcard=True)
    assert not same_result(wanted, Outcome("clean", output="0.0 2.0"), wildcard=True)


def test_programs_that_print_nothing_are_compared_by_their_variables():
    wanted = Outcome("clean", results={"a": [1.0, {"b": 2}], "c": "x"})
    assert same_result(wanted, Outcome("clean", results={"a": [1.0, {"b": 2.0}], "d": 1}))
    assert not same_result(wanted, Outcome("clean", results={"a": [1.0, {"b": 3.0}]}))


WRITES = """\
import jax

@jax.jit
def f(x):
    return x if x > 0 else -x

with open("log.txt", "a") as log:
    log.write("run\\n")
print(f(2.0))
"""


@pytest.mark.parametrize(
    ("option", "grade", "runs"),
    [(None, "suggested", 1), ("--once", "suggested", 1), ("--yes", "proven", 5)],
)
def test_a_script_that_writes_files_runs_again_only_if_told(
    tmp_path, run_python, option, grade, runs
):
    script = tmp_path / "writes.py"
    script.write_text(WRITES)
    options = ["--json", *([option] if option else [])]
    got = run_python("-m", "sagax", "explain", *options, script, cwd=tmp_path, status=1)
    found = json.loads(got.stdout.splitlines()[-1])
    assert found["suggestions"][0]["grade"] == grade
    written = (tmp_path / "log.txt").read_text().count("run")
    assert written == runs if runs == 1 else written >= runs
    if option is None:
        assert "writes log.txt (writes.py:7)" in found["not_tried"]


def test_explain_says_that_it_runs_the_script_again(tmp_path, run_python):
    script = tmp_path / "clean.py"
    script.write_text("print(1)\n")
    got = run_python("-m", "sagax", "explain", script, cwd=tmp_path)
    assert "and again for each repair" in got.stderr and "side effects" in got.stderr
    assert (
        "again" not in run_python("-m", "sagax", "explain", "--once", script, cwd=tmp_path).stderr
    )


def edit_of(path, line, text, new):
    return Edit(Span(str(path), line, 0, line, len(text), "", (text,)), new)


def test_nothing_is_written_into_a_file_that_has_changed_since(tmp_path):
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    for path in (one, two):
        path.write_text("x = 1\n")
    texts = {str(one): "x = 1\n", str(two): "x = 0\n"}
    edits = [edit_of(path, 1, "x = 1", "x = 2") for path in (one, two)]
    with pytest.raises(ChangedFileError, match=r"two\.py was changed"):
        rewrite(edits, texts)
    assert one.read_text() == two.read_text() == "x = 1\n"
    assert rewrite(edits[:1], texts) == [str(one)]
    assert one.read_text() == "x = 2\n"


def test_line_ends_permissions_and_links_stay(tmp_path):
    target, link = tmp_path / "target.py", tmp_path / "link.py"
    target.write_bytes(b"a = 1\r\nb = 2\nc = 3\r\nd = 4")
    target.chmod(0o750)
    link.symlink_to(target)
    assert rewrite([edit_of(link, 3, "c = 3", "c = 30\nc += 1")], {}) == [str(link)]
    assert target.read_bytes() == b"a = 1\r\nb = 2\nc = 30\r\nc += 1\r\nd = 4"
    assert target.stat().st_mode & 0o777 == 0o750
    assert link.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "target.py"]


# --- unusual scripts -----------------------------------------------------------------------------

MISTAKE = """\
@jax.jit
def f(x):
    if x > 0:
        return x
    return -x
"""


def explained(run_python, script, *options, cwd=None, **others):
    """Returns the JSON of `explain`, and what the script printed before it."""
    command = ("-m", "sagax", "explain", "--json", *options, script)
    done = run_python(*command, cwd=cwd or script.parent, status=1, **others)
    *printed, last = done.stdout.splitlines()
    return json.loads(last), printed


def test_a_script_that_does_not_parse_is_shown_as_python_shows_it(tmp_path, run_python):
    script = tmp_path / "broken.py"
    script.write_text("import jax\ndef f(x:\n    return x\n")
    shown = run_python("-m", "sagax", "explain", script, status=1).stderr
    assert f'File "{script}", line 2' in shown and "'(' was never closed" in shown
    script.write_bytes(b"x = '\xe9'\n")
    assert "UnicodeDecodeError" in run_python("-m", "sagax", "explain", script, status=1).stderr


def test_what_a_script_reads_it_reads_again(tmp_path, run_python):
    script = tmp_path / "asks.py"
    script.write_text(f"import jax, sys\n{MISTAKE}\nn, *rest = sys.stdin\nprint(f(int(n)), rest)\n")
    found, _ = explained(run_python, script, input="3\nfour\n")
    assert found["suggestions"][0]["grade"] == "proven"
    script.write_text("import sys\nprint(repr(sys.stdin.read()))\n")
    assert run_python("-m", "sagax", "explain", script, input="").stdout == "''\n"


def test_arguments_and_exit_statuses_are_those_of_the_script(tmp_path, run_python):
    script = tmp_path / "exits.py"
    script.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(3)\n")
    command = ("-m", "sagax", "explain", script, "--rate", "0.5")
    assert run_python(*command, status=3).stdout == "['--rate', '0.5']\n"


def test_a_script_that_prints_megabytes(tmp_path, run_python):
    script = tmp_path / "prints.py"
    script.write_text(
        f"import jax\n{MISTAKE}\nprint(f(-2.0))\nfor i in range(9999): print('x' * 99)\n"
    )
    found, printed = explained(run_python, script)
    assert found["suggestions"][0]["grade"] == "proven" and len(printed) == 0
    fixed = script.read_text().replace("    if x > 0:\n        return x\n    return -x\n", "    return abs(x)\n")  # fmt: skip
    script.write_text(fixed)
    shown = run_python("-m", "sagax", "explain", script).stdout
    assert shown.startswith("2.0\n") and len(shown) == 4 + 9999 * 100


def notebook(path, *cells):
    """Writes a notebook of code cells behind one of text."""
    content = [{"cell_type": "markdown", "source": ["# Title"]}]
    content += [{"cell_type": "code", "source": cell} for cell in cells]
    path.write_text(json.dumps({"cells": content, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))  # fmt: skip


def test_a_notebook_is_the_script_of_its_cells(tmp_path, run_python):
    path = tmp_path / "train.ipynb"
    notebook(path, "%matplotlib inline\nimport jax", MISTAKE, "y = f(1.0)")
    shown = run_python("-m", "sagax", "explain", path, cwd=tmp_path, status=1).stdout
    assert "--> train.ipynb cell 3:3:8 in f\n3 | if x > 0:\n" in shown
    assert "(proven)" in shown and "    -    if x > 0:\n" in shown
    text = path.read_text()
    answer = run_python("-m", "sagax", "explain", "--apply", path, cwd=tmp_path, status=1).stdout
    assert "a notebook is not rewritten" in answer and path.read_text() == text
    raised = run_python("-m", "sagax", "run", path, cwd=tmp_path, status=1).stderr
    assert "--> train.ipynb cell 3:3:8 in f" in raised
    notebook(path, "import jax", "def f(x:\n    pass")
    refused = run_python("-m", "sagax", "explain", path, cwd=tmp_path, status=2).stderr
    assert "train.ipynb cell 3, line 1: '(' was never closed" in refused
    path.write_text("no JSON")
    assert "this is no notebook" in run_python("-m", "sagax", "explain", path, status=2).stderr


def test_a_sandbox_forgets_what_trials_write(tmp_path, run_python):
    if reason := sandbox.reason_against([str(tmp_path)]):
        pytest.skip(f"this system has no sandbox: {reason}")
    script, log = tmp_path / "writes.py", tmp_path / "log.txt"
    script.write_text(
        f"import jax\n{MISTAKE}\nopen({str(log)!r}, 'a').write('run.')\nprint(f(2.0))\n"
    )
    found, _ = explained(run_python, script)
    assert "writes" in found["not_tried"] and log.read_text() == "run."
    found, _ = explained(run_python, script, "--sandbox")
    assert found["not_tried"] == "" and found["suggestions"][0]["grade"] == "proven"
    assert log.read_text() == "run.run."  # of the first run of each command alone


def test_a_sandbox_refuses_writes_to_other_folders(tmp_path, run_python):
    if reason := sandbox.reason_against([str(tmp_path)]):
        pytest.skip(f"this system has no sandbox: {reason}")
    inside, log = tmp_path / "inside", tmp_path / "log.txt"
    inside.mkdir()
    script = inside / "writes.py"
    script.write_text(
        f"import jax\n{MISTAKE}\nopen({str(log)!r}, 'a').write('run.')\nprint(f(2.0))\n"
    )
    found, _ = explained(
        run_python, script, "--sandbox", env={"TMPDIR": str(inside), "HOME": str(inside)}
    )
    assert log.read_text() == "run."  # of the first run; those that follow cannot write there
    assert all(s["grade"] != "proven" for s in found["suggestions"])


def test_a_system_without_a_sandbox_says_so():
    assert "root folder" in sandbox.reason_against(["/"])


def test_a_script_that_forks_is_not_run_again(tmp_path, run_python):
    script = tmp_path / "forks.py"
    script.write_text(
        f"import jax, os\n{MISTAKE}\npid = os.fork()\nif not pid:\n    os._exit(0)\nos.waitpid(pid, 0)\nf(2.0)\n"
    )
    found, _ = explained(run_python, script)
    assert found["error"] == "TracerBoolConversionError"
    assert "process" in found["not_tried"]
    assert {s["grade"] for s in found["suggestions"]} <= {"suggested", "advice"}


def test_a_linked_script_in_another_encoding_that_cannot_be_written(tmp_path, run_python):
    target, link = tmp_path / "target.py", tmp_path / "link.py"
    text = f"# -*- coding: latin-1 -*-\nimport jax\n{MISTAKE}\nprint('größe', f(-2.0))\n"
    target.write_bytes(text.encode("latin-1"))
    target.chmod(0o444)
    link.symlink_to(target)
    found, _ = explained(run_python, link)
    assert found["suggestions"][0]["grade"] == "proven"
    assert target.read_bytes() == text.encode("latin-1")
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o444


HANGS = """
import sys
from sagax._autofix.run_task import Task
from sagax._autofix.subprocess_runs import run

print(run(Task(sys.argv[1], trial=True), 1.0).status)
"""


def test_a_run_that_takes_too_long_is_ended(tmp_path, run_python):
    script = tmp_path / "waits.py"
    script.write_text("import time\ntime.sleep(600)\n")
    assert run_python("-c", HANGS, script).stdout == "timeout\n"


def test_a_run_without_explain_loads_none_of_its_checks(tmp_path, run_python):
    script = tmp_path / "plain.py"
    script.write_text(
        "import sys\nimport jax\nprint(float(jax.jit(jax.grad(lambda x: x * x))(3.0)))\n"
        "print([m for m in sys.modules if m.startswith(('sagax._autofix.checks', 'sagax._autofix.repairs'))])\n"
    )
    assert run_python("-m", "sagax", "run", script).stdout == "6.0\n[]\n"
