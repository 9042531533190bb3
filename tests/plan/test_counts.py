"""The counts of a plan against independent ones: XLA's text, closed formulas, memory_analysis."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax
from sagax._plan import groups, hlo
from sagax._plan.partition import partition
from sagax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from sagax.sharding import PartitionSpec as P

sys.path.insert(0, str(Path(__file__).parent))
from models import SMALL, digits_step, digits_structs

BYTES = {"f32": 4, "s32": 4, "u32": 4, "pred": 1, "bf16": 2}


def simple_count(text):
    """Count bytes of collectives by kind: the lines of each computation, times its loops' trip counts."""
    bodies = dict(re.findall(r"body=%([\w.\-]+).*?\"known_trip_count\":\{\"n\":\"(\d+)\"", text))
    parents, here = {}, ""
    for line in text.split("\n"):
        if (head := re.match(r"(?:ENTRY )?%([\w.\-]+) \(.*\{$", line)) is not None:
            here = head[1]
        for callee in re.findall(r"(?:body|to_apply)=%([\w.\-]+)", line):
            parents[callee] = here
    found, here = Counter(), ""
    for line in text.split("\n"):
        if (head := re.match(r"(?:ENTRY )?%([\w.\-]+) \(.*\{$", line)) is not None:
            here = head[1]
        pattern = r" = (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)\("
        if (one := re.search(pattern, line)) is None:
            continue
        size = 0
        for dtype, sizes in re.findall(r"(\w+)\[([\d,]*)\]", one[1]):
            n = BYTES[dtype]
            for k in filter(None, sizes.split(",")):
                n *= int(k)
            size += n
        if one[2] == "reduce-scatter":
            size *= int(re.findall(r"replica_groups=\[\d+,(\d+)\]", line)[0])
        where = here
        while where:
            size *= int(bodies.get(where, 1))
            where = parents.get(where)
        found[one[2]] += size
    return found


MESHES = [
    ({"data": 8}, {"fsdp": None, "tensor": None}),
    ({"data": 2, "fsdp": 4}, {"fsdp": "fsdp", "tensor": None}),
    ({"data": 2, "tensor": 4}, {"fsdp": None, "tensor": "tensor"}),
    ({"data": 2, "fsdp": 2, "tensor": 2}, {"fsdp": "fsdp", "tensor": "tensor"}),
    ({"data": 32, "fsdp": 4, "tensor": 2}, {"fsdp": "fsdp", "tensor": "tensor"}),
]


def plan_gpt(model, mesh, axes, batch=None, **options):
    count = 1
    for n in mesh.values():
        count *= n
    structs = model.structs(batch or 2 * count)
    return sagax.plan(
        sagax.jit(model.step, donate_argnums=0),
        *structs,
        mesh=mesh,
        in_shardings=model.specs("data", **axes),
        hardware=f"h100-8x{count // 8}" if count >= 8 else f"h100-{count}",
        **options,
    )


@pytest.mark.parametrize(("mesh", "axes"), MESHES, ids=lambda x: "-".join(map(str, x.values())))
def test_collectives_and_memory_are_xlas(mesh, axes):
    found = plan_gpt(SMALL, mesh, axes)
    counted = Counter()
    for c in found.collectives:
        counted[c.kind] += c.total_bytes
    assert counted == simple_count(found.program.text)
    assert all(set(c.axes) <= set(mesh) for c in found.collectives)
    assert found.memory.peak == pytest.approx(found.memory.xla, rel=0.1)
    assert found.memory.xla > 0
    assert sum(found.memory.categories.values()) == found.memory.peak


def test_flops_of_a_gpt_step_are_those_of_the_formula():
    alone = plan_gpt(SMALL, {"data": 1}, {"fsdp": None, "tensor": None}, batch=4)
    assert alone.flops.dot == pytest.approx(SMALL.matmul_flops(4 * SMALL.length), rel=0.01)
    several = plan_gpt(SMALL, {"data": 8}, {"fsdp": None, "tensor": None}, batch=32)
    assert several.flops.dot == alone.flops.dot


def test_flops_under_tensor_parallelism_are_divided():
    mesh, axes = {"data": 2, "tensor": 4}, {"fsdp": None, "tensor": "tensor"}
    found = plan_gpt(SMALL, mesh, axes, batch=8)
    assert found.flops.dot * 8 == pytest.approx(SMALL.matmul_flops(8 * SMALL.length), rel=0.01)


def test_arguments_are_told_apart():
    found = plan_gpt(SMALL, {"data": 8}, {"fsdp": None, "tensor": None})
    size = 4 * sum(snp.prod(snp.array(s)).item() for s in SMALL.shapes().values())
    assert found.memory.parameters == size
    assert found.memory.optimizer_state == 2 * size
    assert found.memory.activations > 0


def test_axes_and_sources_of_collectives():
    struct = sagax.ShapeDtypeStruct((64, 64), "float32")

    def step(x, y):
        return snp.sin(x) @ y

    line = step.__code__.co_firstlineno + 1
    specs = (P("a", "b"), P("b"))
    found = sagax.plan(
        step, struct, struct, mesh={"a": 2, "b": 4}, hardware="h100-4x2", in_shardings=specs
    )
    (one,) = found.collectives
    assert (one.kind, one.bytes, one.axis, one.times, one.size) == (
        "all-reduce",
        32 * 64 * 4,
        "b",
        1,
        4,
    )
    assert (Path(one.source.file).name, one.source.line) == (Path(__file__).name, line)
    assert found.flops.dot == 2 * 32 * 16 * 64
    assert found.flops.transcendental == 32 * 16


def test_16_bit_collectives_count_16_bits():
    model = sagax.ShapeDtypeStruct((256, 256), "bfloat16")

    def step(x, y):
        return x @ y

    specs = (P(None, "x"), P("x"))
    found = sagax.plan(step, model, model, mesh={"x": 8}, hardware="h100-8", in_shardings=specs)
    assert [(c.kind, c.bytes, c.types) for c in found.collectives] == [
        ("all-reduce", 256 * 256 * 2, ("bf16[256,256]",))
    ]
    assert dict(found.counts.events[0].dots) == {} or found.flops.dot == 2 * 256 * 256 * 32


def test_loops_count_as_often_as_they_run():
    def step(x, w):
        return lax.scan(lambda x, w: (snp.tanh(x @ w), None), x, w)[0]

    x = sagax.ShapeDtypeStruct((32, 64), "float32")
    w = sagax.ShapeDtypeStruct((12, 64, 64), "float32")
    mesh = AbstractMesh((4,), ("t",), (sagax.sharding.AxisType.Auto,))
    found = sagax.plan(
        step, x, w, mesh=mesh, hardware="v5p-4", in_shardings=(P(), P(None, "t", None))
    )
    assert found.flops.dot == 12 * 2 * 32 * 64 * 16
    sums = [c for c in found.collectives if c.kind == "all-reduce"]
    assert [(c.times, c.bytes) for c in sums] == [(12, 32 * 64 * 4)]


def test_a_step_on_1_device_exchanges_nothing():
    found = sagax.plan(digits_step, *digits_structs(32), mesh={"x": 1}, hardware="h100-1")
    assert found.collectives == []
    assert found.seconds > 0


def test_groups_in_all_forms():
    def read(text, count=8):
        one = hlo.Instruction("i", "all-reduce", (), False, (), text, "", False)
        return groups.groups_of(one, count)

    rows = read("replica_groups={{0,1},{2,3}}").rows
    assert rows.tolist() == [[0, 1], [2, 3]]
    assert read("replica_groups=[2,4]<=[8]").rows.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    crossed = read("replica_groups=[2,4]<=[4,2]T(1,0)")
    assert crossed.rows.tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert groups.axes_of(crossed, ("a", "b"), (4, 2)) == ("a",)
    named = read("replica_groups=mesh['a'=4,'b'=2] {'a'}, use_global_device_ids=true")
    assert named.rows.tolist() == crossed.rows.tolist()
    part = read("replica_groups=mesh['a'=4,'b'=2] {'a':(1)2}, use_global_device_ids=true")
    assert part.rows.tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert read("replica_groups={}").rows.shape == (1, 8)
    pairs = read("source_target_pairs={{0,1},{1,0}}")
    assert pairs.pairs and groups.axes_of(pairs, ("a", "b"), (4, 2)) == ("b",)
    assert groups.nodes_of(crossed, 4) == (4, 2)
    with pytest.raises(NotImplementedError, match="groups of devices"):
        read("replica_groups=strange")


def test_partitioning_needs_no_devices():
    x = sagax.ShapeDtypeStruct((4096, 8), "float32")
    found = partition(lambda x: snp.sum(x, 0), (x,), {"x": 4096}, P("x"))
    (sums,) = [i for i in found.module.entry if i.opcode == "all-reduce"]
    assert groups.groups_of(sums, 4096).rows.shape == (1, 4096)
    assert len(sagax.devices()) < 4096


def examples():
    """The steps of the example programs: (step, types, mesh, specs)."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
    import data_parallel  # pyright: ignore[reportMissingImports]
    import digits  # pyright: ignore[reportMissingImports]
    import elastic  # pyright: ignore[reportMissingImports]

    struct = sagax.ShapeDtypeStruct
    params = sagax.eval_shape(digits.init_params, sagax.random.key(0))
    images, labels = struct((64, 64), "float32"), struct((64,), "int32")
    by_rows = (P(), P(), P("batch"), P("batch"))
    yield data_parallel.train_step, (params, params, images, labels), {"batch": 8}, by_rows
    all_images, all_labels, rows = (struct((1437, 64), "float32"), struct((1437,), "int32"), labels)
    specs = (P(), P(), P(), P(), P("batch"))
    yield (
        digits.train_step,
        (params, params, all_images, all_labels, rows),
        {"batch": 8},
        specs,
    )
    yield digits.accuracy, (params, images, labels), {"batch": 4, "other": 2}, by_rows[1:]
    params = sagax.tree.map(lambda x: struct(x.shape, "float32"), elastic.init_params())
    x, y = (struct(a.shape, "float32") for a in elastic.batch(0))
    yield elastic.train_step, (params, x, y), {"data": 8}, P("data")


@pytest.mark.parametrize("number", range(4))
def test_collectives_of_the_examples_are_those_of_the_executable(number, eight_devices):
    step, types, sizes, specs = list(examples())[number]
    found = sagax.plan(step, *types, mesh=sizes, in_shardings=specs, hardware="h100-8")
    counted = Counter()
    for c in found.collectives:
        counted[c.kind] += c.total_bytes
    names = tuple(sizes)
    devices = np.array(eight_devices).reshape(tuple(sizes.values()))
    mesh = Mesh(devices, names, (AxisType.Auto,) * len(names))
    full = specs if isinstance(specs, tuple) and not isinstance(specs, P) else (specs,) * len(types)
    placed = [
        sagax.tree.map(
            lambda x, s=s: sagax.ShapeDtypeStruct(
                x.shape, x.dtype, sharding=NamedSharding(mesh, s)
            ),
            x,
        )
        for x, s in zip(types, full, strict=True)
    ]
    text = step.lower(*placed).compile().as_text()
    expected = simple_count(text)
    assert expected.total() > 0
    assert counted == expected
