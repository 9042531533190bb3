"""Transfers between processes, costs from profiles, fused functions, tokens, layouts and kinds of memory."""

from __future__ import annotations

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax, memory
from sagax.errors import ArgumentError, ArgumentValueError
from sagax.experimental import fused, profiler, transfer
from sagax.experimental.layout import Format, Layout
from sagax.extend.core import Token
from sagax.sharding import SingleDeviceSharding


def test_arrays_are_pulled_from_a_server():
    device = sagax.devices()[0]
    here = SingleDeviceSharding(device)
    server = transfer.start_transfer_server(device.client, "127.0.0.1:0", ["127.0.0.1:0"])
    offered = {"w": snp.arange(6.0).reshape(2, 3), "n": snp.int32(7)}
    server.await_pull(1, offered)
    wanted = sagax.tree.map(
        lambda x: sagax.ShapeDtypeStruct(x.shape, x.dtype, sharding=here), offered
    )
    found = server.connect(server.address()).pull(1, wanted)
    np.testing.assert_array_equal(found["w"], offered["w"])
    np.testing.assert_array_equal(found["w"] + 1, offered["w"] + 1)
    assert int(found["n"]) == 7
    with pytest.raises(ArgumentError, match="with a sharding"):
        server.connect(server.address()).pull(2, sagax.ShapeDtypeStruct((2,), "float32"))


def test_costs_from_a_profile(tmp_path):
    with sagax.profiler.trace(tmp_path):
        sagax.jit(lambda x: x @ x)(snp.ones((50, 50))).block_until_ready()
    (folder,) = {path.parent for path in tmp_path.rglob("*.xplane.pb")}
    assert isinstance(profiler.get_profiled_instructions_proto(folder), bytes)


def test_fused_functions():
    two = fused.fused(out_spaces=(memory.Space.Device, memory.Space.Device))
    a, b = two(lambda x: (x + 1, x * 2))(3.0)
    assert (float(a), float(b)) == (4.0, 6.0)
    assert float(sagax.grad(lambda x: two(lambda x: (x * x, x))(x)[0])(3.0)) == 6.0
    with pytest.raises(ArgumentValueError, match=r"out_spaces\[0\]"):
        fused.fused(out_spaces=("host",))


def test_jitted_functions_take_and_return_tokens():
    value, token = sagax.jit(lambda x: (x + 1, lax.create_token(x)))(1.0)
    assert float(value) == 2.0 and isinstance(token, Token)
    joined = sagax.jit(lambda t, x: lax.after_all(t, lax.create_token(x)))(token, 1.0)
    assert isinstance(joined, Token)
    assert isinstance(sagax.jit(lambda t: {"same": t})(joined)["same"], Token)


def test_layouts_left_to_the_compiler():
    auto = Format(Layout.AUTO)
    f = sagax.jit(lambda x: x * 2, in_shardings=auto, out_shardings=auto)
    compiled = f.lower(sagax.ShapeDtypeStruct((4,), "float32")).compile()
    (args, _) = compiled.input_formats
    x = sagax.device_put(np.ones(4, "float32"), args[0])
    np.testing.assert_array_equal(compiled(x), np.full(4, 2.0))
    np.testing.assert_array_equal(f(np.ones(4, "float32")), np.full(4, 2.0))
    assert "AUTO" in repr(auto)


def test_kinds_of_memory():
    x = snp.arange(3.0)
    host = sagax.device_put(x, memory.Space.Host)
    assert host.sharding.memory_kind == "pinned_host"
    back = sagax.device_put(host, memory.Space.Device)
    assert back.sharding.memory_kind == x.sharding.memory_kind
    np.testing.assert_array_equal(back, x)
    f = sagax.jit(
        lambda x: sagax.device_put(sagax.device_put(x, memory.Space.Host) * 2, memory.Space.Device)
    )
    np.testing.assert_array_equal(f(x), 2 * x)
