"""Proofs of fixes: plausible wrong fixes are refuted or left unproven, right ones are proven.

`strangers/NAME.py` fails, `strangers/fixed/NAME.py` is right, `strangers/wrong/NAME.py` looks right and
is not: head lines of the first say why. tests/oracle/strangers.py checked them with jax.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sagax._autofix import compare, derivative_checks, in_place_updates, probes, proof
from sagax._autofix.repairs.source_file import Source
from sagax._autofix.run_task import Outcome

HERE = Path(__file__).resolve().parent
STRANGERS = HERE / "strangers"
WRONG = sorted((STRANGERS / "wrong").glob("*.py"))
RIGHT = [
    STRANGERS / "fixed" / f"{name}.py"
    for name in (
        "board_set_in_loop", "clock_read_while_tracing", "entropy_per_bin", "evidence_of_mixture",
        "fixed_point_and_gradient", "gradients_zipped_with_values", "heading_at_rest", "histogram_never_filled",
        "inplace_helper_boundary", "losses_appended_once", "norm_between_particles", "nonlocal_best_energy",
        "one_key_for_all_walkers", "step_counter_for_warmup", "temperature_or_default", "uuid_as_seed",
    )
]  # fmt: skip
RIGHT = RIGHT[
    :: 1 if os.environ.get("FULL") else 3
]  # `make test-full` takes all; wrong ones are all tried


def head_of(path: Path, key: str) -> str:
    """The text of a `# key: value` line of a program, "" without one."""
    found = re.search(rf"^# {key}: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def proofs(once):
    """The proofs of all fixes, by one process that makes them in turn."""
    pairs = []
    for fixed in [*WRONG, *RIGHT]:
        broken = STRANGERS / fixed.name
        name = (head_of(broken, "expect") or head_of(broken, "error")).split("|")[0].strip()
        pairs.append([str(broken), str(fixed), name])
    path = os.pathsep.join(
        p for p in (str(HERE.parents[1] / "src"), os.environ.get("PYTHONPATH")) if p
    )

    def prove() -> str:
        done = subprocess.run(
            [sys.executable, str(HERE / "prove_all.py")],
            input=json.dumps(pairs),
            capture_output=True,
            text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path},
            timeout=900,
            check=True,
        )
        return done.stdout

    rows = [
        json.loads(line)
        for line in once("proofs", prove).splitlines()
        if line.startswith('{"fixed"')
    ]
    return {row["fixed"]: row for row in rows}


@pytest.mark.parametrize("path", WRONG, ids=lambda p: p.stem)
def test_a_wrong_fix_is_not_proven(path, proofs):
    found = proofs[str(path)]
    assert found["refuted"] or found["missing"], found


@pytest.mark.parametrize("path", RIGHT, ids=lambda p: p.stem)
def test_a_right_fix_is_proven(path, proofs):
    found = proofs[str(path)]
    assert not found["refuted"] and not found["missing"], found
    assert len(found["held"]) >= 3


def test_there_are_wrong_fixes_of_many_families():
    assert len({head_of(STRANGERS / p.name, "family") for p in WRONG}) >= 8


# --- parts -----------------------------------------------------------------------------------------

SOURCE = """\
import math


def outer(x, n):
    def inner(y):
        if y > 0:
            return y
        return -y
    return inner(x) * n


table = outer(1.0, 2)
"""


@pytest.mark.parametrize(
    ("line", "names"),
    [(6, ["outer.inner"]), (9, ["outer"]), (12, ["outer"]), (1, [])],
)
def test_the_functions_around_edited_lines(line, names):
    found = probes.find_targets("a.py", SOURCE, SOURCE, {line})
    assert [target.name for target in found] == names


def test_only_parameters_of_both_versions_are_varied():
    changed = SOURCE.replace("def outer(x, n):", "def outer(x, n, m):")
    (target,) = probes.find_targets("a.py", SOURCE, changed, {9})
    assert target.parameters == ("x", "n")
    (target,) = probes.find_targets("a.py", changed, SOURCE, {9})
    assert target.parameters == ("x", "n")


def run_instrumented(source: str, probe: probes.Probe, monkeypatch) -> tuple[dict, probes.Records]:
    monkeypatch.setattr("builtins.__sagax_probe__", None, raising=False)
    recorder = probes.start(probe)
    namespace: dict = {}
    exec(probes.instrument("a.py", source, probe), namespace)
    return namespace, recorder.records


def test_results_and_tests_of_branches_are_recorded(monkeypatch):
    targets = tuple(probes.find_targets("a.py", SOURCE, SOURCE, {6, 9}))
    namespace, records = run_instrumented(SOURCE, probes.Probe(targets), monkeypatch)
    assert namespace["table"] == 2.0
    assert records.results == {"outer.inner": [[1.0]], "outer": [[2.0]]}
    assert list(records.tests.values()) == [{True}]


def test_a_flipped_test_takes_the_other_branch(monkeypatch):
    targets = tuple(probes.find_targets("a.py", SOURCE, SOURCE, {6}))
    (test,) = probes.branch_tests(ast.parse(SOURCE), ("outer.inner",))
    namespace, _ = run_instrumented(SOURCE, probes.Probe(targets, flip=test), monkeypatch)
    assert namespace["table"] == -2.0


@pytest.mark.parametrize(
    ("how", "given", "wanted"),
    [
        (probes.SCALED, 2.0, 2.14),
        (probes.NEGATED, 2.0, -2.14),
        (probes.ZEROED, 2.0, 0.0),
        (probes.NEGATED, True, False),
        (probes.LOWERED, 3, 2),
        (probes.LOWERED, 0, 1),
        (probes.RAISED, 3, 4),
        (probes.SCALED, "text", "text"),
    ],
)
def test_how_an_argument_is_varied(how, given, wanted):
    found = probes._varied(given, how)
    assert found == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)
    assert type(found) is type(given)


def test_integers_of_an_array_stay_in_range():
    assert probes._varied(np.array([4, 0, 1]), probes.SCALED).tolist() == [1, 0, 4]


@pytest.mark.parametrize(
    ("exact", "differences", "wanted"),
    [
        (2.0, [(2.01, 1e-4), (2.0, 1e-4)], True),
        (0.0, [(0.7, 1e-4), (0.7, 1e-4)], False),
        (float("nan"), [(0.0, 1e-4), (0.0, 1e-4)], False),
        (1.0, [(3.0, 1e-4), (30.0, 1e-4), (300.0, 1e-4)], None),
        (1.0, [(float("nan"), 1e-4)], None),
    ],
)
def test_a_derivative_is_judged_by_differences_that_converge(exact, differences, wanted):
    assert derivative_checks._verdict(exact, differences, 0.0).agrees is wanted


@pytest.mark.parametrize(
    ("wanted", "got", "wildcard", "equal"),
    [
        ([1.0, 2.0], [1.0, 2.0001], False, True),
        ([1.0, float("nan")], [1.0, float("nan")], False, True),
        ([1.0, float("nan")], [float("nan"), 1.0], False, False),
        ([1.0, float("nan")], [1.0, 3.0], True, True),
        ([1.0, 3.0], [1.0, float("nan")], True, False),
        ({"a": [1]}, {"a": [2]}, False, False),
    ],
)
def test_nan_is_equal_to_nan_at_the_same_element_only(wanted, got, wildcard, equal):
    assert compare.same_values(wanted, got, wildcard) is equal


def test_kept_variables_count_beside_printed_text():
    wanted = Outcome("clean", output="1\n", results={"best": 1.0})
    assert compare.same_result(wanted, Outcome("clean", output="1\n", results={"best": 1.0}))
    assert not compare.same_result(wanted, Outcome("clean", output="1\n", results={"best": 2.0}))


# --- references ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "got", "wildcard", "equal"),
    [(np.inf, 1.0, False, False), (np.inf, 1.0, True, True), (-np.inf, -np.inf, False, True), (np.inf, -np.inf, False, False)],
)  # fmt: skip
def test_an_infinite_number_is_equal_to_itself_only(wanted, got, wildcard, equal):
    assert compare.same_values(wanted, got, wildcard) == equal
    assert compare.keeps_infinities([wanted], [got]) == (wanted == got)


def updated_in_place(text, call):
    """The variables of a program in which one call updates its arguments."""
    source = Source("p.py", text)
    (node,) = [c for c in source.nodes(ast.Call) if source.code(c) == call]
    changed = in_place_updates.instrument({"p.py": text}, [source.span(node)])
    names = {}
    exec(changed["p.py"], names)
    return names


def test_a_call_updates_the_array_of_everyone_who_holds_it():
    text = """
import sagax.numpy as snp
x = snp.zeros(2)
same = x
def bump(u):
    u.at[0].add(2.0)
bump(x)
"""
    names = updated_in_place(text, "u.at[0].add(2.0)")
    assert names["x"].tolist() == names["same"].tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    ("other", "wanted"), [("3.0 * snp.ones(2)", [1, 1]), ("snp.ones(3)", [2, 2])]
)
def test_an_argument_is_updated_if_no_other_has_the_type_of_the_result(other, wanted):
    text = f"""
import sagax.numpy as snp
def twice(x, y):
    return 2 * x
x, y = snp.ones(2), {other}
twice(x, y)
"""
    assert updated_in_place(text, "twice(x, y)")["x"].tolist() == wanted


def test_the_keys_of_dicts_are_sorted(tmp_path):
    script = tmp_path / "s.py"
    script.write_text("d = {'b': 1, 'a': {'d': 2, **other}, 3: dict(y=1, x=2)}", encoding="utf-8")
    (text,) = proof._sorted_keys(str(script), {}).values()
    assert text == "d = {'b': 1, 'a': {'d': 2, **other}, 3: dict(x=2, y=1)}"
    script.write_text("d = {'b': 1, 'a': 2}", encoding="utf-8")
    assert list(proof._sorted_keys(str(script), {}).values()) == ["d = {'a': 2, 'b': 1}"]
