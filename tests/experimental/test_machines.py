"""Callbacks on buffers, units and descriptions of machines, forbidden collectives."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax.experimental import multihost_utils, topologies
from sagax.experimental.buffer_callback import Buffer, ExecutionStage, buffer_callback
from sagax.experimental.compute_on import compute_on
from sagax.memory import Space
from sagax.sharding import P, no_collectives, reshard


def test_a_callback_writes_into_buffers():
    seen = []

    def swap(ctx, outs, x, *, by):
        assert ctx.stage == ExecutionStage.EXECUTE and isinstance(x, Buffer)
        seen.append(np.asarray(x).shape)
        np.asarray(outs["sum"])[...] = np.asarray(x) + np.asarray(by)
        np.asarray(outs["product"])[...] = np.asarray(x) * np.asarray(by)

    struct = sagax.ShapeDtypeStruct((3,), "float32")
    f = buffer_callback(swap, {"sum": struct, "product": struct}, vmap_method="sequential")
    x, by = snp.arange(3.0), snp.full(3, 2.0)
    for run in (f, sagax.jit(f)):
        found = run(x, by=by)
        np.testing.assert_array_equal(found["sum"], [2, 3, 4])
        np.testing.assert_array_equal(found["product"], [0, 2, 4])
    batched = sagax.vmap(lambda x: f(x, by=by)["product"])(snp.ones((2, 3)))
    np.testing.assert_array_equal(batched, np.full((2, 3), 2.0))
    assert seen == [(3,)] * 4
    with pytest.raises(ValueError, match="JVP"):
        sagax.grad(lambda x: f(x, by=by)["sum"].sum())(x)


def test_a_callback_that_overwrites_its_operand_or_raises():
    def in_place(ctx, out, x):
        np.asarray(out)[...] += 1

    f = buffer_callback(
        in_place, sagax.ShapeDtypeStruct((2,), "float32"), input_output_aliases={0: 0}
    )
    np.testing.assert_array_equal(sagax.jit(lambda x: f(x * 2))(snp.ones(2)), [3.0, 3.0])
    with pytest.raises(ValueError, match="input_output_aliases"):
        f(snp.ones(3))

    def wrong(ctx, out, x):
        raise KeyError("no such thing")

    with pytest.raises(Exception, match="no such thing"):
        buffer_callback(wrong, sagax.ShapeDtypeStruct((), "float32"))(1.0).block_until_ready()


def test_units_of_a_machine():
    def marks(kind):
        f = compute_on(lambda x: x * 2, compute_type=kind, out_memory_spaces=Space.Device)
        assert float(sagax.jit(f)(3.0)) == 6.0
        return sagax.jit(f).lower(3.0).as_text()

    assert '_xla_compute_type = "host"' in marks("device_host")  # as jax writes it
    assert '_xla_stream_annotation = "1"' in marks("gpu_stream:1")
    with pytest.raises(ValueError, match="Invalid compute type foo"):
        compute_on(abs, compute_type="foo", out_memory_spaces=Space.Device)
    with pytest.raises(NotImplementedError):
        compute_on(abs, compute_type="device", out_memory_spaces=Space.Host)


def test_descriptions_of_machines():
    attached = topologies.get_attached_topology("cpu")
    described = topologies.TopologyDescription.deserialize(attached.serialize())
    assert len(described.devices) == len(attached.devices)
    assert {d.device_kind for d in described.devices} == {d.device_kind for d in attached.devices}
    mesh = topologies.make_mesh(attached, (1, len(attached.devices)), ("a", "b"))
    assert dict(mesh.shape) == {"a": 1, "b": len(attached.devices)}
    with pytest.raises(NotImplementedError, match="cpu"):
        topologies.get_topology_desc("x", "cpu")
    with pytest.raises(RuntimeError, match="initialize"):
        with multihost_utils.live_devices(sagax.devices()):
            pass


def test_forbidden_collectives(eight_devices):
    mesh = sagax.make_mesh((4, 2), ("i", "j"))
    with sagax.set_mesh(mesh):
        x = sagax.device_put(snp.ones((8, 4)), P("i", "j"))

        def spec(fun):
            with no_collectives({"i"}):
                return sagax.typeof(fun(x)).sharding.spec

        # what jax 0.12.0 allows and refuses
        assert spec(lambda x: reshard(x, P("i", None))) == P("i", None)
        assert spec(lambda x: x.sum(1)) == P("i")
        refused = [
            lambda x: reshard(x, P(None, "j")),
            lambda x: reshard(x, P("j", "i")),
            lambda x: x.sum(0),
            lambda x: snp.einsum("ij,ik->jk", x, x, out_sharding=P()),
            sagax.jit(lambda x: reshard(x, P(None, "j"))),
        ]
        for fun in refused:
            fun(x)  # and so the type is known
            with pytest.raises(TypeError, match="Collective across axis 'i' is forbidden"):
                spec(fun)
    with pytest.raises(ValueError, match="a set of names"):
        no_collectives("i")
