"""The report of `python -m sagax run --report`, the accounting behind it, and the progress line.

There is no browser among the tools of the suite. The page has no script: functions are `details`
elements, which every browser opens at a click. So its structure is what is tested, with html.parser.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._report import compare, costs, drawings, facts, measured, page
from sagax._src.api import compile_log
from sagax._src.runtime import progress

SOURCE = Path(__file__).resolve().parents[2] / "src"

PROGRAM = """
import sagax
import sagax.numpy as np

table = np.arange(1000.0)

@sagax.jit
def quick(x):
    return x + 1

@sagax.jit
def slow(x):
    for _ in range(60):
        x = np.tanh(x @ x)
    return x + table[0]

@sagax.jit
def grows(x):
    return x * 2

for n in range(1, 4):
    grows(np.ones(n))
quick(np.ones(3))
for _ in range(3):
    slow(np.ones((200, 200)))
print("done")
"""


class Tree(HTMLParser):
    """The page as nested lists [tag, attributes, *children]; fails where tags do not match."""

    VOID = ("meta", "br", "link", "img", "input", "hr")

    def __init__(self, text):
        super().__init__()
        self.root = ["", {}]
        self.stack = [self.root]
        self.feed(text)
        self.close()
        assert self.stack == [self.root], f"not closed: {[n[0] for n in self.stack]}"

    def handle_starttag(self, tag, attrs):
        node = [tag, dict(attrs)]
        self.stack[-1].append(node)
        if tag not in self.VOID:
            self.stack.append(node)

    def handle_endtag(self, tag):
        assert self.stack.pop()[0] == tag

    def handle_data(self, data):
        self.stack[-1].append(data)


def all_of(node, tag, kind=None):
    found = []
    for child in node[2:]:
        if isinstance(child, list):
            if child[0] == tag and kind in (None, child[1].get("class")):
                found.append(child)
            found += all_of(child, tag, kind)
    return found


def text_of(node):
    return "".join([c if isinstance(c, str) else text_of(c) for c in node[2:]])


def rows_of(node, kind):
    (table,) = all_of(node, "table", kind)
    (body,) = all_of(table, "tbody")
    return [[text_of(cell) for cell in all_of(row, "td")] for row in all_of(body, "tr")]


def run(tmp_path, program):
    script, out = tmp_path / "program.py", tmp_path / "out.html"
    script.write_text(program)
    command = [sys.executable, "-m", "sagax", "run", "--report", str(out), str(script)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SOURCE), "HOME": str(tmp_path)},
    )
    return done, out.read_text()


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    done, text = run(tmp_path_factory.mktemp("report"), PROGRAM)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    return text, Tree(text).root


def test_the_costliest_function_is_first(planted):
    text, root = planted
    names = [text_of(n) for n in all_of(root, "span", "name")]
    assert set(names) == {"slow", "quick", "grows"}
    # which one costs most is measured; the bars show what was measured
    widths = [float(w) for w in re.findall(r'class="bar" style="width: ([\d.]+)%', text)]
    assert len(widths) == 3 and widths[0] == 100
    assert widths == sorted(widths, reverse=True) and widths[-1] < 100


def test_a_click_opens_a_function(planted):
    _, root = planted
    functions = all_of(root, "details", "function")
    assert len(functions) == 3
    assert ["open" in function[1] for function in functions] == [True, False, False]
    for function in functions:
        assert function[2:]
        first = next(c for c in function[2:] if isinstance(c, list))
        assert first[0] == "summary"


def test_the_page_needs_nothing_else(planted):
    text, root = planted
    assert "http" not in text and "@import" not in text and "url(" not in text
    for tag in ("script", "link", "img", "iframe"):
        assert not all_of(root, tag)


def function_named(root, name):
    return next(
        d
        for d in all_of(root, "details", "function")
        if text_of(all_of(d, "span", "name")[0]) == name
    )


def test_compilations_and_their_causes(planted):
    _, root = planted
    rows = rows_of(function_named(root, "grows"), "compilations")
    assert [row[0] for row in rows] == [
        "the first call",
        "x: float32[1], then float32[2]",
        "x: float32[2], then float32[3]",
    ]
    assert "3 runs" in text_of(function_named(root, "slow"))


def test_captured_constants(planted):
    _, root = planted
    assert rows_of(function_named(root, "slow"), "constants") == [["float32[1000]", "3.91 KiB"]]
    assert not all_of(function_named(root, "quick"), "table", "constants")


def test_operations_stand_beside_their_source(planted):
    _, root = planted
    rows = rows_of(function_named(root, "slow"), "lines")
    first = next(row for row in rows if "np.tanh(x @ x)" in row[0])
    assert first == rows[0]  # the costliest line is the first
    assert re.fullmatch(r"[\d.]+ m?s", first[1]) and float(first[2].removesuffix(" %")) > 80
    assert "program.py:14" in first[0]
    assert "dot_general" in first[3] and "tanh" in first[3]
    assert first[3].startswith("120 operations") and "and 80 more" in first[3]
    assert first[4] == "962 M"  # 60 * (2 * 200**3 + 200**2), with three digits
    memory = rows_of(function_named(root, "slow"), "memory")
    made = next(row for row in memory if "np.tanh(x @ x)" in row[0])
    assert made[2] == "18.3 MiB"  # 120 results of 160,000 bytes


def test_operations_are_folded(planted):
    _, root = planted
    for function in all_of(root, "details", "function"):
        (table,) = all_of(function, "table", "lines")
        folds = all_of(table, "details")
        assert folds and all("open" not in fold[1] for fold in folds)
        assert all(all_of(fold, "pre", "ops") for fold in folds)


def source_lines(jaxpr, locations=None):
    return facts._source_lines(jaxpr, list(costs.execution_steps(jaxpr)), locations)[0]


def test_lines_of_libraries_count_for_the_line_that_calls_them(tmp_path, monkeypatch):
    library = tmp_path / "lib" / "python3.12" / "site-packages" / "helpful.py"
    library.parent.mkdir(parents=True)
    library.write_text(
        "import sagax.numpy as snp\n\ndef twice(x):\n    return snp.sin(snp.sin(x))\n"
    )
    monkeypatch.syspath_prepend(str(library.parent))
    import helpful

    jaxpr = sagax.make_jaxpr(lambda x: helpful.twice(x) + 1)(snp.ones(3)).jaxpr
    (line,) = source_lines(jaxpr)
    assert line.file.endswith("test_report.py") and "helpful.twice(x)" in line.text
    assert len(line.operations) == 3


def test_functions_of_sagax_are_placed_where_they_are_called():
    lines = [facts.Line("train.py", 7, "x = random.normal(key)")]
    assert facts._shown_location(f"{facts.__file__}:12", lines) == "called at train.py:7"
    assert facts._shown_location(f"{facts.__file__}:12", []) == f"{facts.__file__}:12"
    assert facts._shown_location("train.py:3", lines) == "train.py:3"


def test_the_costliest_line_is_first():
    def f(x):
        y = snp.sin(x)
        z = x @ x
        return snp.cos(y) + z.sum()

    lines = source_lines(sagax.make_jaxpr(f)(snp.ones((300, 300))).jaxpr)
    assert lines[0].text == "z = x @ x"
    weights = [line.weight for line in lines]
    assert weights == sorted(weights, reverse=True) and weights[0] > 2 * weights[1]


def test_a_program_that_fails_has_a_report_too(tmp_path):
    done, text = run(tmp_path, PROGRAM + "\nraise SystemExit(3)\n")
    assert done.returncode == 3
    assert "slow" in text


def test_names_are_escaped():
    counter = compile_log.Counter("<lambda>", 'a"&b:1')
    root = Tree(page.render_page(facts.collect_facts([counter]), "<title>", 1.0)).root
    assert text_of(all_of(root, "span", "name")[0]) == "<lambda>"
    assert text_of(all_of(root, "h1")[0]) == "<title>"


def test_two_reports_compared(planted, tmp_path, capsys):
    text, _ = planted
    old, new = tmp_path / "old.html", tmp_path / "new.html"
    old.write_text(text, encoding="utf-8")

    def twice(match):
        return f'data-run-seconds="{2 * float(match[1])}"'

    new.write_text(re.sub(r'data-run-seconds="([\d.e-]+)"', twice, text), encoding="utf-8")
    assert compare.main(str(old), str(new)) == 0
    head, *rows, whole = capsys.readouterr().out.splitlines()
    assert head.split() == ["function", "a", "run", "compiling", "compilations", "total"]
    assert {row.split()[0] for row in rows} == {"slow", "quick", "grows"}
    for row in rows:
        assert re.findall(r"([\d.]+)x", row)[:2] == ["2.00", "1.00"]  # a run, compiling
    assert "grows" not in head and re.search(r"grows .* 3 -> 3 ", "\n".join(rows))
    ratio = float(re.findall(r"([\d.]+)x$", whole)[0])
    assert 1 < ratio < 2


def test_a_function_that_is_new_has_no_ratio():
    one = compare.Totals(runs=2, run_seconds=3.0, compilations=1, compile_seconds=0.5)
    lines = compare.table({"f": one}, {"f": one, "g": one}).splitlines()
    assert lines[1].startswith("g") and "0 -> 1" in lines[1] and "x" not in lines[1]
    assert "1.50 s -> 1.50 s  1.00x" in lines[2]


def test_other_pages_are_no_reports(tmp_path, capsys):
    page_of = tmp_path / "page.html"
    page_of.write_text("<details>hello</details>", encoding="utf-8")
    assert compare.main(str(page_of), str(page_of)) == 2
    assert "is not a report" in capsys.readouterr().err


# --- measured times ------------------------------------------------------------------------------------


HLO = """HloModule jit_f, is_scheduled=true

FileNames
1 "/home/me/a.py"

FunctionNames
1 "jit(f)/tanh"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=4 end_column=4}
2 {file_name_id=1 function_name_id=1 line=8 end_line=8 column=4 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

%fused (p: f32[10,100]) -> f32[10,100] {
  %p = f32[10,100]{1,0} parameter(0)
  %t = f32[10,100]{1,0} tanh(%p), metadata={op_name="jit(f)/tanh" stack_frame_id=1}
  ROOT %a = f32[10,100]{1,0} add(%t, %p), metadata={op_name="jit(f)/add" stack_frame_id=2}
}

%body (s: f32[10,100]) -> f32[10,100] {
  %s = f32[10,100]{1,0} parameter(0)
  ROOT %n.1 = f32[10,100]{1,0} negate(%s), metadata={op_name="jit(f)/neg" stack_frame_id=2}
}

ENTRY %main (x: f32[10,20], y: f32[20,100]) -> f32[10,100] {
  %x = f32[10,20]{1,0} parameter(0)
  %y = f32[20,100]{1,0} parameter(1)
  %d = f32[10,100]{1,0} dot(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/transpose" stack_frame_id=1}
  %f.1 = f32[10,100]{1,0} fusion(%d), kind=kLoop, calls=%fused, metadata={op_name="jit(f)/add" stack_frame_id=2}
  ROOT %w = f32[10,100]{1,0} while(%f.1), condition=%body, body=%body, metadata={op_name="jit(f)/scan" stack_frame_id=2}
}
"""
FILE = "/home/me/a.py"


def test_instructions_know_their_lines_and_their_work():
    module = measured.Module(HLO)
    assert module.name == "jit_f"
    dot = module.instructions["d"]
    assert dot.location == (FILE, 7, "dot_general")
    assert module.work(dot) == 10 * 100 * 2 * 20
    assert module.work(module.instructions["t"]) == 16 * module.work(module.instructions["a"])


def test_the_time_of_a_fusion_is_split_among_its_lines():
    module = measured.Module(HLO)
    shares = module.shares("f.1")
    assert shares == {(FILE, 7, "tanh"): 16 / 17, (FILE, 8, "add"): pytest.approx(1 / 17)}
    assert module.shares("d") == {(FILE, 7, "dot_general"): 1.0}
    assert module.shares("w") == {(FILE, 8, "neg"): 1.0}
    assert module.shares("gone") == {measured.UNKNOWN: 1.0}


def test_operations_within_others_count_once():
    module = measured.Module(HLO)
    events = [
        (0, "jit_f", "d", 0.0, 100.0),
        (0, "jit_f", "w", 200.0, 500.0),
        (0, "jit_f", "n.1", 250.0, 100.0),
        (0, "jit_f", "n.1", 400.0, 100.0),
        (1, "jit_f", "f.1", 10.0, 30.0),  # in another thread meanwhile
        (0, "jit_g", "d", 0.0, 1e9),  # another executable
    ]
    found = measured.own_seconds(events, module)
    # the loop has no time of its own: that of its body was recorded
    assert found == {k: pytest.approx(v) for k, v in {"d": 1e-7, "n.1": 2e-7, "f.1": 3e-8}.items()}


def test_lines_and_flames_have_the_measured_seconds():
    def inner(x):
        return snp.sin(x)

    def f(x):
        a = inner(x)
        b = inner(a)
        return b + 1

    jaxpr = sagax.make_jaxpr(f)(snp.ones(8)).jaxpr
    first = inner.__code__.co_firstlineno
    steps = list(costs.execution_steps(jaxpr))
    locations = {
        measured.Location(__file__, first + 1, "sin"): 4.0,
        measured.Location(__file__, first + 6, "add"): 1.0,
        measured.Location("", 0, "copy"): 0.5,
    }
    lines, flame = facts._source_lines(jaxpr, steps, locations)
    assert [(line.text, line.seconds) for line in lines] == [
        ("return snp.sin(x)", 4.0),
        ("return b + 1", 1.0),
        ("", 0.5),
    ]
    assert flame.seconds == 5.5
    calls = {}

    def walk(frame, path):
        for name, inner in frame.called.items():
            calls[(*path, name)] = inner.seconds
            walk(inner, (*path, name))

    walk(flame, ())
    ends = {path: s for path, s in calls.items() if path[-1] in ("sin", "add", "copy")}
    by_line = {(path[-2].split(" ")[0] if len(path) > 1 else "", path[-1]) for path in ends}
    assert {name for _, name in by_line} == {"sin", "add", "copy"}
    sines = [s for path, s in ends.items() if path[-1] == "sin"]
    assert sines == [2.0, 2.0]  # one for each call, by equal work


def test_an_executable_of_another_text_is_not_measured():
    def f(x):
        return snp.sin(x)

    jaxpr = sagax.make_jaxpr(f)(snp.ones(8)).jaxpr
    steps = list(costs.execution_steps(jaxpr))
    line = f.__code__.co_firstlineno + 1
    assert facts._fits(steps, {measured.Location(__file__, line, "sin"): 1.0})
    assert not facts._fits(steps, {measured.Location(__file__, line + 1, "sin"): 1.0})


def test_functions_with_derivative_rules_cost_what_they_compute():
    def plain(x):
        return snp.exp(x) @ x

    ruled = sagax.custom_jvp(plain)
    ruled.defjvp(lambda primals, tangents: (ruled(*primals), tangents[0]))

    def flops(f):
        jaxpr = sagax.make_jaxpr(f)(snp.ones((8, 8))).jaxpr
        return sum(costs.equation_cost(s.eqn).flops for s in costs.execution_steps(jaxpr))

    assert flops(ruled) == flops(plain) > 2 * 8**3


def test_durations_have_one_form():
    assert [page.format_seconds(s) for s in (0.0123, 0.9994, 0.99973, 2.0)] == [
        "12.3 ms", "999 ms", "1.00 s", "2.00 s",
    ]  # fmt: skip


def test_a_flame_graph_is_as_wide_as_its_seconds():
    root = facts.Frame("")
    root.add(("f", "<g>"), 3.0)
    root.add(("f", "h"), 1.0)
    root.add(("tiny",), 1e-6)
    drawn = Tree(drawings.flame_graph(root, "{:.1f} s".format)).root
    widths = {text_of(node[2]): node[1]["style"] for node in all_of(drawn, "div", "frame")}
    assert widths == {"f": "width: 100.00%", "<g>": "width: 75.00%", "h": "width: 25.00%"}
    titles = [n[1]["title"] for n in all_of(drawn, "span") if "title" in n[1]]
    assert "<g>: 3.0 s, 75.0%" in titles


def test_curves_keep_their_peaks():
    points = [(float(i), 1.0) for i in range(10_000)]
    points[5_003] = (5_003.0, 8.0)
    text = drawings.curve(points, "0 s", "9 s", "up to 8")
    heights = [float(y) for y in re.findall(r"[ L][\d.]+,([\d.]+)", text)]
    assert len(heights) < 500 and min(heights) == 4.0  # 100 is the axis
    one = drawings.curve([(0.0, 5.0)], "a", "b", "c")
    assert one.count("4.0") >= 2


def test_the_page_shows_flames_and_memory(planted):
    _, root = planted
    flames = all_of(root, "div", "flame")
    labels = [text_of(n) for n in all_of(flames[0], "span")]
    assert "slow" in labels and any("slow (program.py:14)" in x for x in labels)
    assert {"dot_general", "tanh"} & set(labels)
    assert len(all_of(root, "svg", "curve")) >= 2
    assert "Memory of the process over time" in text_of(root)


# --- estimates ---------------------------------------------------------------------------------------


def steps_of(f, *args):
    return list(costs.execution_steps(sagax.make_jaxpr(f)(*args).jaxpr))


def test_operations_of_products_and_convolutions():
    (step,) = steps_of(lambda a, b: a @ b, snp.ones((3, 5)), snp.ones((5, 7)))
    assert costs.equation_cost(step.eqn) == (2 * 3 * 5 * 7, 4 * (15 + 35 + 21))
    x, k = snp.ones((2, 3, 8, 8)), snp.ones((4, 3, 5, 5))
    (step,) = steps_of(lambda x, k: sagax.lax.conv(x, k, (1, 1), "SAME"), x, k)
    assert costs.equation_cost(step.eqn).flops == 2 * (2 * 4 * 8 * 8) * (3 * 5 * 5)
    (step,) = steps_of(snp.transpose, snp.ones((3, 5)))
    assert costs.equation_cost(step.eqn) == (0, 4 * 30)


def test_programs_inside_count_as_often_as_they_run():
    def body(c, _):
        return snp.sin(c), c

    found = steps_of(lambda c: sagax.lax.scan(body, c, None, length=50), snp.ones(3))
    assert [(s.eqn.primitive.name, s.times) for s in found] == [("sin", 50)]
    nested = steps_of(sagax.jit(lambda x: sagax.jit(snp.cos)(x) + 1), snp.ones(3))
    assert [s.eqn.primitive.name for s in nested] == ["cos", "add"]


def test_the_costlier_branch_counts():
    found = steps_of(
        lambda p, x: sagax.lax.cond(p, lambda x: x @ x @ x, lambda x: x + 1, x),
        True,
        snp.ones((4, 4)),
    )
    assert [s.eqn.primitive.name for s in found].count("dot_general") == 2


def test_memory_in_use_follows_the_lives_of_values():
    def f(x):  # 400 bytes each
        a = snp.sin(x)
        b = snp.cos(a)  # a is needed until here
        return b + x

    found = steps_of(f, snp.ones(100))
    assert [s.alive for s in found] == [800, 1200, 1200]

    def g(x):
        return snp.cos(snp.sin(x)).sum()

    assert [s.alive for s in steps_of(g, snp.ones(100))] == [800, 1200 - 400, 400 + 4]


# --- accounting ----------------------------------------------------------------------------------------


def test_seconds_of_each_part_are_shown():
    @sagax.jit
    def shown_by_parts(x):
        return snp.tanh(x) * 3

    shown_by_parts(snp.ones(7))
    head, *rows = sagax.explain_compiles().splitlines()
    for word in ("trace s", "lower s", "XLA s", "loaded", "defined at", "what changed"):
        assert word in head
    (counter,) = [c for c in compile_log.counters() if c.name == "shown_by_parts"]
    assert counter.times == 1 and min(counter.seconds) > 0
    assert any(r.startswith("shown_by_parts") for r in rows)


def test_transformations_outside_of_jit_are_counted_as_their_function():
    def counted_loss(x):
        return (x * x).sum()

    for _ in range(4):
        sagax.grad(counted_loss)(snp.ones(3))
    (counter,) = [c for c in compile_log.counters() if c.name == "counted_loss"]
    assert counter.times == 1
    assert "test_report.py" in counter.location


def test_programs_are_not_kept_unless_asked_for():
    @sagax.jit
    def not_kept(x):
        return x - 1

    not_kept(snp.ones(3))
    (counter,) = [c for c in compile_log.counters() if c.name == "not_kept"]
    assert counter.compilations[0].jaxpr is None and counter.runs == 0


# --- the progress line ----------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def compile_something():
    def to_be_told(x):
        for _ in range(40):
            x = snp.tanh(x @ x) * snp.sin(x)
        return x

    return sagax.jit(to_be_told)(snp.ones((5, 5)))


def test_a_line_tells_what_takes_long(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with sagax.config.context(progress_after=0.01):
        result = compile_something()
    assert result.shape == (5, 5)
    text = sys.stderr.getvalue()
    assert re.search(r"\rsagax: (tracing|lowering|compiling) to_be_told \.\.\. 0 s", text)
    assert re.search(
        r"\rsagax: to_be_told took \d+\.\d s: tracing .*, lowering .*, compiling .* s *\n$", text
    )


def test_the_delay_counts_from_the_start_of_tracing(monkeypatch):
    """None of the parts takes as long as the delay; all together do."""
    monkeypatch.setattr(sys, "stderr", Terminal())
    with sagax.config.context(progress_after=0.3), progress.line("", "step"):
        for doing in ("tracing", "lowering", "compiling"):
            with progress.line(doing, "step"):
                time.sleep(0.2)
    shown = sys.stderr.getvalue()
    assert "tracing step ..." not in shown and "sagax: step took" in shown
    assert re.search("(lowering|compiling) step ... 0 s", shown)


def test_slow_tracing_is_told(monkeypatch):
    def slow_to_trace(x):
        time.sleep(0.4)
        return x + 1

    monkeypatch.setattr(sys, "stderr", Terminal())
    with sagax.config.context(progress_after=0.01):
        sagax.jit(slow_to_trace)(1.0)
    assert "sagax: tracing slow_to_trace ... 0 s" in sys.stderr.getvalue()


def test_a_prompt_of_a_debugger_is_not_overwritten(monkeypatch):
    def debugged(x):
        space = {"__name__": "pdb", "sleep": time.sleep}
        exec("sleep(0.3)", space)
        return x + 1

    monkeypatch.setattr(sys, "stderr", Terminal())
    with sagax.config.context(progress_after=0.01):
        sagax.make_jaxpr(sagax.jit(debugged))(1.0)
    assert "tracing" not in sys.stderr.getvalue()


def test_notebooks_show_the_line(monkeypatch):
    notebook = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    monkeypatch.setattr(sys, "stderr", notebook())
    with sagax.config.context(progress_after=0.01), progress.line("compiling", "step"):
        time.sleep(0.1)
    assert "sagax: compiling step took 0.1 s\n" in sys.stderr.getvalue()


@pytest.mark.parametrize(
    ("kind", "after"), [(io.StringIO, 0.01), (Terminal, 0.0), (Terminal, 60.0)]
)
def test_no_line_in_files_nor_where_it_is_quick_or_off(monkeypatch, kind, after):
    monkeypatch.setattr(sys, "stderr", kind())
    sagax.clear_caches()
    with sagax.config.context(progress_after=after):
        result = compile_something()
    assert np.isfinite(np.asarray(result)).all()
    assert sys.stderr.getvalue() == ""
