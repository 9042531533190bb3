"""`sagax.plan.pipeline`, the axes of `plan.search` that need it, and the constraints that a search adds."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.sharding import AxisType, Mesh, NamedSharding
from sagax.sharding import PartitionSpec as P

sys.path.insert(0, str(Path(__file__).parent))
from test_counts import simple_count


@dataclasses.dataclass(frozen=True)
class Stack:
    """Layers of two products each, after each other."""

    layers: int = 4
    width: int = 16
    microbatches: int = 0
    rows: tuple = ()
    vocabulary: int = 0  # 0: the batch has vectors, not tokens
    remat: bool = False

    def structs(self, batch, length=4):
        n, d = self.layers, self.width
        params: dict[str, tuple] = {"up": (n, d, 4 * d), "down": (n, 4 * d, d)}
        make = sagax.ShapeDtypeStruct
        x = make((batch, length, d), "float32")
        if self.vocabulary:
            params["embedding"] = (self.vocabulary, d)
            x = make((batch, length), "int32")
        return {k: make(s, "float32") for k, s in params.items()}, x

    def arrays(self, batch):
        rng = np.random.default_rng(0)
        params, x = self.structs(batch)
        drawn = {k: rng.normal(0, 0.3, s.shape).astype("float32") for k, s in params.items()}
        return drawn, rng.normal(0, 0.3, x.shape).astype("float32")

    def loss(self, params, x):
        def cut(x):
            return lax.with_sharding_constraint(x, P(*self.rows)) if self.rows else x

        def layer(x, p):
            x = cut(x)
            return x + snp.tanh(x @ p["up"]) @ p["down"]

        if self.remat:
            layer = sagax.checkpoint(layer)
        if self.vocabulary:
            x = cut(params["embedding"][x])
            params = {k: v for k, v in params.items() if k != "embedding"}
        if self.microbatches:
            x = sagax.plan.pipeline(layer, x, params, microbatches=self.microbatches)
        else:
            x = cut(lax.scan(lambda x, p: (layer(x, p), None), x, params)[0])
        return snp.mean(x * x)

    def step(self, params, x):
        grads = sagax.grad(self.loss)(params, x)
        return sagax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def auto_mesh(devices, sizes, names):
    return Mesh(np.array(devices).reshape(sizes), names, (AxisType.Auto,) * len(sizes))


def test_a_pipeline_computes_what_its_layers_do(eight_devices):
    model = Stack(microbatches=4)
    params, x = model.arrays(8)
    expected = x.astype("float64")
    for up, down in zip(params["up"], params["down"], strict=True):
        expected = expected + np.tanh(expected @ up) @ down
    mesh = auto_mesh(eight_devices, (4, 2), ("pipeline", "data"))
    with sagax.set_mesh(mesh):
        placed = {
            k: sagax.device_put(v, NamedSharding(mesh, P("pipeline"))) for k, v in params.items()
        }
        rows = sagax.device_put(x, NamedSharding(mesh, P("data")))
        loss, grads = sagax.jit(sagax.value_and_grad(model.loss))(placed, rows)
    assert loss == pytest.approx(np.mean(expected**2), rel=1e-5)
    alone = sagax.grad(Stack().loss)(params, x)
    for name, grad in grads.items():
        np.testing.assert_allclose(grad, alone[name], rtol=1e-4, atol=1e-6)
        assert grad.sharding.spec[0] == "pipeline"


def test_a_planned_pipeline_counts_steps_in_which_stages_wait():
    model = Stack(layers=8, microbatches=8, remat=True)
    mesh = {"pipeline": 4, "data": 2}
    specs = (P("pipeline"), P("data"))
    found = sagax.plan(
        model.step, *model.structs(32), mesh=mesh, in_shardings=specs, hardware="h100-2x4"
    )
    counted = Counter()
    for c in found.collectives:
        counted[c.kind] += c.total_bytes
    assert counted == simple_count(found.program.text)
    sent = [c for c in found.collectives if c.kind == "collective-permute"]
    runs = 8 + 4 - 1
    microbatch = 32 // 8 // 2 * 4 * 16 * 4  # rows of a device, length, width, bytes
    assert [(c.axis, c.times, c.bytes) for c in sent] == [("pipeline", runs, microbatch)] * 2
    alone = sagax.plan(
        Stack(layers=8, remat=True).step, *model.structs(32), mesh={"x": 1}, hardware="h100-1"
    )
    assert found.flops.dot * 8 == alone.flops.dot * runs / 8
    gradients = [c for c in found.collectives if c.axes == ("data",) and c.bytes > 4]
    assert [(c.times, c.bytes) for c in gradients] == [(1, 2 * 2 * 16 * 64 * 4)]
    assert found.memory.peak == pytest.approx(found.memory.xla, rel=0.1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"microbatches": 16}, ["x", "8", "16 microbatches"]),
        ({"microbatches": 2}, ["microbatches", "4 stages", "use 4"]),
        ({"microbatches": 4, "layers": 6}, ["params", "6", "4 stages"]),
    ],
)
def test_pipelines_that_do_not_divide_are_named(options, words):
    model = Stack(**options)
    with pytest.raises(ValueError) as raised:
        sagax.plan(
            model.step, *model.structs(8), mesh={"pipeline": 4}, in_shardings=P(), hardware="h100-4"
        )
    for word in words:
        assert word in str(raised.value)


def test_search_tries_pipelines():
    model = Stack(layers=4, width=256, microbatches=4)
    found = sagax.plan.search(
        model.step, *model.structs(32, 64), hardware="h100-1x4", axes=("data", "pipeline")
    )
    meshes = {c.name: c for c in found.candidates}
    assert set(meshes) == {"data 4", "pipeline 2, data 2", "pipeline 4"}
    assert all(c.plan is not None for c in found.candidates)
    assert meshes["pipeline 4"].in_shardings[0] == {"up": P("pipeline"), "down": P("pipeline")}
    plain = Stack(layers=4)
    found = sagax.plan.search(
        plain.step, *plain.structs(8), hardware="h100-1x4", axes=("data", "pipeline")
    )
    assert "plan.pipeline(layer" in {c.name: c.reason for c in found.candidates}["pipeline 4"]


def test_the_constraints_of_a_search_are_code():
    model = Stack(layers=2, width=512, vocabulary=256)
    structs = model.structs(64, 16)
    found = sagax.plan.search(model.step, *structs, hardware="h100-4", axes=("fsdp",))
    best = found.candidates[0]
    assert best.mesh == {"fsdp": 4} and best.batch == P("fsdp")
    assert (
        "test_pipeline.py:" in found.code()
        and "with_sharding_constraint(x, P('fsdp'))" in found.code()
    )
    # the user who writes them gets what was planned
    by_hand = dataclasses.replace(model, rows=("fsdp",))
    again = sagax.plan(
        by_hand.step, *structs, mesh=best.mesh, in_shardings=best.in_shardings, hardware="h100-4"
    )
    exchanged = [
        sorted((c.kind, c.bytes, c.times) for c in p.collectives) for p in (again, found.best)
    ]
    assert exchanged[0] == exchanged[1]
    left = sagax.plan(
        model.step, *structs, mesh=best.mesh, in_shardings=best.in_shardings, hardware="h100-4"
    )
    assert found.best.seconds < left.seconds


def test_search_over_the_sequence_keeps_it_cut():
    model = Stack(layers=2, width=64)
    found = sagax.plan.search(
        model.step, *model.structs(2, 64), hardware="h100-4", axes=("sequence",)
    )
    best = found.candidates[0]
    assert best.mesh == {"sequence": 4}
    assert best.in_shardings[1] == P(None, "sequence")
    # each device computes its part of the sequence: only gradients are exchanged
    alone = sagax.plan(model.step, *model.structs(2, 64), mesh={"x": 1}, hardware="h100-1")
    assert found.best.flops.dot * 4 == alone.flops.dot
