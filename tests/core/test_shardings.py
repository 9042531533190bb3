"""Meshes, shardings, arrays on many devices, jit over them, and shardings in types, on 8 virtual devices."""

from __future__ import annotations

import contextvars
import copy
import pickle
import re
import sys
import types
import xml.etree.ElementTree

import numpy as np
import pytest

import sagax
import sagax.debug
import sagax.nn
import sagax.numpy as jnp
import sagax.random
import sharding_cases as cases
from sagax import lax
from sagax._src import xla
from sagax._src.core.shardings import Tiles
from sagax._src.runtime.placements import described
from sagax.experimental import io_callback
from sagax.experimental.layout import Format, Layout
from sagax.experimental.pjit import pjit
from sagax.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    PartitionSpec,
    SingleDeviceSharding,
    auto_axes,
    get_abstract_mesh,
    get_mesh,
    reshard,
    use_abstract_mesh,
)

P = PartitionSpec
AUTO = (AxisType.Auto, AxisType.Auto)


@pytest.fixture
def mesh(eight_devices):
    return sagax.make_mesh((4, 2), ("x", "y"), AUTO)


@pytest.fixture
def explicit(eight_devices):
    mesh = sagax.make_mesh((4, 2), ("x", "y"))
    with sagax.set_mesh(mesh):
        yield mesh


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


# --- meshes and specifications -------------------------------------------------------------------


def test_meshes(eight_devices):
    mesh = Mesh(np.array(eight_devices).reshape(4, 2), ("x", "y"))
    assert mesh is Mesh(np.array(eight_devices).reshape(4, 2), ("x", "y"))
    assert (mesh.size, dict(mesh.shape), mesh.axis_names) == (8, {"x": 4, "y": 2}, ("x", "y"))
    assert mesh.axis_types == AUTO
    assert mesh.device_ids.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert repr(mesh) == ("Mesh(axis_sizes=(4, 2), axis_names=('x', 'y'), axis_types=(Auto, Auto))")
    assert str(mesh) == "Mesh('x': 4, 'y': 2, axis_types=(Auto, Auto))"
    assert mesh.local_mesh is mesh and not mesh.is_multi_process
    abstract = mesh.abstract_mesh
    assert abstract.shape_tuple == (("x", 4), ("y", 2))
    assert abstract.update_axis_types({"x": AxisType.Explicit}).explicit_axes == ("x",)
    made = sagax.make_mesh((2, 4), ("a", "b"))
    assert made.axis_types == (AxisType.Explicit,) * 2
    assert AbstractMesh((2,), ("a",)).axis_types == (AxisType.Explicit,)
    assert pickle.loads(pickle.dumps(abstract)) is abstract


def test_the_mesh_in_force(mesh):
    assert get_abstract_mesh().empty and get_mesh().empty
    with sagax.set_mesh(mesh):
        assert get_abstract_mesh() is mesh.abstract_mesh and get_mesh() is mesh
        other = AbstractMesh((2,), ("z",))
        with use_abstract_mesh(other):
            assert get_abstract_mesh() is other
        assert get_abstract_mesh() is mesh.abstract_mesh
    assert get_abstract_mesh().empty

    def for_the_rest_of_the_thread():
        sagax.set_mesh(mesh)
        assert get_mesh() is mesh
        sagax.set_mesh(None)
        assert get_mesh().empty

    # settings are context variables: what is set for good stays in this copy
    contextvars.copy_context().run(for_the_rest_of_the_thread)
    assert get_mesh().empty


def test_partition_specs():
    assert repr(P("x", None, ("x", "y"))) == "P('x', None, ('x', 'y'))"
    assert repr(P("x")) == "P('x',)" and repr(P()) == "P()"
    assert P(("x",), ()) == P("x", None) and P("x", None) != P("x")
    assert P("x") != ("x",) and not isinstance(P(), tuple)
    assert P("x") + P("y") == P("x", "y") and list(P("x", None)) == ["x", None]
    assert len({P("x"), P("x"), P("y")}) == 2
    assert pickle.loads(pickle.dumps(P("x", unreduced={"y"}))) == P("x", unreduced={"y"})
    assert pickle.loads(pickle.dumps(P(P.UNCONSTRAINED)))[0] is P.UNCONSTRAINED


def test_named_shardings(mesh, eight_devices):
    s = NamedSharding(mesh, P("x"))
    assert s is NamedSharding(mesh, P("x"))
    assert s.shard_shape((8, 3)) == (2, 3)
    assert s.device_set == set(eight_devices) and s.num_devices == 8
    assert not s.is_fully_replicated and s.is_fully_addressable
    assert NamedSharding(mesh, P()).is_fully_replicated
    assert s.is_equivalent_to(NamedSharding(mesh, P("x", None)), 2)
    assert not s.is_equivalent_to(NamedSharding(mesh, P("y")), 2)
    line = Mesh(np.array(eight_devices), ("z",))
    both = NamedSharding(mesh, P(("x", "y")))
    assert both != NamedSharding(line, P("z"))
    assert both.is_equivalent_to(NamedSharding(line, P("z")), 1)
    whole, first = slice(None), slice(0, 2)
    assert s.devices_indices_map((8, 3))[eight_devices[1]] == (first, whole)
    assert s.update(spec=P("y")) is NamedSharding(mesh, P("y"))
    assert s.memory_kind == eight_devices[0].default_memory().kind


# --- arrays on many devices -------------------------------------------------------------------------


def test_device_put(mesh, eight_devices):
    x = numbers(8, 4)
    a = sagax.device_put(x, NamedSharding(mesh, P("x", "y")))
    assert a.committed and a.devices() == set(eight_devices)
    assert a.sharding is a.device and a.sharding.spec == P("x", "y")
    assert not a.is_fully_replicated and a.is_fully_addressable
    np.testing.assert_array_equal(a, x)
    shards = a.addressable_shards
    assert len(shards) == 8 and len(a.global_shards) == 8
    for s in shards:
        np.testing.assert_array_equal(s.data, x[s.index])
        assert s.data.devices() == {s.device}
    again = sagax.device_put(a, NamedSharding(mesh, P("y")))
    np.testing.assert_array_equal(again, x)
    assert [s.replica_id for s in again.addressable_shards] == [0, 0, 1, 1, 2, 2, 3, 3]
    single = sagax.device_put(again, eight_devices[3])
    assert single.sharding == SingleDeviceSharding(eight_devices[3])
    np.testing.assert_array_equal(single, x)
    tree = sagax.device_put({"w": x, "b": x[0]}, {"w": NamedSharding(mesh, P("x")), "b": None})
    assert tree["w"].sharding.spec == P("x") and not tree["b"].committed
    x[0] = 0  # the array has memory of its own
    assert a[0, 0] != 0


def test_copies_printing_and_pickles(mesh):
    x = np.arange(8, dtype=np.float32)
    a = sagax.device_put(x, NamedSharding(mesh, P("x")))
    assert repr(a) == repr(jnp.asarray(x)) and str(a) == str(x)
    for b in (a.copy(), copy.deepcopy(a)):
        assert b.sharding is a.sharding
        a_before = np.asarray(b)
        np.testing.assert_array_equal(a_before, x)
    c = a.copy()
    a.delete()
    assert a.is_deleted() and not c.is_deleted()
    with pytest.raises(RuntimeError, match="deleted"):
        np.asarray(a)
    back = pickle.loads(pickle.dumps(c))
    np.testing.assert_array_equal(back, x)
    assert not back.committed
    c.copy_to_host_async()
    assert c.block_until_ready() is c and float(c[3]) == 3.0
    assert [float(v) for v in c] == list(range(8))


def test_arrays_of_parts(mesh, eight_devices):
    x = numbers(8, 4)
    s = NamedSharding(mesh, P("x", "y"))
    called = []

    def part(index):
        called.append(index)
        return x[index]

    a = sagax.make_array_from_callback(x.shape, s, part)
    np.testing.assert_array_equal(a, x)
    assert len(called) == 8
    called.clear()
    sagax.make_array_from_callback(x.shape, NamedSharding(mesh, P("y")), part)
    assert len(called) == 2  # equal parts are asked for once
    parts = [d.data for d in a.addressable_shards]
    b = sagax.make_array_from_single_device_arrays(x.shape, s, parts[::-1])
    np.testing.assert_array_equal(b, x)
    c = sagax.make_array_from_process_local_data(s, x)
    np.testing.assert_array_equal(c, x)
    assert c.sharding is s
    with pytest.raises(ValueError, match=r"one array on each device(.|\n)*none on cpu:7"):
        sagax.make_array_from_single_device_arrays(x.shape, s, parts[:7])
    with pytest.raises(ValueError, match=r"data_callback(.|\n)*shape \(2, 2\)"):
        sagax.make_array_from_callback(x.shape, s, lambda index: x)


def test_keys_can_be_divided(mesh):
    keys = sagax.random.split(sagax.random.key(0), 8)
    a = sagax.device_put(keys, NamedSharding(mesh, P("x")))
    expected = sagax.vmap(sagax.random.uniform)(keys)
    found = sagax.jit(sagax.vmap(sagax.random.uniform))(a)
    np.testing.assert_array_equal(found, expected)
    assert found.sharding.spec == P("x")


def test_symbols_of_the_compiler(mesh, oracle_data):
    scope = cases.names(sagax, jnp, sagax.sharding, False)
    for text, expected in oracle_data("sharding")["parts"].items():
        found = cases.parts_of(eval(text, scope))
        assert [f[:2] for f in found] == [e[:2] for e in expected], text
        np.testing.assert_allclose([f[2] for f in found], [e[2] for e in expected], rtol=1e-5)


# --- jit ------------------------------------------------------------------------------------------


def test_uncommitted_arguments_follow(mesh):
    a = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x")))
    f = sagax.jit(lambda a, b, c: (a + b, a * c))
    first, second = f(a, numbers(8, 4), 2.0)
    assert first.sharding.spec == second.sharding.spec == P("x")
    np.testing.assert_allclose(second, np.asarray(a) * 2)


def test_closed_over_arrays(mesh):
    a = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x")))
    found = sagax.jit(lambda b: a + b)(numbers(8, 4))
    assert found.sharding.spec == P("x")


def test_unused_arguments_and_donation(mesh):
    a = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x")))
    b = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("y")))
    expected = np.asarray(a) + 1
    f = sagax.jit(lambda a, b: a + 1, donate_argnums=0)
    np.testing.assert_allclose(f(a, b), expected)
    assert a.is_deleted() and not b.is_deleted()
    with pytest.raises(RuntimeError, match="donated to `<lambda>` as argument a"):
        f(a, b)


def test_shardings_of_arguments_and_results(mesh):
    ask, give = NamedSharding(mesh, P("x")), NamedSharding(mesh, P(None, "y"))
    f = sagax.jit(lambda d: {"s": d["a"] * 2, "t": d["b"]}, in_shardings=ask, out_shardings=give)
    d = {"a": numbers(8, 4), "b": numbers(4, 2)}
    out = f(d)
    assert out["s"].sharding is give and out["t"].sharding is give
    np.testing.assert_allclose(out["s"], d["a"] * 2)
    inner = sagax.jit(lambda a: f({"a": a, "b": a[:4, :2]})["s"].sum())
    np.testing.assert_allclose(inner(d["a"]), d["a"].sum() * 2, rtol=1e-4)
    with sagax.set_mesh(mesh):
        g = sagax.jit(lambda a, b: a @ b, in_shardings=(P("x"), P(None, "y")), out_shardings=P())
        out = g(numbers(8, 4), numbers(4, 6))
    assert out.is_fully_replicated and len(out.devices()) == 8


def test_stages(mesh):
    sharding = NamedSharding(mesh, P("x"))
    shape = sagax.ShapeDtypeStruct((8, 4), "float32", sharding=sharding)
    lowered = sagax.jit(lambda a: (a * 2).sum(0)).lower(shape)
    assert '#sdy.sharding<@mesh, [{"x"}, {}]>' in lowered.as_text()
    assert 'sdy.mesh @mesh = <["x"=4, "y"=2]>' in lowered.as_text()
    compiled = lowered.compile()
    assert compiled.input_shardings[0] == (sharding,)
    assert compiled.output_shardings.is_fully_replicated
    x = numbers(8, 4)
    np.testing.assert_allclose(compiled(sagax.device_put(x, sharding)), x.sum(0) * 2, rtol=1e-5)
    np.testing.assert_allclose(compiled(x), x.sum(0) * 2, rtol=1e-5)
    with pytest.raises(ValueError, match=r"divided in another way(.|\n)*argument: a"):
        compiled(sagax.device_put(x, NamedSharding(mesh, P("y"))))


def test_programs_under_set_mesh(mesh):
    x = jnp.asarray(numbers(8, 4))
    with sagax.set_mesh(mesh):
        for found in (x * 2, jnp.ones((8, 4)), sagax.jit(lambda x: x * 2)(x), jnp.sin(x)):
            assert found.sharding == NamedSharding(mesh, P())
            assert found.committed
        y = lax.with_sharding_constraint(jnp.sin(x), P("x"))
        assert y.sharding == NamedSharding(mesh, P("x"))
        assert sagax.device_put(x, P("y")).sharding.spec == P("y")
    np.testing.assert_allclose(y, np.sin(np.asarray(x)), rtol=1e-6)
    assert (x * 2).sharding.num_devices == 1


def test_constraints_under_transformations(mesh):
    s = NamedSharding(mesh, P("x"))
    x = numbers(8, 4)
    loss = lambda x: (lax.with_sharding_constraint(jnp.sin(x), s) ** 2).sum()  # noqa: E731
    expected = sagax.grad(lambda x: (jnp.sin(x) ** 2).sum())(x)
    np.testing.assert_allclose(sagax.grad(loss)(x), expected, rtol=1e-5)
    np.testing.assert_allclose(sagax.jit(sagax.grad(loss))(x), expected, rtol=1e-5)
    batch = sagax.vmap(lambda r: lax.with_sharding_constraint(r * 2, NamedSharding(mesh, P("y"))))
    np.testing.assert_allclose(sagax.jit(batch)(x), x * 2)
    text = str(sagax.make_jaxpr(batch)(x))
    assert "P(UNCONSTRAINED, 'y')" in text


# --- the collectives that compiled programs hold ------------------------------------------------------

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")


def collectives(compiled):
    """How often each collective stands in a compiled program."""
    text = compiled.as_text()
    found = {c: len(re.findall(rf" {c}(?:-start)?\(", text)) for c in COLLECTIVES}
    return {c: n for c, n in found.items() if n}


def mlp(w, x):
    return jnp.tanh(x @ w["up"]) @ w["down"]


def step(w, x, y):
    loss, grads = sagax.value_and_grad(lambda w: ((mlp(w, x) - y) ** 2).mean())(w)
    return sagax.tree.map(lambda w, g: w - 0.1 * g, w, grads), loss


def training(mesh, of_weights, of_data):
    w = {"up": numbers(16, 32), "down": numbers(32, 8)}
    x, y = numbers(64, 16), numbers(64, 8)
    expected, loss = sagax.jit(step)(w, x, y)
    place = {name: NamedSharding(mesh, spec) for name, spec in of_weights.items()}
    data = NamedSharding(mesh, of_data)
    f = sagax.jit(
        step,
        in_shardings=(place, data, data),
        out_shardings=(place, NamedSharding(mesh, P())),
    )
    got, got_loss = f(w, x, y)
    np.testing.assert_allclose(got_loss, loss, rtol=1e-5)
    for name in w:
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-4, atol=1e-5)
        assert got[name].sharding is place[name]
    return f.lower(w, x, y).compile()


def test_a_data_parallel_step_reduces_gradients_and_nothing_else(mesh):
    compiled = training(mesh, {"up": P(), "down": P()}, P(("x", "y")))
    found = collectives(compiled)
    # one for the loss and one for each weight, or fewer where the compiler puts them together
    assert set(found) == {"all-reduce"} and 1 <= found["all-reduce"] <= 3


def test_a_tensor_parallel_mlp_reduces_once_forwards(mesh):
    w = {"up": numbers(16, 32), "down": numbers(32, 8)}
    place = {"up": NamedSharding(mesh, P(None, "x")), "down": NamedSharding(mesh, P("x"))}
    replicated = NamedSharding(mesh, P())
    x = numbers(64, 16)
    f = sagax.jit(mlp, in_shardings=(place, replicated), out_shardings=replicated)
    np.testing.assert_allclose(f(w, x), mlp(w, x), rtol=1e-4, atol=1e-5)
    assert collectives(f.lower(w, x).compile()) == {"all-reduce": 1}


def test_fully_sharded_weights_are_gathered(mesh):
    compiled = training(mesh, {"up": P("x"), "down": P("x")}, P("x"))
    found = collectives(compiled)
    assert found.get("all-gather", 0) >= 2
    assert set(found) <= {"all-gather", "all-reduce", "reduce-scatter"}


# --- shardings in types ------------------------------------------------------------------------------


def test_types_follow_as_in_jax(explicit, oracle_data):
    scope = cases.names(sagax, jnp, sagax.sharding, True)
    assert scope["mesh"] is explicit
    recorded = oracle_data("sharding")["types"]
    assert set(recorded) == set(cases.EXPLICIT)
    for text, (expected, total) in recorded.items():
        x = eval(text, scope)
        assert sagax.typeof(x).str_short(short_dtypes=True) == expected, text
        np.testing.assert_allclose(np.asarray(x).sum(dtype=complex).real, total, rtol=2e-4)
        if isinstance(x.sharding, NamedSharding):
            shown = NamedSharding(explicit, sagax.typeof(x).sharding.spec) if "@" in expected else 0
            assert not shown or x.sharding.is_equivalent_to(shown, x.ndim), text


def test_what_is_ambiguous_is_refused(explicit, oracle_data):
    scope = cases.names(sagax, jnp, sagax.sharding, True)
    recorded = oracle_data("sharding")["refused"]
    assert set(recorded) == set(cases.AMBIGUOUS)
    for text in recorded:
        with pytest.raises((TypeError, AssertionError)) as caught:
            eval(text, scope)
        assert "fix: " in str(caught.value), text


def test_types_in_programs(explicit):
    x = reshard(np.zeros((8, 4), np.float32), P("x", "y"))
    assert str(sagax.make_jaxpr(lambda a: jnp.sin(a).sum(0))(x)) == (
        "{ lambda ; a:f32[8@x,4@y]. let\n    b:f32[8@x,4@y] = sin a\n"
        "    c:f32[4@y] = reduce_sum[axes=(0,) out_sharding=None] b\n  in (c,) }"
    )
    text = sagax.jit(lambda a: jnp.sin(a).sum(0)).lower(x).as_text()
    assert 'sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]>' in text
    seen = []
    auto_axes(lambda a: seen.append(sagax.typeof(a)) or a, axes="x", out_sharding=P("x", "y"))(x)
    assert str(seen[0]) == "float32[8,4@y]"


def test_what_is_looked_up_is_divided_as_the_indices(explicit):
    table = numbers(16, 4)
    at = np.array([3, 0, 15, 7, 7, 2, 9, 1])
    with sagax.set_mesh(explicit):
        given = sagax.device_put(at, NamedSharding(explicit, P("x")))
        columns = sagax.device_put(table, NamedSharding(explicit, P(None, "y")))
        for f in (lambda t, i: t[i], lambda t, i: jnp.take(t, i, axis=0)):
            for call in (f, sagax.jit(f)):
                found = call(columns, given)
                assert found.sharding.spec == sagax.typeof(found).sharding.spec == P("x", "y")
                np.testing.assert_array_equal(found, table[at])
        grad = sagax.jit(sagax.grad(lambda t: (t[given] ** 2).sum()))(columns)
        assert grad.sharding.spec == P(None, "y")
        expected = np.zeros_like(table)
        np.add.at(expected, at, 2 * table[at])
        np.testing.assert_allclose(grad, expected, rtol=1e-6)


def test_types_without_a_mesh_in_force(eight_devices):
    mesh = sagax.make_mesh((4, 2), ("x", "y"))
    x = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x")))
    found = sagax.jit(lambda x: x * 2)(x)
    assert str(sagax.typeof(found)) == "float32[8@x,4]"
    assert found.sharding.is_equivalent_to(x.sharding, 2)
    assert str(sagax.typeof(reshard(found, P(None, "y")))) == "float32[8,4@y]"


def test_training_over_explicit_axes(explicit):
    w = {"up": reshard(numbers(16, 32), P()), "down": reshard(numbers(32, 8), P())}
    x, y = reshard(numbers(64, 16), P("x")), reshard(numbers(64, 8), P("x"))
    got, loss = sagax.jit(step)(w, x, y)
    plain = {k: np.asarray(v) for k, v in w.items()}
    expected, expected_loss = step(plain, np.asarray(x), np.asarray(y))
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5)
    for name in w:
        np.testing.assert_allclose(got[name], expected[name], rtol=1e-4, atol=1e-5)
        assert sagax.typeof(got[name]) is sagax.typeof(w[name])
    compiled = sagax.jit(step).lower(w, x, y).compile()
    assert set(collectives(compiled)) == {"all-reduce"}


# --- wrong input --------------------------------------------------------------------------------------


def test_wrong_specifications(mesh):
    with pytest.raises(
        ValueError, match=r"axis: z of P\('z',\) is not found in mesh: \('x', 'y'\)"
    ):
        NamedSharding(mesh, P("z"))
    with pytest.raises(ValueError, match=r"duplicate entries for 'x'(.|\n)*use P\('x', None\)"):
        NamedSharding(mesh, P("x", "x"))
    with pytest.raises(ValueError, match=r"twice for dimension 0(.|\n)*use P\('x',\)"):
        NamedSharding(mesh, P(("x", "x")))
    long = Mesh(mesh.devices, ("data", "model"))
    with pytest.raises(ValueError, match=r"use P\('data', 'model'\), or a mesh that has the axis"):
        NamedSharding(long, P("data", "modle"))
    with sagax.set_mesh(mesh), pytest.raises(ValueError, match="device_put: Resource axis: z"):
        sagax.device_put(numbers(8), P("z"))
    with pytest.raises(TypeError, match=r"write PartitionSpec\('x'\)"):
        NamedSharding(mesh, "x")
    with pytest.raises(ValueError, match="Number of devices 8 must be >="):
        sagax.make_mesh((16,), ("x",))
    with pytest.raises(ValueError, match="a name for each of the 1 axes"):
        Mesh(np.array(sagax.devices()), ("x", "y"))
    with pytest.raises(ValueError, match="names that differ"):
        Mesh(np.array(sagax.devices()).reshape(4, 2), ("x", "x"))
    with pytest.raises(ValueError, match="no memory of kind 'tape'"):
        NamedSharding(mesh, P(), memory_kind="tape")


@pytest.mark.parametrize(
    "shape, spec, fix",
    [
        ((6, 8), P("x"), r"use P\(None, 'x'\), or pad dimension 0 to 8"),
        ((7,), P("x"), r"use P\(\), or pad dimension 0 to 8"),
        ((4, 6), P(("x", "y")), r"use P\('x', 'y'\)"),
        ((8,), P("x", "y"), r"use P\('x',\)"),
    ],
)
def test_what_would_fit(mesh, shape, spec, fix):
    with pytest.raises(ValueError, match=rf"x\['b'\](.|\n)*{fix}"):
        sagax.device_put({"b": np.ones(shape)}, NamedSharding(mesh, spec))
    asked = NamedSharding(mesh, spec)
    with pytest.raises(ValueError, match=rf"in_shardings for d\['b'\](.|\n)*{fix}"):
        sagax.jit(lambda d: d["b"], in_shardings=asked)({"b": np.ones(shape)})
    with pytest.raises(ValueError, match=rf"out_shardings for result\['b'\](.|\n)*{fix}"):
        sagax.jit(lambda b: {"b": b}, out_shardings=asked)(np.ones(shape))
    with pytest.raises(ValueError, match=rf"argument: x\[0\](.|\n)*{fix}"):
        sagax.jit(lambda b: lax.with_sharding_constraint((b,), asked))(np.ones(shape))


def test_conflicts_name_both_arguments(mesh, eight_devices):
    x = numbers(8, 4)
    a = sagax.device_put(x, NamedSharding(mesh, P("x")))
    b = sagax.device_put(x, eight_devices[3])
    half = Mesh(np.array(eight_devices[:4]), ("x",))
    c = sagax.device_put(x, NamedSharding(half, P("x")))
    f = sagax.jit(lambda left, right: left + right)
    for other in (b, c):
        with pytest.raises(
            ValueError, match=r"incompatible devices.*left.*right.*test_sharding"
        ) as e:
            f(a, other)
        assert "fix: " in str(e.value)
    with pytest.raises(ValueError, match="incompatible devices"):
        _ = a + c
    with pytest.raises(ValueError, match="does not match the sharding on the respective arg: a"):
        sagax.jit(lambda a: a, in_shardings=NamedSharding(mesh, P("y")))(a)
    with pytest.raises(ValueError, match="incompatible devices"):
        sagax.jit(lambda b: a + b)(b)
    with pytest.raises(ValueError, match="incompatible devices"):
        sagax.jit(lambda b: lax.with_sharding_constraint(b, NamedSharding(mesh, P("x"))))(b)


def test_specifications_need_a_mesh(eight_devices):
    for call in (
        lambda: sagax.jit(lambda x: x, in_shardings=P("x"))(numbers(8)),
        lambda: sagax.jit(lambda x: lax.with_sharding_constraint(x, P("x")))(numbers(8)),
        lambda: sagax.device_put(numbers(8), P("x")),
    ):
        with pytest.raises(RuntimeError, match=r"non-empty mesh(.|\n)*sagax.set_mesh\(mesh\)"):
            call()


def test_meshes_in_types_must_agree(eight_devices):
    one = sagax.make_mesh((8,), ("x",))
    two = sagax.make_mesh((4, 2), ("x", "y"))
    a = sagax.device_put(numbers(8), NamedSharding(one, P("x")))
    b = sagax.device_put(numbers(8), NamedSharding(two, P("x")))
    with pytest.raises(ValueError, match=r"different meshes(.|\n)*operand 0(.|\n)*operand 1"):
        _ = a + b


# --- what else shardings are -----------------------------------------------------------------------------


def test_pickles_of_meshes_and_shardings(mesh, eight_devices):
    for x in (
        mesh,
        NamedSharding(mesh, P("x", None)),
        NamedSharding(mesh.abstract_mesh, P("y")),
    ):
        assert pickle.loads(pickle.dumps(x)) is x
        assert copy.deepcopy(x) is x
    single = SingleDeviceSharding(eight_devices[2])
    assert pickle.loads(pickle.dumps(single)) == single


def test_kinds_of_memory(mesh, eight_devices):
    x = numbers(8, 4)
    for kind in {m.kind for m in eight_devices[0].addressable_memories()}:
        a = sagax.device_put(x, NamedSharding(mesh, P("x"), memory_kind=kind))
        assert a.sharding.memory_kind == kind
        np.testing.assert_array_equal(a, x)
        doubled = sagax.jit(lambda a: a * 2)(a)
        where = kind if kind == "pinned_host" else None  # others compute in the default memory
        assert doubled.sharding == NamedSharding(mesh, P("x"), memory_kind=where)
        np.testing.assert_array_equal(doubled, x * 2)
        np.testing.assert_array_equal(a.addressable_shards[2].data, x[2:4])
        there = NamedSharding(mesh, P("x"), memory_kind=kind)
        given = sagax.jit(lambda a: a * 2, out_shardings=there)(x)
        assert given.sharding is there
        np.testing.assert_array_equal(given, x * 2)
    other = NamedSharding(mesh, P("x"), memory_kind="pinned_host")
    inside = sagax.jit(lambda a: sagax.device_put(a, other) + 1)(x)
    assert inside.sharding == other
    np.testing.assert_array_equal(inside, x + 1)


def test_types_follow_in_shardings(eight_devices):
    mesh = sagax.make_mesh((4, 2), ("x", "y"))
    ask, give = NamedSharding(mesh, P("x")), NamedSharding(mesh, P("y"))
    seen = []
    f = sagax.jit(
        lambda a: seen.append(sagax.typeof(a)) or a * 2, in_shardings=ask, out_shardings=give
    )
    found = f(numbers(8))
    assert str(seen[0]) == "float32[8@x]" and str(sagax.typeof(found)) == "float32[8@y]"
    assert found.sharding.is_equivalent_to(give, 1)
    assert "float32[8@x]" in str(f.trace(numbers(8)).jaxpr).replace("f32", "float32")


def test_structs_with_shardings_need_no_devices():
    mesh = AbstractMesh((256, 8), ("data", "model"))
    shard = lambda *spec: NamedSharding(mesh, P(*spec))  # noqa: E731
    x = sagax.ShapeDtypeStruct((1024, 512), "float32", sharding=shard("data"))
    w = sagax.ShapeDtypeStruct((512, 64), "float32", sharding=shard(None, "model"))
    out = sagax.eval_shape(jnp.matmul, x, w)
    assert out.sharding == shard("data", "model")
    with pytest.raises(ValueError, match="ShapeDtypeStruct: .*not divisible"):
        sagax.ShapeDtypeStruct((100,), "float32", sharding=shard("data"))


def test_pictures(mesh, capsys):
    sagax.debug.visualize_sharding((8, 4), NamedSharding(mesh, P("y", "x")), use_color=False)
    line = "├─────────┼─────────┼─────────┼─────────┤"
    assert capsys.readouterr().out.splitlines()[1:4] == [
        "│  CPU 0  │  CPU 2  │  CPU 4  │  CPU 6  │",
        line,
        "│  CPU 1  │  CPU 3  │  CPU 5  │  CPU 7  │",
    ]
    a = sagax.device_put(numbers(8), NamedSharding(mesh, P("x")))
    sagax.debug.visualize_array_sharding(a)  # in colours where the terminal has them
    assert "CPU 0,1" in capsys.readouterr().out
    with pytest.raises(ValueError, match="one or two dimensions"):
        sagax.debug.visualize_sharding((2, 2, 2), NamedSharding(mesh, P()))


class Shell:
    """What a notebook's shell is known by, and how it shows things."""

    kernel = "a kernel"

    def __init__(self, monkeypatch):
        self.shown = []
        package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        package.get_ipython, module.display = lambda: self, self.shown.append
        monkeypatch.setitem(sys.modules, "IPython", package)
        monkeypatch.setitem(sys.modules, "IPython.display", module)


def test_pictures_in_notebooks(mesh, monkeypatch, capsys):
    shell = Shell(monkeypatch)
    red = (1.0, 0.0, 0.0, 1.0)
    sharding = NamedSharding(mesh, P(None, "y"))
    sagax.debug.visualize_sharding((8, 4), sharding, color_map=lambda f: red if f else "#0000ff")
    sagax.debug.visualize_sharding((8, 4), sharding, use_color=False)
    coloured, plain = shell.shown
    table = xml.etree.ElementTree.fromstring(coloured._repr_html_())
    cells = [[cell.text for cell in row] for row in table]
    assert cells == [["CPU 0,2,4,6", "CPU 1,3,5,7"]]
    assert "background:#0000ff;color:#ffffff" in table[0][0].get("style")
    assert "background:#ff0000;color:#ffffff" in table[0][1].get("style")
    assert "background" not in plain._repr_html_()
    assert "│CPU 0,2,4,6│CPU 1,3,5,7│" in repr(plain)
    assert capsys.readouterr().out == ""
    shell.kernel = None  # a shell in a terminal
    sagax.debug.visualize_sharding((8, 4), sharding)
    assert "CPU 1,3,5,7" in capsys.readouterr().out
    assert len(shell.shown) == 2


def test_devices_of_a_program_come_from_its_constraints(mesh):
    s = NamedSharding(mesh, P("x"))
    found = sagax.jit(lambda: lax.with_sharding_constraint(jnp.arange(8.0), s))()
    assert found.sharding is s
    np.testing.assert_array_equal(found, np.arange(8.0))
    # outside of jit it puts the array there
    eager = lax.with_sharding_constraint(jnp.arange(8.0), s)
    assert eager.sharding is s


def test_looking_at_shardings_inside_of_jit(mesh):
    seen = []
    look = lambda x: sagax.debug.inspect_array_sharding(x, callback=seen.append)  # noqa: E731

    @sagax.jit
    def f(x):
        look(x.T * 2)
        sagax.vmap(lambda r: look(r) or r)(x)
        return x

    a = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x", "y")))
    f(a)
    f(a)  # not compiled again
    assert [s.spec for s in seen] == [P("y", "x"), P("y")]
    f(numbers(2, 2))
    assert seen[2].num_devices == 1
    look(a)
    assert seen[4] is a.sharding


def test_types_in_control_flow(explicit):
    y = reshard(numbers(8, 4), P("x"))

    def shown(x):
        return str(sagax.typeof(x))

    out = lax.fori_loop(0, 3, lambda i, c: c * 2, y)
    assert shown(out) == "float32[8@x,4]"
    loss = lambda y: lax.scan(lambda c, _: (c * 2, c.sum()), y, None, length=3)[1].sum()  # noqa: E731
    grad = sagax.grad(loss)(y)
    assert shown(grad) == "float32[8@x,4]"
    np.testing.assert_allclose(grad, np.full((8, 4), 7.0))
    grad = sagax.grad(sagax.checkpoint(lambda y: jnp.sin(y).sum()))(y)
    assert shown(grad) == "float32[8@x,4]"
    np.testing.assert_allclose(grad, np.cos(np.asarray(y)), rtol=1e-5)
    for call in (
        lambda: lax.cond(True, lambda: y, lambda: jnp.ones((8, 4))),
        lambda: lax.while_loop(lambda c: c.sum() < 10, lambda c: c + y, jnp.zeros((8, 4))),
        lambda: lax.scan(lambda c, r: (c + r, None), jnp.zeros(4), reshard(y, P(None, "y"))),
    ):
        with pytest.raises(TypeError, match=r"shardings do not match(.|\n)*sharding.reshard"):
            call()


def test_names_of_mapped_axes(mesh):
    double = lambda r: lax.with_sharding_constraint(r * 2, NamedSharding(mesh, P()))  # noqa: E731
    f = sagax.jit(sagax.vmap(double, spmd_axis_name="x"))
    assert f(numbers(8, 4)).sharding.spec == P("x")


def test_cotangents_without_a_mesh_in_force(eight_devices):
    mesh = sagax.make_mesh((4, 2), ("x", "y"))
    x = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x", "y")))
    for grad in (sagax.grad, lambda f: sagax.jit(sagax.grad(f))):
        found = grad(lambda x: (jnp.sin(x) ** 2).sum())(x)
        assert str(sagax.typeof(found)) == "float32[8@x,4@y]"
        np.testing.assert_allclose(found, np.sin(2 * np.asarray(x)), rtol=1e-4, atol=1e-5)


def test_formats(mesh):
    s = NamedSharding(mesh, P("x"))
    a = sagax.device_put(numbers(8, 4), Format(Layout((0, 1)), s))
    assert a.sharding is s and a.format == Format(Layout((0, 1)), s)
    assert sagax.jit(lambda a: a, out_shardings=Format(None, s))(numbers(8)).sharding is s
    hint = sagax.device_put(numbers(8, 4), Format(Layout((1, 0)), s))  # changes nothing
    assert hint.format == Format(Layout((0, 1)), s)
    np.testing.assert_array_equal(hint, numbers(8, 4))


def test_pjit(mesh):
    with mesh:
        found = pjit(lambda a: a * 2, P("x"), P("y"))(numbers(8, 4))
    assert found.sharding == NamedSharding(mesh, P("y"))


# --- together with other parts ---------------------------------------------------------------------------


def test_callbacks_in_divided_programs(mesh, capsys):
    x = sagax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, P("x")))
    seen = []

    @sagax.jit
    def f(x):
        sagax.debug.print("sum {}", x.sum())
        sagax.debug.callback(lambda x: seen.append(np.asarray(x)), x)
        total = io_callback(lambda x: np.float32(x.sum()), jnp.float32(0), x, ordered=True)
        return total + sagax.pure_callback(np.sin, x, x)

    np.testing.assert_allclose(f(x), 28 + np.sin(np.arange(8)), rtol=1e-6)
    sagax.effects_barrier()
    assert capsys.readouterr().out == "sum 28.0\n"
    np.testing.assert_array_equal(seen, [np.arange(8)])  # one device calls, with the whole array


def test_interchange(mesh):
    x = np.arange(8, dtype=np.float32)
    whole = sagax.device_put(x, NamedSharding(mesh, P()))
    np.testing.assert_array_equal(np.from_dlpack(whole), x)
    with pytest.raises(BufferError, match="divided among 8 devices"):
        np.from_dlpack(sagax.device_put(x, NamedSharding(mesh, P("x"))))


@pytest.mark.parametrize("explicit", [False, True])
def test_random_numbers_do_not_depend_on_the_mesh(eight_devices, explicit):
    kind = AxisType.Explicit if explicit else AxisType.Auto
    mesh = sagax.make_mesh((4, 2), ("x", "y"), (kind, kind))
    key = sagax.random.key(7)
    expected = np.asarray(sagax.random.normal(key, (8, 4)))
    place = NamedSharding(mesh, P("x", "y"))
    found = sagax.jit(lambda k: sagax.random.normal(k, (8, 4)), out_shardings=place)(key)
    np.testing.assert_array_equal(found, expected)
    with sagax.set_mesh(mesh):
        np.testing.assert_array_equal(sagax.random.normal(key, (8, 4)), expected)


def test_non_finite_values_are_found_in_divided_programs(mesh):
    x = sagax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P("x")))
    with sagax.debug_nans(True), pytest.raises(FloatingPointError, match="log was given: -1.0"):
        sagax.jit(lambda x: jnp.log(x - 2))(x)


def test_meshes_of_other_orders(mesh, eight_devices):
    x = np.arange(8, dtype=np.float32)
    backwards = Mesh(np.array(eight_devices)[::-1], ("z",))
    a = sagax.device_put(x, NamedSharding(mesh, P("x")))
    b = sagax.device_put(x, NamedSharding(backwards, P("z")))
    first, second, product = sagax.jit(lambda a, b: (a * 2, b * 3, a @ b))(a, b)
    assert first.sharding == a.sharding and second.sharding == b.sharding
    np.testing.assert_array_equal(first, x * 2)
    np.testing.assert_array_equal(second, x * 3)
    assert float(product) == 140.0
    for s in second.addressable_shards:
        np.testing.assert_array_equal(s.data, (x * 3)[s.index])
    np.testing.assert_array_equal(second + a, x * 4)
    np.testing.assert_array_equal(sagax.jit(lambda b: b, out_shardings=a.sharding)(b), x)


def test_one_device_may_be_asked_for(mesh, eight_devices):
    a = sagax.device_put(numbers(8), NamedSharding(mesh, P("x")))
    for device in (eight_devices[0], eight_devices[3]):
        found = sagax.jit(lambda x: x * 2, device=device)(a)
        assert found.devices() == {device}
        np.testing.assert_array_equal(found, np.asarray(a) * 2)
    single = sagax.make_mesh((1,), ("z",), (AxisType.Auto,))
    b = sagax.device_put(numbers(8), NamedSharding(single, P("z")))
    assert (b + sagax.device_put(numbers(8), eight_devices[0])).devices() == {eight_devices[0]}


SPECS = [
    P(),
    P("x"),
    P(None, "y"),
    P("y", "x"),
    P(("x", "y")),
    P(("y", "x")),
    P("z", ("x", "y")),
    P(("z", "x"), None, "y"),
    P(None, ("y", "z", "x")),
]


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_the_notation_of_the_engine(eight_devices, spec):
    mesh = sagax.make_mesh((2, 2, 2), ("x", "y", "z"))
    sharding = NamedSharding(mesh, spec)
    text, shape = sharding.engine_text(3), (8, 8, 8)
    numbered = np.arange(512).reshape(shape)
    # the engine itself says which part lies where, and what it says is found again as a specification
    of_engine = xla.shard_indices(text, shape, 8)
    for index, (device, own) in zip(
        of_engine, sharding.devices_indices_map(shape).items(), strict=True
    ):
        np.testing.assert_array_equal(numbered[own], numbered[index], err_msg=str(device))
    tiles = Tiles(*xla.sharding_tiles(text, 8, 3))
    assert tiles == sharding.tiles(3)
    assert described(tiles, mesh) is sharding


def test_what_no_specification_describes_gets_a_mesh_of_its_own(mesh, eight_devices):
    # half of an axis of size 4
    tiles = Tiles((2,), tuple((i // 4,) for i in range(8)))
    found = described(tiles, mesh)
    assert found.mesh is not mesh and found.shard_shape((8,)) == (4,)
    assert [i[0] for i in found.devices_indices_map((8,)).values()] == [slice(0, 4)] * 4 + [
        slice(4, 8)
    ] * 4
    x = numbers(8)
    a = sagax.device_put(x, found)
    b = sagax.device_put(x, NamedSharding(mesh, P("x")))
    np.testing.assert_array_equal(a + b, x * 2)


def test_virtual_devices_of_a_process(run_python):
    code = """
import numpy as np, sagax
sagax.config.update("num_cpu_devices", 4)
from sagax.sharding import NamedSharding, PartitionSpec as P
mesh = sagax.make_mesh((4,), ("x",))
x = sagax.device_put(np.arange(8.0), NamedSharding(mesh, P("x")))
print(sagax.typeof(sagax.jit(lambda x: x * 2)(x)), len(x.devices()))
"""
    assert run_python("-c", code).stdout == "float32[8@x] 4\n"


@pytest.mark.parametrize("explicit", [False, True])
def test_arrays_like_divided_ones(eight_devices, explicit):
    kind = AxisType.Explicit if explicit else AxisType.Auto
    mesh = sagax.make_mesh((4, 2), ("x", "y"), (kind, kind))
    a = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x")))
    like = (jnp.zeros_like, jnp.ones_like, jnp.empty_like, lambda x: jnp.full_like(x, 2))
    for make in (*like, lambda x: lax.full_like(x, 3.0), lambda x: jnp.zeros_like(x, int)):
        made = make(a)
        assert made.sharding.is_equivalent_to(a.sharding, 2)
        assert str(sagax.typeof(made)).endswith("[8@x,4]" if explicit else "[8,4]")
        if explicit:
            assert "8@x" in str(sagax.typeof(sagax.jit(make)(a)))
    assert jnp.zeros_like(a, shape=(4,)).devices() == {eight_devices[0]}
    bound = sagax.device_put(numbers(3), eight_devices[2])
    assert jnp.zeros_like(bound).devices() == {eight_devices[2]}
    assert [r.shape for r in a] == [(4,)] * 8


def test_donated_memory_is_taken_over(mesh):
    s = NamedSharding(mesh, P("x"))
    x = sagax.device_put(numbers(64, 4), s)
    f = sagax.jit(lambda x, y: x + y.sum(), donate_argnums=0, out_shardings=s)
    stats = f.lower(x, x).compile().memory_analysis()
    assert stats.alias_size_in_bytes == x.nbytes // 4  # the part of each device
    whole = sagax.device_put(np.ones(1 << 12, np.float32), NamedSharding(mesh, P()))
    g = sagax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=NamedSharding(mesh, P()))
    np.testing.assert_array_equal(g(whole), np.full(1 << 12, 2, np.float32))
    assert whole.is_deleted()


def test_a_constraint_without_axes_replicates(mesh):
    x = sagax.device_put(numbers(8, 4), NamedSharding(mesh, P("x")))
    whole = NamedSharding(mesh, P())
    f = sagax.jit(lambda x: lax.with_sharding_constraint(jnp.sin(x), whole))
    assert f(x).sharding.is_fully_replicated
