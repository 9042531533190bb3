"""`sagax.plan`: bad input, warnings, reports, the search, failures, and its own cost."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._plan import timing
from sagax._plan.failures import daly_interval, efficiency
from sagax._plan.memory import argument_roles
from sagax._plan.partition import trace
from sagax._plan.roles import roles_of
from sagax._plan.timing import seconds_of
from sagax.sharding import AbstractMesh, Mesh, NamedSharding
from sagax.sharding import PartitionSpec as P

sys.path.insert(0, str(Path(__file__).parent))
from models import GPT, SMALL, digits_step, digits_structs

X = sagax.ShapeDtypeStruct((64, 48), "float32")


def product(x):
    return x @ x.T


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mesh", "spec", "hardware", "words"),
    [
        (
            {"x": 10},
            P("x"),
            "h100-10",
            ["in_shardings for x", "dimension 0", "64", "10 parts", "70"],
        ),
        ({"x": 16}, P(None, ("x",)), "h100-8x2", None),
        ({"x": 32}, P(None, "x"), "h100-8x4", ["dimension 1", "48", "cut dimension 0 instead"]),
        ({"x": 8}, P("y"), "h100-8", ["'y'", "'x'", "mesh"]),
        ({"x": 8}, P("x", None, None), "h100-8", ["3 entries", "2 dimensions"]),
        ({"x": 8}, P("x"), "h100-16", ["8 devices", "h100-16", "16"]),
        ({"x": 32}, P("x"), "h200-8x2", ["32 devices", "h200-8x4"]),
        ({"x": 8}, P("x"), "h300-8", ["h300-8", "h200", "v5p", "measured"]),
        ({"x": 8}, P("x"), 8, ["hardware", "h200-8x32"]),
        ({"x": 0}, P("x"), "h100-8", ["mesh", "positive"]),
        (8, P("x"), "h100-8", ["mesh", "AbstractMesh"]),
        ({"x": 8}, {"y": P("x")}, "h100-8", ["in_shardings", "prefix"]),
        ({"x": 8}, 3, "h100-8", ["in_shardings", "PartitionSpec"]),
    ],
)
def test_bad_meshes_specs_and_hardware_are_named(mesh, spec, hardware, words):
    def run():
        return sagax.plan(product, X, mesh=mesh, in_shardings=(spec,), hardware=hardware)

    if words is None:
        assert run().devices == 16
        return
    with pytest.raises((ValueError, TypeError)) as raised:
        run()
    for word in words:
        assert word in str(raised.value)


def test_a_program_that_calls_python_is_refused():
    def printing(x):
        sagax.debug.print("{}", snp.sum(x))
        return x

    def calling(x):
        return sagax.pure_callback(np.sin, X, x)

    for step in (printing, calling):
        with pytest.raises(NotImplementedError, match=step.__name__):
            sagax.plan(step, X, mesh={"x": 8}, hardware="h100-8", in_shardings=P("x"))


def test_missing_figures_are_named():
    chip = sagax.plan.Hardware("mine", {"bfloat16": 1e14}, 1e12, 1e10, 1e12, chips_per_node=8)
    struct = sagax.ShapeDtypeStruct((64, 64), "float32")
    with pytest.raises(ValueError, match="no figure for matrix products of float32"):
        sagax.plan(product, struct, mesh={"x": 1}, hardware=chip.replace(chips_per_node=1))
    chip = chip.replace(flops={"float32": 1e14})
    with pytest.raises(ValueError, match=r"links within a node.*"):
        sagax.plan(product, struct, mesh={"x": 8}, hardware=chip, in_shardings=P("x"))
    found = sagax.plan(
        product, struct, mesh={"x": 8}, hardware=chip.replace(link=1e10), in_shardings=P("x")
    )
    assert found.seconds > 0
    for name, figure in (("bandwidth", 0.0), ("network", -1.0), ("flops", {"float32": 0.0})):
        with pytest.raises(ValueError, match=name):
            chip.replace(**{name: figure})


def test_results_that_do_not_divide_and_axes_that_are_named_twice():
    struct = sagax.ShapeDtypeStruct((60, 32), "float32")
    with pytest.raises(ValueError, match="60, and P\\('x',\\) cuts it into 8"):
        sagax.plan(snp.sin, struct, mesh={"x": 8}, hardware="h100-8", out_shardings=P("x"))
    with pytest.raises(ValueError, match="duplicate entries for 'x'"):
        sagax.plan(snp.sin, struct, mesh={"x": 8}, hardware="h100-8", in_shardings=P("x", "x"))


def test_static_arguments_and_shapes_that_are_not_known_are_refused():
    step = sagax.jit(lambda x, n: x * n, static_argnums=1)
    with pytest.raises(ValueError, match=r"functools\.partial"):
        sagax.plan(step, X, 2, mesh={"x": 8}, hardware="h100-8")
    (n,) = sagax.export.symbolic_shape("n")
    with pytest.raises(ValueError, match="not known before the step runs"):
        struct = sagax.ShapeDtypeStruct((n, 3), "float32")
        sagax.plan(lambda x: x, struct, mesh={"x": 8}, hardware="h100-8")


def test_a_step_that_names_its_mesh(eight_devices):
    mesh = Mesh(np.array(eight_devices).reshape(4, 2), ("a", "b"))

    def step(x):
        return lax.with_sharding_constraint(snp.sin(x), NamedSharding(mesh, P(None, "b")))

    x = sagax.device_put(np.zeros((64, 64), np.float32), NamedSharding(mesh, P("a", "b")))
    found = sagax.plan(step, x, mesh=mesh, hardware="h100-8")
    assert [(c.kind, c.axis, c.bytes) for c in found.collectives] == [
        ("all-gather", "a", 64 * 32 * 4)
    ]
    compiled = sagax.jit(step).lower(x).compile()
    assert compiled.as_text().count("all-gather(") == 1


def test_shardings_of_the_arguments_are_used():
    mesh = AbstractMesh((8,), ("x",), (sagax.sharding.AxisType.Auto,))
    struct = sagax.ShapeDtypeStruct((64, 64), "float32", sharding=NamedSharding(mesh, P("x")))
    found = sagax.plan(lambda x: snp.sum(x, 0), struct, mesh=mesh, hardware="h100-8")
    assert [(c.kind, c.bytes) for c in found.collectives] == [("all-reduce", 256)]


def test_hardware_is_measured():
    found = sagax.plan.Hardware.measured(1)
    assert found.devices == 1
    assert found.rate("float32") > found.vector / 10 > 0
    assert found.bandwidth > 0 and found.link is None


# --- warnings -------------------------------------------------------------------------------------------


def test_a_value_laid_out_anew_is_found_with_its_line():
    struct = sagax.ShapeDtypeStruct((512, 512), "float32")

    def step(x):
        return snp.flip(snp.sin(x), 0) + x

    line = step.__code__.co_firstlineno + 1
    found = sagax.plan(step, struct, mesh={"x": 8}, hardware="h100-8", in_shardings=P("x"))
    kinds = [w.kind for w in found.warnings]
    assert "resharding" in kinds
    (one,) = [w for w in found.warnings if w.kind == "resharding"]
    assert (Path(one.source.file).name, one.source.line) == (Path(__file__).name, line)
    assert "with_sharding_constraint(x, P(None, 'x'))" in one.fix
    advised = sagax.plan(step, struct, mesh={"x": 8}, hardware="h100-8", in_shardings=P(None, "x"))
    assert advised.collectives == [] and advised.warnings == []


def test_heads_that_an_axis_does_not_divide_are_found_with_their_line():
    def step(heads, x, w):
        y = x @ w
        y = y.reshape(64, 32, heads, 64)
        return snp.einsum("bthd,bshd->bhts", y, y)

    def plan(heads):
        x = sagax.ShapeDtypeStruct((64, 32, 384), "float32")
        w = sagax.ShapeDtypeStruct((384, heads * 64), "float32")
        bound = functools.partial(step, heads)
        specs = (P(), P(None, "t"))
        return sagax.plan(bound, x, w, mesh={"t": 8}, in_shardings=specs, hardware="h100-8")

    (one,) = [w for w in plan(6).warnings if w.kind == "not divided"]
    assert (Path(one.source.file).name, one.source.line) == (
        Path(__file__).name,
        step.__code__.co_firstlineno + 2,
    )
    assert "384 into 6 x 64" in one.message and "not 6" in one.message
    assert one.fix == "use an axis 't' of 2 devices, or 8 in place of 6"
    advised = plan(8)
    assert advised.collectives == [] and advised.warnings == []


def test_asked_exchanges_are_not_warned_of():
    struct = sagax.ShapeDtypeStruct((512, 512), "float32")

    def step(x):
        return lax.with_sharding_constraint(snp.sin(x), P(None, "x"))

    found = sagax.plan(step, struct, mesh={"x": 8}, hardware="h100-8", in_shardings=P("x"))
    assert [c.kind for c in found.collectives] == ["all-to-all"]
    assert found.warnings == []


def test_replicated_arrays_and_idle_axes_are_found():
    struct = sagax.ShapeDtypeStruct((32768, 65536), "float32")
    small = sagax.ShapeDtypeStruct((64, 32768), "float32")
    found = sagax.plan(
        lambda x, w: x @ w,
        small,
        struct,
        mesh={"data": 4, "idle": 2},
        hardware="h100-8",
        in_shardings=(P("data"), P()),
    )
    by_kind = {w.kind: w for w in found.warnings}
    assert "8 copies" in by_kind["replicated"].message
    assert by_kind["replicated"].fix.startswith("P(None, 'data')")
    assert "'idle'" in by_kind["idle axis"].message
    assert "w, 8 GiB" in by_kind["replicated"].message


def test_a_step_that_does_not_fit_is_found():
    struct = sagax.ShapeDtypeStruct((262144, 131072), "float32")
    found = sagax.plan(snp.sin, struct, mesh={"x": 1}, hardware="h100-1", in_shardings=P("x"))
    assert not found.fits
    assert any(w.kind == "memory" for w in found.warnings)


def test_activations_that_lose_the_cut_of_the_batch_are_found():
    mesh = {"data": 2, "fsdp": 4}
    model = GPT(layers=2, width=256, heads=4, vocabulary=512, length=64)
    specs = model.specs("data", "fsdp")
    structs = model.structs(32)
    left = sagax.plan(model.step, *structs, mesh=mesh, in_shardings=specs, hardware="h100-8")
    kept = dataclasses.replace(model, rows=("data", "fsdp"))
    right = sagax.plan(kept.step, *structs, mesh=mesh, in_shardings=specs, hardware="h100-8")
    given_up = [w for w in left.warnings if w.kind == "batch given up"]
    assert given_up and "P(('data', 'fsdp'))" in given_up[0].fix
    assert not [w for w in right.warnings if w.kind == "batch given up"]
    assert sum(c.total_bytes for c in right.collectives) < sum(
        c.total_bytes for c in left.collectives
    )


# --- reports --------------------------------------------------------------------------------------------


def test_text_json_and_page(tmp_path):
    mesh = AbstractMesh((2, 4), ("data", "tensor"), (sagax.sharding.AxisType.Auto,) * 2)
    found = sagax.plan(
        sagax.jit(SMALL.step, donate_argnums=0),
        *SMALL.structs(8),
        mesh=mesh,
        in_shardings=SMALL.specs("data", None, "tensor"),
        hardware="h100-4x2",
    )
    text = str(found)
    assert max(map(len, text.split("\n"))) <= 80
    for word in ("parameters", "optimizer state", "all-reduce", "between nodes", "models.py:"):
        assert word in text
    data = json.loads(found.json())
    assert data["devices"] == 8
    assert data["seconds"]["best"] <= data["seconds"]["worst"] == found.seconds
    assert sum(data["memory"]["categories"].values()) == data["memory"]["peak"]
    assert len(data["collectives"]) == len(found.collectives)
    found.page(str(tmp_path / "plan.html"))
    assert "0.6 to 0.9 of the latter" in text
    page = (tmp_path / "plan.html").read_text()
    assert page.count("<rect") > 10 and "</html>" in page


def test_reports_say_how_far_off_the_worst_case_was():
    path = Path(__file__).parents[2] / "benchmarks" / "results" / "plan.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    rows = [r for found in results["measured"].values() for r in found]
    for r in rows:
        assert min(r["shares"]) - 1e-4 <= r["measured"] / r["worst"] <= max(r["shares"]) + 1e-4
    steps = [share for r in rows for share in r["shares"]]
    runs = [r["worst"] / r["published"] for r in results["published"].values()]
    for shares, (low, high) in ((steps, timing.MEASURED), (runs, timing.PUBLISHED)):
        assert low <= min(shares) <= low + 0.01
        assert high - 0.01 <= max(shares) <= high + 0.01


def test_bounds_and_utilization():
    found = sagax.plan(digits_step, *digits_structs(64), mesh={"x": 1}, hardware="h100-1")
    best, worst = found.timing.best, found.timing.worst
    assert 0 < best <= worst
    assert 0 < found.timing.utilization[0] <= found.timing.utilization[1] <= 1
    slower = sagax.plan.Hardware.named("h100-1").replace(bandwidth=3.35e11)
    again = sagax.plan(digits_step, *digits_structs(64), mesh={"x": 1}, hardware=slower)
    assert again.seconds > found.seconds
    assert again.timing.dominating == "memory"


def test_seconds_of_collectives_follow_the_formulas():
    struct = sagax.ShapeDtypeStruct((8192, 8192), "float32")
    chip = sagax.plan.Hardware.named("h100-8x2").replace(link_latency=0.0, network_latency=0.0)

    def gather(hardware, mesh, spec):
        found = sagax.plan(
            lambda x: lax.with_sharding_constraint(snp.sin(x), P()),
            struct,
            mesh=mesh,
            in_shardings=spec,
            hardware=hardware,
        )
        (one,) = found.collectives
        return seconds_of(one, hardware)

    size = 8192 * 8192 * 4
    inside = gather(chip.replace(nodes=1), {"x": 8}, P("x"))
    assert inside == pytest.approx((size * 7 / 8 / 450e9, 0))
    both = gather(chip, {"x": 16}, P("x"))
    assert both == pytest.approx((size * 7 / 8 / 450e9, size / 8 / 2 / 50e9))


def test_sums_of_which_a_part_is_used_take_the_time_of_a_reduce_scatter():
    struct = sagax.ShapeDtypeStruct((1024, 1024), "float32")
    chip = sagax.plan.Hardware.named("h100-8").replace(link_latency=0.0)
    specs = (P(None, "x"), P("x"))

    def time_of(out):
        found = sagax.plan(
            lambda x, y: x @ y,
            struct,
            struct,
            mesh={"x": 8},
            in_shardings=specs,
            out_shardings=out,
            hardware=chip,
        )
        (one,) = found.collectives
        return one.scattered, seconds_of(one, chip)[0]

    once = 1024 * 1024 * 4 * 7 / 8 / 450e9
    assert time_of(P()) == (False, pytest.approx(2 * once))
    assert time_of(P("x")) == (True, pytest.approx(once))


# --- search and failures ----------------------------------------------------------------------------------


def test_roles_follow_the_products():
    model = GPT(layers=3, width=96, heads=4, vocabulary=160, length=32)
    traced = trace(model.step, model.structs(4))
    categories = argument_roles(traced.jaxpr, traced.leaves)
    roles = roles_of(traced.jaxpr, categories)
    by_name = {leaf.name: r for leaf, r in zip(traced.leaves, roles, strict=True)}
    cut = {n.split("'")[3]: r.tensor for n, r in by_name.items() if "params" in n}
    assert cut == {"qkv": 3, "out": 1, "up": 2, "down": 1, "embedding": 0, "scale": None}
    assert all(by_name[f"state['params'][{k!r}]"].layers == {0} for k in ("qkv", "out", "up"))


def test_search_ranks_and_says_why():
    model = GPT(layers=2, width=512, heads=8, vocabulary=1024, length=64)
    step = sagax.jit(model.step, donate_argnums=0)
    found = sagax.plan.search(step, *model.structs(16), hardware="h100-4x2", limit=3)
    planned = [c for c in found.candidates if c.plan is not None]
    assert len(planned) == 3
    seconds = [c.plan.seconds for c in planned if c.plan is not None]
    assert seconds == sorted(seconds)
    assert planned[0].reason == "" and all(c.reason for c in found.candidates[1:])
    names = {}
    exec(found.code().partition("\n\n")[0] + "\nimport sagax", names)
    text = found.code().partition("in_shardings = ")[2].partition("\n\ndef ")[0]
    specs, batch = eval(text, names), planned[0].batch
    written = dataclasses.replace(model, rows=batch.axes(0) if batch else ())
    again = sagax.plan(
        sagax.jit(written.step, donate_argnums=0),
        *model.structs(16),
        mesh=planned[0].mesh,
        in_shardings=specs,
        hardware="h100-4x2",
    )
    assert again.seconds == pytest.approx(found.best.seconds, rel=0.05)
    assert "not tried" in str(found)


def test_search_excludes_what_cannot_be():
    step, structs = digits_step, digits_structs(6)
    with pytest.raises(ValueError, match="do not divide"):
        sagax.plan.search(step, *structs, hardware="h100-4", axes=("data",))
    with pytest.raises(ValueError, match="'expert'"):
        sagax.plan.search(step, *structs, hardware="h100-4", axes=("expert",))


def test_search_over_tensor_cuts_the_parameters():
    model = GPT(layers=2, width=256, heads=4, vocabulary=512, length=64)
    found = sagax.plan.search(
        model.step, *model.structs(8), hardware="h100-4", axes=("tensor",), limit=4
    )
    specs = found.candidates[0].in_shardings[0]["params"]
    assert found.candidates[0].mesh == {"tensor": 4}
    assert specs["up"] == P(None, None, "tensor") and specs["down"] == P(None, "tensor")


def test_the_interval_between_checkpoints_wastes_least():
    found = sagax.plan.failures(4096, save_seconds=60.0, restart_seconds=300.0)
    assert found.between_failures == pytest.approx(found.young**2 / 120)
    near = [
        efficiency(found.daly * k, 60.0, 300.0, found.between_failures) for k in (0.9, 1.0, 1.1)
    ]
    assert near[1] == max(near) == found.efficiency
    assert daly_interval(1e9, 10.0) == 10.0
    assert efficiency(1e9, 1.0, 1.0, 1.0) == 0.0
    with pytest.raises(ValueError, match="save_seconds"):
        sagax.plan.failures(4096)
    with pytest.raises(ValueError, match="devices"):
        sagax.plan.failures(0, save_seconds=1.0)


def test_failures_of_a_plan_know_its_checkpoint():
    found = sagax.plan(digits_step, *digits_structs(64), mesh={"x": 1}, hardware="h100-1")
    later = sagax.plan.failures(found, storage_bandwidth=1e3)
    size = found.memory.parameters + found.memory.optimizer_state
    assert later.save == size / 1e3
    assert later.steps == max(1, round(later.daly / found.seconds))
    assert "save for" in str(later)


# --- its own cost -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_planning_48_layers_on_4096_devices_is_quick():
    model = GPT(48, 1024, 16, 8192, 1024, "bfloat16", remat=True, rows=("data", "fsdp"))
    start = time.process_time()  # of all threads: other work on the machine does not count
    found = sagax.plan(
        sagax.jit(model.step, donate_argnums=0),
        *model.structs(2048),
        mesh={"data": 512, "fsdp": 4, "tensor": 2},
        in_shardings=model.specs("data", "fsdp", "tensor"),
        hardware="h200-8x512",
    )
    assert time.process_time() - start < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 * 2**20
    assert found.devices == 4096
    tokens = 2048 * 1024
    assert found.flops.dot * 4096 == pytest.approx(model.matmul_flops(tokens), rel=0.1)
    assert math.isfinite(found.seconds)
