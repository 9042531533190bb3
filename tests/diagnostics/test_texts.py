"""What errors look like: whole texts, diffs, JSON, and on a terminal."""

from __future__ import annotations

import html
import json
import os
import re
import sys
import textwrap
import threading
from typing import Any

import pytest

from fake_traces import FakeTrace, span_of
from sagax import errors
from sagax._src import xla
from sagax._src.diagnostics import edits, hook, model, render
from sagax._src.diagnostics.base import SagaxError
from sagax._src.diagnostics.errors import ShapeError

pytestmark = pytest.mark.usefixtures("tests_are_a_library")


def diagnostic(**fields: Any) -> model.Diagnostic:
    return model.Diagnostic("SX0001", "SagaxError", "a message", **fields)


HUBER = """\
def huber(residual, delta):
    size = residual.total()
    if size < delta:
        return size
    return delta * size


def loss(weights, batch):
    for step in range(3):
        weights = weights * 0.9
    return huber(batch * weights + 1, 1.0)
"""


def huber_error(user) -> SagaxError:
    trace = FakeTrace("loss", "grad")
    loss = user(HUBER).loss
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        loss(trace.argument("params['w']", 3), trace.argument("batch[0]", 3))
    return caught.value


def test_the_whole_text_of_an_error(user, golden):
    error = huber_error(user)
    golden("huber.txt", str(error))
    assert str(error) == str(error)  # nothing in it changes from one look to the next


def test_the_whole_text_of_a_leak(user, golden):
    trace = FakeTrace("side_effecting", "jit")
    program = user(
        "outs = []\ndef side_effecting(x):\n    y = x + 1\n    outs.append(y)\n"
        "def use():\n    return leaked(outs[0])\n"
        "def main():\n    side_effecting(x)\n    use()",
        x=trace.argument("x"),
        leaked=lambda x: (_ for _ in ()).throw(errors.UnexpectedTracerError.of(x)),
    )
    found = []

    def run():
        try:
            program.main()
        except errors.UnexpectedTracerError as error:
            found.append(str(error))

    thread = threading.Thread(target=run)  # the test runner's calls are not on its stack
    thread.start()
    thread.join()
    golden("leak.txt", found[0])


def test_a_leaked_argument_has_no_place_where_it_was_made():
    error = errors.UnexpectedTracerError.of(FakeTrace("f", "jit").argument("x"))
    assert "stands for the argument x" in str(error)


def test_json(user, golden, tmp_path):
    data = json.dumps(render.as_json(huber_error(user).explain()), indent=2)
    golden("huber.json", data.replace(f"{tmp_path}{os.sep}", ""))


def test_suggestions_show_their_diff_and_what_was_checked(golden):
    source = "    if size < delta:\n        return size\n    return delta"
    whole = span_of(source, source)
    edit = model.Edit(whole, "    return jnp.where(size < delta, size, delta)")
    fixes = (
        model.Suggestion(
            "where", "choose with where", (edit,), model.Trust.PROVEN, True, held=("same result",)
        ),
        model.Suggestion("cond", "use lax.cond", trust=model.Trust.SUGGESTED),
        model.Suggestion(
            "index_mode",
            "clip the index",
            trust=model.Trust.RAN,
            allows=True,
            missing=("what is right",),
            cost="takes 2.0 s instead of 0.5 s",
        ),
    )
    found = diagnostic(suggestions=fixes, notes=("one thing\nand another",))
    golden("suggestions.txt", render.plain(found))
    kinds = [(s["kind"], s["verified"]) for s in render.as_json(found)["suggestions"]]
    assert kinds == [("where", True), ("cond", False), ("index_mode", False)]


def test_steps_that_are_too_wide_for_a_terminal_take_two_lines():
    text = "np.abs(data['x'] @ weights - data['y']).mean(axis=0)"
    span = model.Span("examples/broken/branch.py", 15, 0, 15, len(text), "loss", (text,))
    steps = (
        model.Step(span, "dot_general, sub, abs, div", "float32[]"),
        model.Step(span, "tanh", "float32[3]", times=4),
    )
    found = diagnostic(chain=steps)
    lines = render.page(found).splitlines()
    assert max(map(len, lines)) < 80
    start = lines.index("  through:")
    assert lines[start + 1].split()[0].endswith("branch.py:15")
    assert lines[start + 2 :: 2] == [
        "      dot_general, ..., div  float32[]",
        "      tanh (4 times)  float32[3]",
    ]
    assert render.page(found).split() == [
        "error[SX0001]",
        "SagaxError:",
        *render.plain(found).split(),
    ]  # the same words


def test_html_says_the_same(user):
    error = huber_error(user)
    shown = error.explain()
    text = render.html(shown)
    title = f"error[SX0102] {shown.error}: "
    assert html.unescape(re.sub(r"<[^>]*>", "", text)) == title + render.plain(shown)
    tricky = model.Diagnostic("SX0001", "SagaxError", "a <b> & </pre>")
    assert "a &lt;b&gt; &amp; &lt;/pre&gt;" in render.html(tricky)


def test_a_text_has_room_for_few_repairs():
    lines = tuple(f"line {i}" for i in range(12))
    span = model.Span("a.py", 1, 0, 12, 7, "", lines)
    whole = model.Edit(span, "\n".join(f"new {i}" for i in range(12)))
    one = model.Edit(model.Span("a.py", 1, 0, 1, 6, "", lines[:1]), "new")

    def text(*repairs: model.Edit) -> list[str]:
        found = [model.Suggestion("kind", f"repair {i}", (e,)) for i, e in enumerate(repairs)]
        return render.plain(diagnostic(suggestions=tuple(found))).splitlines()

    assert sum("fix: repair" in line for line in text(*[one] * 8)) == 8
    assert sum("fix: repair" in line for line in text(*[one] * 12)) == 8  # of three lines each
    first = text(whole, one)  # a diff is whole or not there
    assert first[-1] == "    +new 11" and sum("fix: repair" in line for line in first) == 1


def patched(diff: str, text: str) -> str:
    """The text with a unified diff applied, by its line numbers."""
    lines, shift = text.split("\n"), 0
    for hunk in diff.split("@@ -")[1:]:
        header, *body = hunk.rstrip("\n").split("\n")
        first, count = (int(n) for n in header.split(" ")[0].split(","))
        at = first - (count > 0) + shift  # of no lines, the number is that of the line above
        above = next(i for i, line in enumerate(body) if line[0] != " ")
        below = next(i for i, line in enumerate(body[::-1]) if line[0] != " ")
        assert above <= below, "`patch` takes this for the end of the file"
        old = [line[1:] for line in body if line[0] in "- "]
        new = [line[1:] for line in body if line[0] in "+ "]
        assert lines[at : at + len(old)] == old
        lines[at : at + len(old)] = new
        shift += len(new) - len(old)
    return "\n".join(lines)


def test_edits_and_their_diff_say_the_same():
    text = "import numpy as np\n\ndef f(x, y):\n    a = np.sin(x) + np.cos(y)\n    return (a,\n  x)"
    changes = [
        model.Edit(span_of(text, "(a,\n  x)"), "a"),
        model.Edit(span_of(text, "np.cos"), "jnp.cos"),
        model.Edit(span_of(text, "np.sin"), "jnp.sin"),
        model.Edit(span_of(text, "import numpy as np"), "import numpy as np\nimport jnp"),
    ]
    after = (
        "import numpy as np\nimport jnp\n\ndef f(x, y):\n"
        "    a = jnp.sin(x) + jnp.cos(y)\n    return a"
    )
    assert edits.apply(text, changes) == after
    assert patched(edits.diff(changes), text) == after
    assert edits.diff([]) == ""


def test_a_diff_is_checked_by_applying_it():
    text = "a\nb\nc\nd\n"
    last = model.Edit(span_of(text, "b\nc"), "b\nc\nnew")  # context above, none below
    change = edits.diff([last])
    assert "@@ -3,0 +4,1 @@" in change
    assert edits.patch(text, change) == patched(change, text) == "a\nb\nc\nnew\nd\n"
    assert edits.patch("a\nb\nd\n", change) == "a\nb\nd\nnew\n"  # only by numbers
    wrong = change.replace("@@ -3,0 +4,1 @@", "@@ -2,2 +2,3 @@").replace("+new", " b\n c\n+new")
    assert edits.patch(text, wrong) is None  # `patch` looks for it at the end of the file
    assert edits.patch("a\nb\nc\n", wrong) == "a\nb\nc\nnew\n"
    replaced = edits.diff([model.Edit(span_of(text, "c"), "C")])
    assert edits.patch(text.replace("c", "x"), replaced) is None
    assert edits.patch(text, replaced.replace("3,1 +", "2,1 +")) is None
    assert edits.patch(text, replaced.replace("-3,1", "-3,2")) is None


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_diff_of_the_last_line(tmp_path, end):
    file = tmp_path / "a.py"
    file.write_text(f"a\nb{end}")
    span = model.Span(str(file), 2, 0, 2, 1, "", ("b",))
    change = edits.diff([model.Edit(span, "b\nc")])
    assert edits.patch(file.read_text(), change) == f"a\nb\nc{end}"
    assert change.count("\n\\ No newline at end of file\n") == (0 if end else 2)


def test_an_error_in_the_explanation_leaves_the_message(monkeypatch):
    error = ShapeError("sizes differ")
    monkeypatch.setattr(SagaxError, "details", lambda self: 1 / 0)
    assert str(error) == "sizes differ"


def test_only_what_the_traceback_does_not_show(user):
    with pytest.raises(ShapeError) as caught:
        user("f()", f=lambda: (_ for _ in ()).throw(ShapeError("sizes differ")))
    assert str(caught.value) == "sizes differ"
    assert caught.value.explain().primary.text == "f()"
    elsewhere = []
    user("(keep(), 1)", keep=lambda: elsewhere.append(xla.get_traceback()))
    assert "keep()" in str(ShapeError("sizes differ", traceback=elsewhere[0]))


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return True


def uncaught(user, monkeypatch, **env: str) -> str:
    error = huber_error(user)
    screen = Terminal()
    for name in ("NO_COLOR", "TERM", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    hook.install()
    hook.install()  # once is enough, twice does no harm
    sys.excepthook(type(error), error, error.__traceback__)
    return screen.text


def test_colour_on_a_terminal_says_the_same(user, monkeypatch):
    coloured = uncaught(user, monkeypatch)
    plain = uncaught(user, monkeypatch, NO_COLOR="1")
    assert "\x1b[" in coloured and "\x1b[" not in plain

    title = "error[SX0102] TracerBoolConversionError: "
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    raised = "sagax.errors.TracerBoolConversionError: "
    assert stripped.replace(title, "").split() == plain.replace(raised, "").split()
    own = stripped[stripped.index(title) :].splitlines()
    assert max(map(len, own)) < 80


def test_an_uncaught_exception_shows_no_frame_of_ours(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """\
            from sagax._src import trees
            from sagax._src.diagnostics import hook
            hook.install()
            def f(x):
                return 1 / x
            trees.map(f, {"a": 0})
            """
        )
    )
    done = run_python(program, status=1)
    assert "ZeroDivisionError" in done.stderr and "trees.map(f" in done.stderr
    assert "_src" not in done.stderr.replace("from sagax._src", "")


def test_an_empty_diff_changes_nothing():
    assert edits.patch("a\nb\n", "") == "a\nb\n"
    assert edits.patch("a\nb\n", "no hunk") is None
