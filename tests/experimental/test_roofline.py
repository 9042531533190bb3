"""Rooflines, against jax (tests/oracle/roofline.py records what it counts)."""

from __future__ import annotations

import dataclasses
import json
import logging
import pathlib

import numpy as np
import pytest

import roofline_cases
import sagax
import sagax.numpy as snp
from sagax import lax
from sagax.experimental import roofline
from sagax.extend.core import Primitive
from sagax.sharding import AbstractMesh, AxisType

DATA = json.loads((pathlib.Path(__file__).parents[1] / "data" / "roofline.json").read_text())
CASES = roofline_cases.cases(np, sagax)
SHARDED, (SHAPE, DTYPE) = roofline_cases.sharded(sagax)
MESH = AbstractMesh(
    tuple(roofline_cases.AXES.values()),
    tuple(roofline_cases.AXES),
    axis_types=(AxisType.Auto,) * len(roofline_cases.AXES),
)


def counted(result):
    return {k: v for k, v in dataclasses.asdict(result).items() if v}


def struct(shape, dtype):
    return sagax.ShapeDtypeStruct(tuple(shape), snp.dtype(dtype))


# jax -> here, where the jaxprs or the rules differ on purpose
RELU = {
    "unfused_flops": (544, 576),
    "unfused_hbm_bytes": (900, 964),
}  # a comparison and a selection here
ADDED = {
    "unfused_flops": (8192, 8320),  # jax does not count the sum of two cotangents
    "unfused_hbm_bytes": (2048, 2816),
}


def with_differences(expected, differences):
    for key, (theirs, ours) in differences.items():
        assert expected[key] == theirs
        expected = expected | {key: ours}
    return expected


@pytest.mark.parametrize("name", CASES)
def test_counts_as_jax(name):
    fun, shapes, options = CASES[name]
    out, result = roofline.roofline(fun, **options)(*[struct(*s) for s in shapes])
    found = [[list(x.shape), str(x.dtype)] for x in sagax.tree.leaves(out)]
    assert found == DATA["cases"][name]["out"]
    expected = DATA["cases"][name]["counts"]
    assert counted(result) == with_differences(expected, RELU if name == "mlp" else {})


@pytest.mark.parametrize("name", SHARDED)
def test_counts_on_a_mesh_as_jax(name):
    fun, in_specs, out_specs = SHARDED[name]
    expected = DATA["mesh"][name]
    count = roofline.roofline(fun, MESH, in_specs, out_specs)
    out, result = count(struct(SHAPE, DTYPE))
    assert list(out.shape) == expected["out"] and out.sharding.spec == out_specs
    assert counted(result) == expected["counts"]
    if not isinstance(expected["grad"], str):
        both = roofline.roofline_and_grad(fun, MESH, in_specs, out_specs)
        _, *found = both(struct(SHAPE, "bfloat16"))
        first, both = expected["grad"]
        both = with_differences(both, ADDED if name == "tensor parallel" else {})
        assert [counted(r) for r in found] == [first, both]


def test_every_elementwise_operation_and_reduction_counts():
    """jax leaves some out, such as tanh, pow and the maximum along an axis."""
    doubled = sagax.custom_jvp(lambda x: x + x)
    doubled.defjvp(lambda primals, tangents: (doubled(*primals), 2 * tangents[0]))
    for fun, flops, moved in [
        (lax.tanh, 6, 48),
        (lambda x: lax.pow(x, x), 6, 72),
        (lambda x: lax.clamp(x, x, x), 6, 96),
        (lambda x: x.max(1), 4, 32),
        (lambda x: x.prod(), 5, 28),
        (lambda x: x.astype(np.int32), 0, 0),
        (lambda x: lax.while_loop(lambda x: True, lambda x: x + 1, x), 0, 0),
        (doubled, 6, 72),
        (lambda x: sagax.checkpoint(lambda x: x + x)(x), 6, 72),
    ]:
        _, result = roofline.roofline(fun)(struct((2, 3), "float32"))
        assert (result.unfused_flops, result.unfused_hbm_bytes) == (flops, moved)


def test_a_value_that_is_used_twice_dies_once():
    """jax subtracts its bytes twice, and so reaches a peak that is too low."""
    _, result = roofline.roofline(lambda x: snp.broadcast_to(x * x, (9, 5, 5)))(
        struct((5, 5), "float32")
    )
    assert result.peak_hbm_bytes == 9 * 100


def test_rules_of_libraries(caplog):
    twice_p = Primitive("roofline_twice")
    twice_p.def_abstract_eval(lambda x, **_: x)

    def fun(x):
        return twice_p.bind(x, times=3) + 1

    count = roofline.roofline(fun)
    with caplog.at_level(logging.WARNING):
        assert count(struct((4,), "float32"))[1].unfused_flops == 4
    assert "roofline_twice has no roofline rule" in caplog.text
    contexts = []

    @roofline.register_roofline(twice_p)
    def rule(ctx, x, *, times):
        contexts.append(ctx)
        return times * roofline.RooflineResult(flops=x.size, ici_bytes={"x": 1})

    with sagax.named_scope("layer"):
        result = roofline.roofline(fun, MESH, pin_lhs_in_vmem=True)(struct((4,), "float32"))[1]
    assert (result.flops, result.unfused_flops, result.ici_bytes) == (12, 4, {"x": 3})
    (ctx,) = contexts
    assert ctx.primitive is twice_p and ctx.mesh is MESH and ctx.pin_lhs_in_vmem
    assert [a.shape for a in (*ctx.avals_in, *ctx.avals_out)] == [(4,), (4,)]
    assert "roofline(" in ctx.name_stack
    roofline.register_standard_roofline(twice_p)
    assert count(struct((4,), "float32"))[1].flops == 0


def test_results_and_shapes():
    a = roofline.RooflineResult(flops=3, ici_bytes={"x": 2}, peak_hbm_bytes=8)
    b = roofline.RooflineResult(flops=1, ici_bytes={"y": 1}, peak_hbm_bytes=9)
    assert a + b == roofline.RooflineResult(flops=4, ici_bytes={"x": 2, "y": 1}, peak_hbm_bytes=9)
    assert (
        1.5 * a
        == a * 1.5
        == roofline.RooflineResult(flops=4, ici_bytes={"x": 3}, peak_hbm_bytes=12)
    )
    assert roofline.RooflineResult.zeros() == roofline.RooflineResult()
    shape = roofline.RooflineShape.from_aval(sagax.core.ShapedArray((2, 3), np.dtype("int8")))
    assert (shape.size, shape.bytes, shape.shape) == (6, 6, (2, 3))
    keys = sagax.typeof(sagax.random.key(0))
    assert roofline.RooflineShape.total_bytes([keys, keys]) == 16
    with pytest.raises(TypeError, match=r"from_aval.*type of an array"):
        roofline.RooflineShape.from_aval(3)
    with pytest.raises(TypeError, match="roofline"):
        roofline.roofline(3)


def test_prints_what_it_counts(capsys):
    roofline.roofline(lambda x: x + 1, print_jaxpr=True)(struct((2,), "float32"))
    assert "add" in capsys.readouterr().out
