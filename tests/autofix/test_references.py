"""References of programs that fail without transformations too, and data that a comparison varies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sagax
import sagax.random as random
from autofix.test_explain import FULL, explained, header, same
from autofix.test_proof import run_instrumented
from sagax._autofix import probes
from sagax._autofix.repairs.case import Candidate
from sagax._autofix.search import _Attempt
from sagax._src.diagnostics.model import Edit, Span

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src"

RUN_ALL = """
import json, sys
from sagax._autofix.run_task import Task
from sagax._autofix.subprocess_runs import run
for path in sys.argv[1:]:
    outcome = run(Task(path, untransformed=True, assume=True), 60.0)
    print(json.dumps([path, outcome.status, outcome.output.strip(), outcome.assumed]))
"""

RULE = """
import jax
@jax.custom_vjp
def cube(x):
    return x**3
cube.defvjp(lambda x: (cube(x), x), lambda x, ct: 3 * x**2 * ct)
print(float(jax.grad(cube)(2.0)))
"""
TREES = """
import jax
import jax.numpy as jnp
weights = {"a": jnp.ones(2), "b": jnp.ones(3)}
print({k: v.tolist() for k, v in jax.tree.map(lambda w, s: w - s, weights, SLOPES).items()})
"""
INDEX = """
import jax.numpy as jnp
print(jnp.array([5, 7, 9])[jnp.array(POSITIONS)].tolist())
"""
MAPPED = """
import jax
import jax.numpy as jnp
weights = {"a": jnp.ones((3, 2)), "b": jnp.ones(2)}
print(jax.vmap(lambda w, x: x @ w["a"] + w["b"])(weights, jnp.ones(SHAPE)).tolist())
"""
AXES = """
import jax
import jax.numpy as jnp
members = {"w": jnp.array([[1.0, 2.0], [3.0, 4.0]]), "x": jnp.array([1.0, 10.0])}
print(jax.vmap(lambda p: p["w"] @ p["x"], in_axes={"w": 0, "x": None})(members).tolist())
"""
DIRECTION = """
import jax
print([float(x) for x in jax.jvp(lambda x: x**3, 2.0, DIRECTION)])
"""
UNPACKED = """
import jax
import jax.numpy as jnp
def leaf(p, g):
    return p - g, 2 * g
trees = {"a": jnp.ones(2), "b": jnp.ones(1), "c": jnp.zeros(1)}
NAMES = jax.tree.map(leaf, trees, trees)
print(PRINTED)
"""
AXES_OF_TORCH = """
import jax.numpy as jnp
print(jnp.arange(12).reshape(2, 3, 2).transpose(ORDER).tolist()[1])
"""
SPECS = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
scaled = jax.shard_map(lambda x, r: r * x, mesh=mesh, in_specs=P("data"), out_specs=P("data"))
print(scaled(jnp.arange(3.0), jnp.array(2.0)).tolist())
"""
RULES = "derivatives by operations, without rules of their own"

# the text of a program, its output, and what is assumed; None where it has no result
CASES = {
    "a rule that returns no tuple": (RULE, "12.0", [RULES]),
    "a list of slopes for a dict of weights": (
        TREES.replace("SLOPES", "[jnp.zeros(2), jnp.ones(3)]"),
        "{'a': [1.0, 1.0], 'b': [0.0, 0.0, 0.0]}", ["trees paired leaf by leaf"],
    ),
    "leaves of other shapes": (TREES.replace("SLOPES", "[jnp.zeros(3), jnp.ones(2)]"), None, []),
    "fewer leaves": (TREES.replace("SLOPES", "[jnp.zeros(2)]"), None, []),
    "whole numbers": (
        INDEX.replace("POSITIONS", "[2.0, 0.0]"), "[9, 5]", ["whole numbers as indices"],
    ),
    "broken numbers": (INDEX.replace("POSITIONS", "[0.5, 1.0]"), None, []),
    "weights beside rows": (
        MAPPED.replace("SHAPE", "(4, 3)"), str([[4.0, 4.0]] * 4),
        ["arguments not mapped that have no axis of one size"],
    ),
    "nothing to map over": (MAPPED.replace("SHAPE", "()"), None, []),
    "axes of one dict": (AXES, "[21.0, 43.0]", ["`in_axes` as that of the one argument"]),
    "a direction without a tuple": (
        DIRECTION.replace("DIRECTION", "(1.0,)"), "[8.0, 12.0]", ["primals and tangents of one argument"],
    ),
    "neither in a tuple": (
        DIRECTION.replace("DIRECTION", "0.5"), "[8.0, 6.0]", ["primals and tangents of one argument"],
    ),
    "results of leaves": (
        UNPACKED.replace("NAMES", "p, g").replace("PRINTED", "p['a'].tolist(), g['b'].tolist()"),
        "[0.0, 0.0] [2.0]", ["results of each leaf unpacked"],
    ),
    "results of leaves in one tree": (
        UNPACKED.replace("NAMES", "both").replace("PRINTED", "both['a'][1].tolist()"), "[2.0, 2.0]", [],
    ),
    "more names than results": (
        UNPACKED.replace("NAMES", "p, g, h, i").replace("PRINTED", "p"), None, [],
    ),
    "two axes": (
        AXES_OF_TORCH.replace("ORDER", "-2, -1"), "[[6, 8, 10], [7, 9, 11]]",
        ["two axes for `transpose` as those to exchange"],
    ),
    "all axes": (AXES_OF_TORCH.replace("ORDER", "2, 0, 1"), "[[1, 3, 5], [7, 9, 11]]", []),
    "a number under a spec": (SPECS, "[0.0, 2.0, 4.0]", ["specs as short as their arguments"]),
    "nothing to assume": (INDEX.replace("POSITIONS", "[1]"), "[7]", []),
}  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    names = {}
    for i, (name, (text, *_)) in enumerate(CASES.items()):
        path = folder / f"p{i}.py"
        path.write_text(text, encoding="utf-8")
        names[str(path)] = name
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, *names],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(SOURCE)},
        timeout=300,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {names[path]: rest for path, *rest in rows if path in names}


@pytest.mark.parametrize("name", CASES)
def test_a_reference_with_assumptions(name, outcomes):
    _, wanted, assumed = CASES[name]
    status, output, noted = outcomes[name]
    if wanted is None:
        assert status == "error"
    else:
        assert (status, output, noted) == ("clean", wanted, assumed)


# programs whose fixes are proven by such references, or by results that are compared call by call
PROVEN = ["two_masks_from_one_key", "momenta_in_another_tree", "cotangent_without_a_tuple"]
if FULL:
    PROVEN += ["one_set_of_weights_many_rows", "bins_by_floor"]


def test_fixes_are_proven_by_a_reference_with_assumptions():
    paths = [HERE / "commuters" / f"{name}.py" for name in PROVEN]
    reports = explained(paths)
    for path in paths:
        found = [s for s in reports[path.stem]["suggestions"] if s["grade"] == "proven"]
        assert found, reports[path.stem]
        for suggestion in found:
            assert same(suggestion["output"], header(path)["result"]), suggestion


DATA = """\
import math as m

SIZE, rate = 3, 0.5
scale = 2.0
grid = [scale * float(i) for i in range(4)]


def area(r):
    return m.pi * r**2


found = area(scale)
scale = 5.0
table = {"a": m.sqrt(scale), "f": lambda x: x}
"""


def test_data_is_what_only_libraries_and_other_data_compute():
    found = probes.find_data("a.py", DATA, DATA)
    assert found is not None and found.parameters == ("scale", "grid")


def test_data_that_the_fix_changes_is_not_varied():
    changed = DATA.replace("scale = 2.0", "scale = 3.0")
    found = probes.find_data("a.py", DATA, changed)
    assert found is not None and found.parameters == ("grid",)
    assert probes.find_data("a.py", "x = area(2.0)\n", "x = area(2.0)\n") is None


def test_data_is_varied_where_it_is_first_given(monkeypatch):
    target = probes.find_data("a.py", DATA, DATA)
    probe = probes.Probe((target,), vary=probes.SCALED)
    names, records = run_instrumented(DATA, probe, monkeypatch)
    assert names["grid"][1] == pytest.approx(2.0 * 1.07**2)
    assert names["found"] == pytest.approx(3.14159265 * 2.14**2)
    assert names["scale"] == 5.0
    assert records.varied == 1 + 4


@pytest.mark.parametrize("shape", [(), (3,)])
def test_keys_are_varied_to_other_keys_of_their_shape(shape):
    keys = random.split(random.key(3), shape) if shape else random.key(3)
    changed = probes.Recorder(probes.Probe(vary=probes.SCALED)).vary("key", keys)
    before, after = random.key_data(keys), random.key_data(changed)
    assert after.shape == before.shape
    assert bool(sagax.numpy.all((before != after).any(-1)))


def test_keys_stay_where_draws_do_not_depend_on_them():
    key = random.key(3)
    recorder = probes.Recorder(probes.Probe(vary=probes.SCALED, same_draws=True))
    assert recorder.vary("key", key) is key
    assert recorder.records.varied == 0


@pytest.mark.parametrize(("line", "guess"), [(3, True), (9, False)])
def test_a_step_on_the_line_of_another_is_a_guess(line, guess):
    steps = [
        Candidate("reshape", "a step", (Edit(Span("a.py", at, 4, at, 8, "left"), text),))
        for at, text in ((3, "left[:, None]"), (line, "left.mT"))
    ]
    assert _Attempt({}, tuple(steps)).assumes is guess
    assert not _Attempt({}, tuple(steps[:1])).assumes
