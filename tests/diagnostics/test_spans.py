"""From a stack to the user's expression: exact columns, whose frame it is, and how it is shown."""

from __future__ import annotations

import linecache
import os
import threading
from typing import Any

import pytest

from fake_traces import Probe, span_of
from sagax._src import xla
from sagax._src.diagnostics import model, render, spans

pytestmark = pytest.mark.usefixtures("tests_are_a_library")


# The expression that is looked at first stands between « and ».
EXPRESSIONS = [
    "if «p < 1»: pass",
    "if «p»:\n  x = 1\n  y = 2\nelse:\n  x = 2",
    "if 1 < len(L) < 2: pass\nelif «p»: pass\nelse: pass",
    "def f():\n    if not «p»:\n        return 1\n    return 2\nf()",
    "def f():\n    if len(L) == 1:\n        return\n    elif not «p» :\n        return\nf()",
    "while «p»: break",
    "assert «p», 'message'",
    "x = not «p»",
    "x = 1 if «p» else 2",
    "x = «p» or 1",
    "x = «p» and 1",
    "x = [i for i in range(3) if «p»]",
    "x = {i for i in «p»}",
    "for i in «p»:\n    pass",
    "with «p»: pass",
    "x = (1, «p + 1»)",
    "x = «max(p, p)»",
    "x = «L[p]» + 1",
    "x = «range(p)»",
    "x = «len(p)»",
    "x = «1 in p»",
    "x = «-p» @ p",
    "x = p; «x += 1»",
    "«p[0]» = 1",
    "x = «p.total()».total()",
    "f = lambda x: «x.total()»\nf(p)",
    "x = (1,\n     «p.total(\n         1)»)",
    "é = 'ß'; x = [é, «p * 2»]",
    "if 1:\n\tx = «p * 2»",
    "x = {'a': «p(1)»}",
    "class A:\n    def m(self):\n        return «p(self)»\nA().m()",
]


@pytest.mark.parametrize("marked", EXPRESSIONS)
def test_exact_columns(user, marked):
    before, _, rest = marked.partition("«")
    text, _, after = rest.partition("»")
    probe = Probe()
    user(before + text + after, p=probe, L=[1, 2, 3])
    span = probe.seen[0]
    assert span is not None and span.text == text
    lines = before.split("\n")
    assert (span.line, span.column) == (len(lines), len(lines[-1]))
    lines = (before + text).split("\n")
    assert (span.end_line, span.end_column) == (len(lines), len(lines[-1]))


@pytest.mark.parametrize(
    "source",
    [
        "import numpy\nx = «numpy.split(numpy.eye(4), 2, axis=p)»",  # numpy's Python code asks
        "import calendar\nx = «calendar.isleap(p)»",  # as does the standard library's
    ],
)
def test_libraries_between_are_passed_over(user, source):
    probe = Probe()
    clean = source.replace("«", "").replace("»", "")
    user(clean, p=probe)
    assert probe.seen[0] is not None and f"«{probe.seen[0].text}»" in source


def test_a_library_can_hide_itself(user, tmp_path):
    probe = Probe()
    library = user("def ask(x):\n    return x.total()", "library.py")
    user("ask(p)", p=probe, ask=library.ask)
    spans.hide(str(tmp_path / "library.py"))
    user("ask(p)", p=probe, ask=library.ask)
    assert [span and span.text for span in probe.seen] == ["x.total()", "ask(p)"]


def test_the_calls_that_led_here(user):
    seen = []
    source = "def f(n):\n    return g() if n == 0 else f(n - 1)\nf(9)"
    user(source, g=lambda: seen.extend(spans.user_spans(xla.get_traceback(), 3)))
    assert [span.text for span in seen] == ["f(n - 1)", "f(n - 1)", "g()"]
    assert seen[0].function == "f"


def test_a_python_traceback_tells_the_same(user):
    with pytest.raises(ZeroDivisionError) as caught:
        user("def f(x):\n    return [x, 1 / x]\nf(0)")
    span = spans.user_span(caught.value.__traceback__)
    assert span is not None and span.text == "1 / x" and span.function == "f"


def in_a_thread(function):
    """Calls it where no test runner is on the stack."""
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_nobody_of_the_users_on_the_stack():
    found = []
    in_a_thread(lambda: found.append(xla.get_traceback()))
    assert spans.user_span(found[0]) is None
    assert spans.user_spans(found[0]) == []
    assert spans.user_span(None) is None


def test_source_of_a_notebook_cell():
    probe = Probe()
    source = "x = [p.total()]\n"
    file = "<ipython-input-3-f00>"
    linecache.cache[file] = (len(source), None, [source], file)
    try:
        exec(compile(source, file, "exec"), {"p": probe})
    finally:
        del linecache.cache[file]
    assert probe.seen[0] is not None and probe.seen[0].text == "p.total()"


def test_generated_code_gives_way_to_who_called_it(user):
    probe = Probe()
    names: dict[str, Any] = {"p": probe}
    exec("def ask():\n    return p.total()", names)
    user("ask()", ask=names["ask"])
    assert probe.seen[0] is not None and probe.seen[0].text == "ask()"
    in_a_thread(names["ask"])  # now there is nothing else
    assert probe.seen[1] is not None and probe.seen[1].file == "<string>"


def test_a_file_that_is_gone(user, tmp_path):
    probe = Probe()
    f = user("def f(p):\n    return p.total()").f
    (tmp_path / "program.py").unlink()
    f(probe)
    span = probe.seen[0]
    assert span is not None and (span.line, span.text, span.column) == (2, "", None)
    label = model.Label(span, primary=True)
    text = render.plain(model.Diagnostic("SX0001", "SagaxError", "a message", labels=(label,)))
    assert "program.py:2 in f" in text and "missing or has changed" in text


@pytest.mark.parametrize(
    "edited",
    [
        "# a line more\ndef f(p):\n    return p.total()\n",
        "def f(p):\n    return some_other_function(p)\n",
        "def g(p):\n    return p.total()\n",
        "def f(p):\n",
        "",
    ],
)
def test_a_file_that_was_edited_is_not_shown(user, tmp_path, edited):
    probe = Probe()
    f = user("def f(p):\n    return p.total()\n").f
    path = tmp_path / "program.py"
    path.write_text(edited)
    os.utime(path, (1, 1))  # another time than before, however fast this runs
    f(probe)
    assert probe.seen[0] is not None and probe.seen[0].text == ""


def test_without_columns_the_line_is_shown(run_python, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "from sagax._src import xla\nfrom sagax._src.diagnostics import spans\n"
        "def f():\n    return (1, spans.user_span(xla.get_traceback()))\n"
        "span = f()[1]\nprint(span.line, span.column, span.text)\n"
    )
    done = run_python("-X", "no_debug_ranges", program)
    assert done.stdout == "4 None return (1, spans.user_span(xla.get_traceback()))\n"


@pytest.mark.parametrize(
    ("source", "text", "lines"),
    [
        ("    y = x + 1", "x + 1", ["1 y = x + 1", "      ^^^^^"]),
        ("\tif 1:\ty = x", "x", ["1 if 1:   y = x", "              ^"]),
        ("s = '長い', x", "x", ["1 s = '長い', x", "              ^"]),
        ("s = 'e\u0301', x", "x", ["1 s = 'e\u0301', x", "           ^"]),
        (
            "  y = f(a,\n        b)  # why",
            "f(a,\n        b)",
            ["1 y = f(a,", "      ^^^^", "2       b)  # why", "        ^^"],
        ),
    ],
)
def test_excerpts_are_aligned(source, text, lines):
    shown = []
    for line in spans.excerpt(span_of(source, text)):
        shown += [f"{line.number} {line.text}", f"  {line.marks}"]
    assert shown == lines


def test_long_excerpts_are_cut():
    tall = "f(" + ",\n".join(f"  a{i}" for i in range(20)) + ")"
    lines = spans.excerpt(span_of(tall, tall))
    assert [line.number for line in lines] == [1, 2, 3, None, 18, 19, 20]
    wide = "x = [" + "a, " * 60 + "target(1), " + "b, " * 60 + "]"
    (line,) = spans.excerpt(span_of(wide, "target(1)"))
    assert len(line.text) < 110
    assert line.text[line.marks.index("^") : len(line.marks)] == "target(1)"


def test_names_that_others_left_do_not_matter(user, monkeypatch):
    """`python -c` and others leave a text under the name of all generated code."""
    probe = Probe()
    names: dict[str, Any] = {"p": probe}
    other = "x = 1\ny = other(x)\n"
    monkeypatch.setitem(
        linecache.cache, "<string>", (len(other), None, other.splitlines(True), "<string>")
    )
    exec("def ask():\n    return p.total()", names)
    user("ask()", ask=names["ask"])
    assert probe.seen[0] is not None and probe.seen[0].text == "ask()"


def test_code_that_was_typed_in_is_the_users(user):
    probe = Probe()
    names: dict[str, Any] = {"p": probe}
    exec(compile("def ask():\n    return p.total()", "<stdin>", "exec"), names)
    user("ask()", ask=names["ask"])
    span = probe.seen[0]
    assert span is not None and (span.file, span.line, span.function) == ("<stdin>", 2, "ask")
