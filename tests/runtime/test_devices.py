"""Devices: which there are, where arrays lie and go, what is bound to what; waiting for values."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax._src import xla
from sagax._src.runtime import devices as runtime_devices

THREE = {"XLA_FLAGS": "--xla_force_host_platform_device_count=3", "JAX_PLATFORMS": "cpu"}


@pytest.fixture
def on_three(run_python):
    """Runs a program on three virtual CPU devices; what it prints, line by line."""

    def run(program, env=THREE):
        head = "import numpy as np, sagax, sagax.numpy as snp\nd = sagax.devices()\n"
        done = run_python("-c", head + textwrap.dedent(program), env=env)
        return done.stdout.splitlines()

    return run


# which devices there are ----------------------------------------------------------------------------


def test_devices_of_this_process():
    (first, *_) = sagax.devices()
    assert sagax.devices() == sagax.devices(sagax.default_backend())
    assert sagax.local_devices() == sagax.devices()
    assert sagax.local_devices(process_index=0, backend="cpu") == sagax.devices("cpu")
    assert sagax.device_count() == sagax.local_device_count() == len(sagax.devices())
    assert (first.platform, first.id, first.process_index) == ("cpu", 0, 0)
    assert isinstance(first, sagax.Device)


@pytest.mark.parametrize(
    ("env", "count"),
    [
        (THREE, 3),
        ({"JAX_NUM_CPU_DEVICES": "2"}, 2),
        ({"SAGAX_NUM_CPU_DEVICES": "2", "XLA_FLAGS": THREE["XLA_FLAGS"]}, 2),
        ({"JAX_PLATFORMS": "cuda,cpu"}, 1),
        ({"SAGAX_PLATFORMS": "cpu", "JAX_PLATFORMS": "cuda"}, 1),
    ],
    ids=["flag", "option", "both", "list", "ours"],
)
def test_the_environment_says_which_devices_there_are(on_three, env, count):
    lines = on_three("print(sagax.device_count(), sagax.default_backend())", env)
    assert lines == [f"{count} cpu"]


def test_options_that_come_too_late(on_three):
    program = """
        for name, value in [("num_cpu_devices", 5), ("platforms", "cuda")]:
            try:
                sagax.config.update(name, value)
            except RuntimeError as error:
                print(error)
        sagax.config.update("num_cpu_devices", 3)
        sagax.config.update("platforms", "cpu")
        print("fits")
    """
    first, second, third = on_three(program)
    assert "'num_cpu_devices' cannot be set to 5 any more" in first
    assert "started with 3 devices" in first
    assert "JAX_PLATFORMS=cuda" in second
    assert third == "fits"


def test_a_number_of_devices_that_is_none(run_python):
    done = run_python(
        "-c", "import sagax; sagax.devices()", env={"JAX_NUM_CPU_DEVICES": "0"}, status=1
    )
    assert "num_cpu_devices is 0" in done.stderr


def test_platforms_that_are_not_there(monkeypatch):
    with pytest.raises(RuntimeError, match="Unknown backend 'tpu'"):
        sagax.devices("tpu")
    with pytest.raises(
        RuntimeError, match="Unknown backend 'cuda': the platform could not be started"
    ) as caught:
        _without_plugin(monkeypatch)
        sagax.devices("gpu")
    assert "python -m sagax doctor" in str(caught.value)


def _without_plugin(monkeypatch):
    monkeypatch.setattr(runtime_devices, "_failures", {})
    monkeypatch.setattr(runtime_devices.xla.cuda_wheels, "find_plugin", lambda: None)


def test_a_platform_that_was_left_out(run_python):
    program = "import sagax; sagax.devices('gpu')"
    done = run_python("-c", program, env={"JAX_PLATFORMS": "cpu"}, status=1)
    assert (
        "'cuda': it was left out: the option 'platforms' (JAX_PLATFORMS) names cpu" in done.stderr
    )
    assert "JAX_PLATFORMS=cpu,cuda" in done.stderr


def test_a_platform_that_must_be_there(run_python):
    program = "import sagax; sagax.devices()"
    done = run_python("-c", program, env={"JAX_PLATFORMS": "cuda"}, status=1)
    assert "BackendError" in done.stderr
    assert "python -m sagax doctor" in done.stderr


def test_the_cpu_stands_in_for_a_gpu_that_fails(monkeypatch, caplog):
    """A plugin without a GPU: a warning, and the CPU."""
    monkeypatch.setattr(runtime_devices, "_failures", {})
    monkeypatch.setattr(runtime_devices.xla.cuda_wheels, "plugin_available", lambda: True)
    monkeypatch.setattr(runtime_devices, "_selected_platforms", lambda: (["cuda", "cpu"], ""))

    def no_gpu(options=None):
        raise runtime_devices.xla.cuda.CudaUnavailable(
            "starting the client", "no GPU", "See nvidia-smi."
        )

    monkeypatch.setattr(runtime_devices.xla.cuda, "make_client", no_gpu)
    found = runtime_devices._first_that_starts()
    assert found.platform == "cpu"
    assert "starting the client: no GPU" in caplog.text
    assert "python -m sagax doctor" in caplog.text


def test_visible_gpus_are_numbers():
    assert runtime_devices._cuda_options("all") == {}
    assert runtime_devices._cuda_options("0,2") == {"visible_devices": [0, 2]}
    with pytest.raises(RuntimeError, match="cuda_visible_devices is 'first'"):
        runtime_devices._cuda_options("first")


# where arrays lie -----------------------------------------------------------------------------------


def test_placement_and_commitment(on_three):
    """What the documentation of jax says of committed and uncommitted arrays."""
    program = """
        a = snp.ones(3)
        print(a.devices(), a.committed, a.device)
        b = sagax.device_put(1, d[2])
        print(b.devices(), b.committed)
        print(sagax.device_put(b).committed, sagax.device_put(a).committed, sagax.device_put(np.ones(2)).committed)
        c = a + b
        print(c.devices(), c.committed)
        f = sagax.jit(lambda x, y: x * y)
        print(f(a, a).devices(), f(a, a).committed)
        print(f(a, b).devices(), f(a, b).committed)
        print(sagax.device_put(b, d[1]).devices(), b.devices())
        print(float(sagax.device_put(sagax.device_put(snp.arange(4.0), d[1]), d[2]).sum()))
    """
    assert on_three(program) == [
        "{CpuDevice(id=0)} False cpu:0",
        "{CpuDevice(id=2)} True",
        "True False False",
        "{CpuDevice(id=2)} True",
        "{CpuDevice(id=0)} False",
        "{CpuDevice(id=2)} True",
        "{CpuDevice(id=1)} {CpuDevice(id=2)}",
        "6.0",
    ]


def test_default_device(on_three):
    program = """
        f = sagax.jit(lambda x: x + 1)
        x = snp.ones(3)
        with sagax.default_device(d[1]):
            y = snp.ones(3)
            print(y.devices(), y.committed, (y + 1).devices(), f(x).devices(), f(1.0).devices())
        print(f(x).devices(), f(y).devices(), (y + 1).devices())
        with sagax.default_device("cpu"):
            print(snp.ones(3).devices())
        sagax.config.update("jax_default_device", d[2])
        print(snp.zeros(2).devices(), f(y).devices(), sagax.random.key(0).devices())
        sagax.config.update("jax_default_device", None)
        print(snp.zeros(2).devices())
    """
    assert on_three(program) == [
        "{CpuDevice(id=1)} False {CpuDevice(id=1)} {CpuDevice(id=1)} {CpuDevice(id=1)}",
        "{CpuDevice(id=0)} {CpuDevice(id=0)} {CpuDevice(id=0)}",
        "{CpuDevice(id=0)}",
        "{CpuDevice(id=2)} {CpuDevice(id=2)} {CpuDevice(id=2)}",
        "{CpuDevice(id=0)}",
    ]


def test_an_array_stays_on_the_default_device_of_its_time(on_three):
    program = """
        with sagax.default_device(d[1]):
            made = [snp.ones(3), snp.arange(3), snp.asarray([1, 2]), snp.ones(3) + 1,
                    sagax.device_put(np.ones(3)), sagax.jit(lambda: snp.ones(3))()]
        print([x.device.id for x in made])
    """
    assert on_three(program) == ["[1, 1, 1, 1, 1, 1]"]


def test_values_of_default_device():
    with pytest.raises(ValueError, match="must be a device, a sharding or a platform name"):
        sagax.default_device("abacus")
    with pytest.raises(ValueError, match="default_device"):
        sagax.config.update("jax_default_device", 3)


def test_arrays_on_different_devices(on_three):
    program = """
        import sagax.errors
        first = sagax.device_put(snp.ones(3), d[0])
        second = sagax.device_put(np.ones(3, np.float32), d[1])
        later = second * 2

        @sagax.jit
        def apply(params, batch):
            return params["w"] + batch

        for call in (lambda: first + second, lambda: apply({"w": first}, batch=second),
                     lambda: apply({"w": first}, later)):
            try:
                call()
            except ValueError as error:
                print(type(error).__name__, error.args[0])
    """
    eager, jitted, derived = on_three(program)
    assert eager.startswith("DeviceConflictError add: Received incompatible devices")
    for text in (jitted, derived):
        assert "params['w'] (float32[3]) is committed to CpuDevice(id=0) (at <string>:5)" in text
        assert "batch (float32[3]) is committed to CpuDevice(id=1) (at <string>:6)" in text


def test_jit_on_a_device(on_three):
    program = """
        import warnings
        f = sagax.jit(lambda x: x + 1, device=d[1])
        print(f(snp.ones(2)).devices(), f(1.0).devices())
        g = sagax.jit(lambda x: x + 1, backend="cpu")
        print(g(1.0).devices())
    """
    assert on_three(program) == [
        "{CpuDevice(id=1)} {CpuDevice(id=1)}",
        "{CpuDevice(id=0)}",
    ]


# device_put and device_get --------------------------------------------------------------------------


def test_device_put_of_a_pytree(on_three):
    program = """
        tree = {"a": np.ones(2), "b": [snp.zeros(3), 1]}
        def where(t):
            return [x.device.id for x in sagax.tree.leaves(t)]
        print(where(sagax.device_put(tree, d[2])))
        print(where(sagax.device_put(tree, {"a": d[1], "b": d[2]})))
        print(where(sagax.device_put(tree, {"a": d[1], "b": [None, d[2]]})))
        try:
            sagax.device_put(tree, {"a": d[1]})
        except ValueError as error:
            print(error.args[0].splitlines()[0])
        moved = sagax.device_put(tree, d[1], src=d[0])
        print(sagax.device_get(moved)["b"])
    """
    *places, error, got = on_three(program)
    assert places == ["[2, 2, 2]", "[1, 2, 2]", "[1, 0, 2]"]
    assert "device specification must be a tree prefix" in error
    assert got == "[array([0., 0., 0.], dtype=float32), array(1, dtype=int32)]"


def test_donate_and_may_alias(on_three):
    program = """
        x = snp.ones(100) * 2
        y = sagax.device_put(x, d[1], donate=True)
        print(x.is_deleted(), float(y.sum()))
        x = snp.ones(100) * 2
        y = sagax.device_put(x, d[0], may_alias=False)
        y.delete()
        print(x.is_deleted())
        try:
            sagax.device_put(x, d[0], donate=True, may_alias=True)
        except ValueError as error:
            print(error.args[0].splitlines()[0])
    """
    first, second, third = on_three(program)
    assert first == "True 200.0"
    assert second == "False"
    assert "may_alias and donate" in third


@pytest.mark.parametrize("size", [10, 1 << 16])
@pytest.mark.parametrize("committed", [False, True])
def test_later_changes_of_a_numpy_array_do_not_show(size, committed):
    x = np.ones(size, np.float32)
    y = sagax.device_put(x, sagax.devices()[0] if committed else None)
    z = sagax.jit(lambda y: y * 2)(y)
    x[:] = 5
    assert float(y[0]) == 1.0
    assert float(z.sum()) == 2.0 * size


@pytest.mark.parametrize(
    "x",
    [
        np.arange(1 << 17, dtype=np.int32)[::2],
        np.ones((300, 300), np.float32).T,
        np.ones((1 << 16, 0)),
    ],
    ids=["strided", "transposed", "empty"],
)
def test_large_arrays_of_any_layout(x):
    y = sagax.device_put(x, sagax.devices()[0])
    np.testing.assert_array_equal(np.asarray(y), x)
    np.testing.assert_array_equal(sagax.jit(lambda y: y + y)(y), x + x)


def test_device_put_of_bfloat16_and_keys():
    x = snp.ones(40_000, "bfloat16")
    host = np.asarray(x)
    np.testing.assert_array_equal(sagax.device_put(host, sagax.devices()[0]), host)
    keys = sagax.random.split(sagax.random.key(0), 3)
    moved = sagax.device_put(keys, sagax.devices()[0])
    np.testing.assert_array_equal(sagax.random.key_data(moved), sagax.random.key_data(keys))


def test_device_get_gives_numpy():
    got = sagax.device_get({"x": snp.arange(3), "y": (1, None), "z": np.ones(2)})
    assert [type(v) for v in (got["x"], got["z"])] == [np.ndarray, np.ndarray]
    assert got["y"] == (1, None)


# waiting --------------------------------------------------------------------------------------------


def test_block_until_ready():
    x = snp.ones(3)
    assert x.block_until_ready() is x
    tree = {"a": x, "b": (1, "text", None)}
    assert sagax.block_until_ready(tree) is tree
    assert x.is_ready()


def test_block_until_ready_waits_for_whatever_can_be_waited_for():
    class Later:
        waited = 0

        def block_until_ready(self):
            self.waited += 1

    big = snp.ones((700, 700))
    product = sagax.jit(lambda x: x @ x @ x)(big)
    later = Later()
    sagax.block_until_ready([big, later, 2.5, np.ones(2), {"product": product, "text": "none"}])
    assert product.is_ready()
    assert later.waited == 1


def test_block_until_ready_of_many_says_which_memory_was_given_away():
    add = sagax.jit(lambda x: x + 1)
    first, second, third = (add(snp.ones(3) * i) for i in range(3))
    second.delete()
    with pytest.raises(sagax.errors.DeletedArrayError) as of_one:
        second.block_until_ready()
    with pytest.raises(sagax.errors.DeletedArrayError) as of_many:
        sagax.block_until_ready({"a": first, "b": second, "c": third})
    assert str(of_many.value).splitlines()[0] == str(of_one.value).splitlines()[0]


def test_results_come_later():
    big = snp.ones((700, 700))
    power = sagax.jit(lambda x: sagax.lax.fori_loop(0, 40, lambda _, y: y @ x / 700, x))
    power(big)
    y = power(big)
    early = y.is_ready()  # the program has just begun
    y.block_until_ready()
    assert (early, y.is_ready()) == (False, True)
    np.testing.assert_allclose(np.asarray(y)[0, 0], 1.0, rtol=1e-3)


def test_copy_to_host_async():
    x = sagax.jit(lambda x: x + 1)(snp.ones(3))
    assert x.copy_to_host_async() is None
    np.testing.assert_array_equal(np.asarray(x), [2.0, 2.0, 2.0])
    x.delete()
    with pytest.raises(RuntimeError, match="Array has been deleted"):
        x.copy_to_host_async()


def test_deleted_arrays():
    x = snp.ones(3) + 0
    assert not x.is_deleted()
    x.delete()
    x.delete()  # once more is no mistake
    assert x.is_deleted()
    for use in (x.is_ready, x.block_until_ready, x.tolist, lambda: x.addressable_data(0)):
        with pytest.raises(RuntimeError, match="Array has been deleted"):
            use()


def test_live_arrays():
    before = sagax.live_arrays()
    x = snp.full(7, 3.0)
    y = sagax.device_put(snp.full(5, 2.0), sagax.devices()[0])
    found = [a for a in sagax.live_arrays() if not any(a is b for b in before)]
    assert {id(x), id(y)} <= {id(a) for a in found}
    y.delete()
    assert not any(a is y for a in sagax.live_arrays("cpu"))


def test_memory_kinds():
    device = sagax.devices()[0]
    assert device.default_memory().kind == "device"
    assert {m.kind for m in device.addressable_memories()} >= {"device", "pinned_host"}


# GPUs: what can be tested without one ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "option", "value"),
    [
        ({"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.4"}, "memory_fraction", 0.4),
        ({"XLA_CLIENT_MEM_FRACTION": "0.3"}, "memory_fraction", 0.3),
        ({"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}, "preallocate", False),
        ({"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}, "allocator", "platform"),
        ({}, "visible_devices", [1]),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_variables_of_the_gpu_client_are_honoured(monkeypatch, variables, option, value):
    given = {}
    plugin = xla.cuda_wheels.CudaPlugin(13, None, "", "")
    monkeypatch.setattr(xla.cuda, "check_plugin", lambda: plugin)
    monkeypatch.setattr(xla.cuda, "load_libraries", lambda plugin: None)
    monkeypatch.setattr(xla.cuda, "load_plugin", lambda plugin: None)
    monkeypatch.setattr(xla.engine.xla_client, "pjrt_plugin_initialized", lambda name: True)
    monkeypatch.setattr(
        xla.engine.xla_client,
        "make_c_api_client",
        lambda name, options, distributed: given.update(options),
    )
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    xla.cuda.make_client({"visible_devices": [1]} if option == "visible_devices" else None)
    assert given[option] == value


def test_a_bad_variable_of_the_gpu_client_is_told(monkeypatch):
    monkeypatch.setattr(runtime_devices, "_failures", {})
    monkeypatch.setenv("XLA_PYTHON_CLIENT_ALLOCATOR", "mine")
    monkeypatch.setattr(
        xla.cuda, "check_plugin", lambda: xla.cuda_wheels.CudaPlugin(13, None, "", "")
    )
    monkeypatch.setattr(xla.cuda, "load_libraries", lambda plugin: None)
    monkeypatch.setattr(xla.cuda, "load_plugin", lambda plugin: None)
    monkeypatch.setattr(xla.engine.xla_client, "pjrt_plugin_initialized", lambda name: True)
    with pytest.raises(RuntimeError, match="XLA_PYTHON_CLIENT_ALLOCATOR.*mine"):
        sagax.devices("cuda")


def test_arrays_in_other_memories_of_a_device():
    from_sharding = sagax.sharding.SingleDeviceSharding
    device = sagax.devices()[0]
    x = sagax.device_put(
        np.arange(4.0, dtype=np.float32), from_sharding(device, memory_kind="pinned_host")
    )
    assert x.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(x), [0, 1, 2, 3])
    back = sagax.device_put(x, from_sharding(device, memory_kind="device"))
    assert back.sharding.memory_kind == "device"
    np.testing.assert_array_equal(np.asarray(sagax.jit(lambda x: x * 2)(back)), [0, 2, 4, 6])


def test_copies_of_a_pytree_to_the_host():
    tree = {"a": sagax.jit(lambda x: x + 1)(snp.ones(3)), "b": (np.ones(2), 3, None)}
    assert sagax.copy_to_host_async(tree) is tree
    np.testing.assert_array_equal(np.asarray(tree["a"]), [2.0, 2.0, 2.0])


def test_processes():
    assert sagax.process_indices() == [0] == [sagax.process_index()]
    assert sagax.process_count() == 1


def test_levels_of_effort_and_ways_of_inlining():
    with sagax.config.context(optimization_level=sagax.CompilerEffortLevel.O1):
        assert sagax.config.jax_optimization_level == "O1"

    def program(inline):
        inner = sagax.jit(snp.sin, inline=inline)
        return [e.primitive.name for e in sagax.make_jaxpr(lambda x: inner(x) + 1)(1.0).eqns]

    assert program(sagax.Inline.JAX_EARLY) == program(True) == ["sin", "add"]
    assert program(sagax.Inline.AUTO) == program(False) == ["jit", "add"]
