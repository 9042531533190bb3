"""Exported programs for several devices: their shardings, and where they may be called."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import export, lax
from sagax.sharding import AxisType, Mesh, NamedSharding
from sagax.sharding import PartitionSpec as P

S = sagax.ShapeDtypeStruct
X = np.linspace(0, 1, 32, dtype=np.float32).reshape(8, 4)
Y = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)


@pytest.fixture
def mesh(eight_devices):
    return Mesh(np.asarray(eight_devices).reshape(4, 2), ("a", "b"))


@pytest.fixture
def exported(mesh):
    divided = sagax.jit(
        lambda x, y: (snp.sin(x) @ y, x.sum()),
        in_shardings=(NamedSharding(mesh, P("a", "b")), None),
        out_shardings=(NamedSharding(mesh, P("a")), None),
    )
    return export.export(divided)(S(X.shape, "float32"), S(Y.shape, "float32"))


def on(mesh, *spec):
    return sagax.device_put(X, NamedSharding(mesh, P(*spec)))


def test_what_an_export_knows_of_devices(exported, mesh):
    assert exported.nr_devices == 8
    for e in (exported, export.deserialize(exported.serialize())):
        assert e.nr_devices == 8
        assert e.in_shardings_hlo == (None, None)  # as in jax 0.12
        assert e.in_shardings_jax(mesh) == (NamedSharding(mesh, P("a", "b")), None)
        assert e.out_shardings_jax(mesh) == (NamedSharding(mesh, P("a")), None)
        assert e.in_avals == exported.in_avals and e.in_avals[0].explicit_sharding is None
        with pytest.raises(ValueError, match="exported over a mesh of the axes"):
            e.in_shardings_jax(Mesh(mesh.devices.reshape(8), ("z",)))
    text = exported.mlir_module()
    assert "num_partitions = 8" in text and 'sdy.mesh @mesh = <["a"=4, "b"=2]>' in text
    one = export.export(sagax.jit(snp.sin))(1.0)
    assert one.nr_devices == 1 and one.in_shardings_jax(mesh) == (None,)


def test_calls_on_as_many_devices(exported, mesh):
    other = Mesh(mesh.devices.reshape(8)[::-1], ("z",))
    for e in (exported, export.deserialize(exported.serialize())):
        for x in (on(mesh, "a", "b"), on(mesh), on(mesh, None, "a"), on(other, "z")):
            product, total = e.call(x, Y)
            np.testing.assert_allclose(product, np.sin(X) @ Y, rtol=1e-4)
            np.testing.assert_allclose(total, X.sum(), rtol=1e-6)
        product, _ = e.call(on(mesh), Y)
        assert product.sharding.is_equivalent_to(NamedSharding(mesh, P("a")), 2)
        inside = sagax.jit(e.call, in_shardings=e.in_shardings_jax(mesh))
        np.testing.assert_allclose(inside(X, Y)[0], np.sin(X) @ Y, rtol=1e-4)


def test_calls_on_other_numbers_of_devices(exported, mesh):
    four = Mesh(mesh.devices[:2].reshape(4), ("z",))
    for x, count in ((X, 1), (on(four, "z"), 4)):
        with pytest.raises(
            ValueError, match=f"for 8 devices and is called in a context with {count} devices"
        ):
            exported.call(x, Y)


def test_programs_for_one_device_run_on_several(mesh):
    e = export.export(sagax.jit(lambda x: x * 2))(S(X.shape, "float32"))
    np.testing.assert_array_equal(e.call(on(mesh, "a")), 2 * X)


def test_devices_named_inside_of_the_function(mesh):
    summed = sagax.shard_map(lambda x: lax.psum(x, "a"), mesh=mesh, in_specs=P("a"), out_specs=P())
    fixed = lambda x: lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P("b")))  # noqa: E731
    for f, expected in ((summed, X.reshape(4, 2, 4).sum(0)), (fixed, 2 * X)):
        e = export.export(sagax.jit(f))(S(X.shape, "float32"))
        assert e.nr_devices == 8
        again = export.deserialize(e.serialize())
        np.testing.assert_allclose(again.call(on(mesh, "b")), expected, rtol=1e-6)


def test_structs_with_shardings_and_explicit_axes(eight_devices):
    explicit = Mesh(
        np.asarray(eight_devices).reshape(4, 2), ("a", "b"), axis_types=(AxisType.Explicit,) * 2
    )
    sharding = NamedSharding(explicit, P("a", "b"))
    with sagax.set_mesh(explicit):
        e = export.export(sagax.jit(lambda x: snp.sin(x) * 2))(
            S(X.shape, "float32", sharding=sharding)
        )
        x = sagax.device_put(X, sharding)
        for exp in (e, export.deserialize(e.serialize(vjp_order=1))):
            assert exp.out_shardings_jax(explicit) == (sharding,)
            np.testing.assert_allclose(exp.call(x), 2 * np.sin(X), rtol=1e-6)
            slope = sagax.grad(lambda x, call=exp.call: call(x).sum())(x)
            np.testing.assert_allclose(slope, 2 * np.cos(X), rtol=1e-5)


def test_derivatives_are_divided_as_what_they_belong_to(exported, mesh):
    derivative = exported.vjp()
    assert derivative.nr_devices == 8
    a, ab = NamedSharding(mesh, P("a")), NamedSharding(mesh, P("a", "b"))
    assert derivative.in_shardings_jax(mesh) == (ab, None, a, None)
    assert derivative.out_shardings_jax(mesh) == (ab, None)
    loaded = export.deserialize(exported.serialize(vjp_order=2))
    x = on(mesh, "a", "b")
    slope = sagax.grad(lambda x: loaded.call(x, Y)[0].sum())(x)
    np.testing.assert_allclose(slope, np.cos(X) * Y.sum(1), rtol=1e-4, atol=1e-6)
    assert slope.sharding.is_equivalent_to(ab, 2)
    _, pushed = sagax.jvp(lambda x: loaded.call(x, Y)[1], (x,), (snp.ones_like(x),))
    np.testing.assert_allclose(pushed, 32.0)


def test_symbolic_sizes_and_nested_programs(exported, mesh):
    (b,) = export.symbolic_shape("b")
    divided = sagax.jit(lambda x: snp.cumsum(x, 0), in_shardings=NamedSharding(mesh, P("a")))
    e = export.deserialize(export.export(divided)(S((4 * b, 4), "float32")).serialize())
    np.testing.assert_allclose(e.call(on(mesh, "a")), np.cumsum(X, 0), rtol=1e-5)
    outer = sagax.jit(
        lambda x: exported.call(e.call(x), Y)[0] + 1, in_shardings=NamedSharding(mesh, P("b"))
    )
    nested = export.export(outer)(S(X.shape, "float32"))
    assert nested.nr_devices == 8
    expected = np.sin(np.cumsum(X, 0)) @ Y + 1
    np.testing.assert_allclose(nested.call(on(mesh, "b")), expected, rtol=1e-4, atol=1e-5)
