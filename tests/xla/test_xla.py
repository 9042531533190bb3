"""The package that calls XLA. Expected values come from NumPy and from what the programs say."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from sagax._src import xla

SOURCE = Path(__file__).resolve().parents[2] / "src"

NUMPY_TYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "float16 float32 float64 complex64 complex128"
).split()
EXTRA_TYPES = (
    "bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz "
    "float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn int2 int4 uint2 uint4"
).split()
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def dtype_of(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.fixture(scope="module")
def client():
    return xla.client.make_cpu_client(4)


@pytest.fixture(scope="module")
def device(client):
    return client.local_devices()[0]


def program(arguments: str, results: str, body: str, attributes: str = "") -> str:
    return f"""module @program attributes {{{attributes}}} {{
      func.func public @main({arguments}) -> ({results}) {{
        {body}
      }}
    }}"""


ADD = program(
    "%a: tensor<4xf32>, %b: tensor<4xf32>",
    "tensor<4xf32>",
    """%0 = stablehlo.add %a, %b : tensor<4xf32>
       return %0 : tensor<4xf32>""",
)
X = np.arange(4, dtype=np.float32)


def run(executable: xla.executable.Executable, *arrays: np.ndarray) -> list[np.ndarray]:
    buffers = [xla.put(x, executable.devices[0], share=False) for x in arrays]
    return [xla.to_numpy(b) for b in executable.run(buffers)]


def aligned(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array at an address that lets XLA share its memory."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


# --- import ---------------------------------------------------------------------------------------


def in_new_process(code: str, *arguments: str, extra_path: str = "") -> str:
    path = os.pathsep.join(p for p in (extra_path, str(SOURCE)) if p)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_neither_jax_nor_what_is_rarely_needed():
    loaded = in_new_process("""
        import sys
        import sagax._src.xla
        print(*sys.modules)
    """).split()
    late = ("jax", "scipy", "jaxlib.mlir", "jaxlib.lapack", "jaxlib.cpu", "jaxlib._profiler")
    assert [m for m in loaded if m in late] == []


def test_version_has_three_numbers():
    assert xla.engine_version >= (0, 10, 2)
    assert xla.engine_version_text.startswith(".".join(map(str, xla.engine_version)))


# --- jax stays out --------------------------------------------------------------------------------

# Uses every function of the package during which jaxlib tries to import jax, in one version or
# another, or may do so in the next.
TOUCH_EVERYTHING = """
    import numpy as np, ml_dtypes
    from sagax._src import xla
    client = xla.client.make_cpu_client(2)
    devices = client.local_devices()
    x = np.arange(4, dtype=np.float32)
    text = '''module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
        %0 = stablehlo.add %a, %a : tensor<4xf32>
        return %0 : tensor<4xf32> } }'''
    exe = xla.compiler.compile(client, text, devices[:1])
    exe = xla.compiler.deserialize(client, exe.serialize(), devices[:1])
    [y] = exe.run([xla.put(x, devices[0], share=True)])
    exe.run_with_token([y])
    xla.block(y), xla.is_ready(y), xla.to_numpy(y), exe.check_arguments([y]), exe.cost_analysis()
    xla.to_numpy(xla.put(x.astype(ml_dtypes.bfloat16), devices[0], share=False))
    xla.to_numpy(xla.copy_to_device(y, devices[1]))
    m = xla.put_sharded([x[:2], x[2:]], devices, (4,), 'f4', '{devices=[2]<=[2]}')
    assert (xla.to_numpy(m) == x).all()
    assert [xla.to_numpy(s).tolist() for s in xla.shards(m)] == [[0, 1], [2, 3]]
    assert (xla.to_numpy(xla.dlpack.from_dlpack(xla.dlpack.to_dlpack(y), devices[0])) == 2 * x).all()
    try:
        exe.run([m])
    except ValueError:
        pass
    xla.delete(y)
"""


# jaxlib swallows exceptions that such an import raises, so what it asks for is written down.
def test_an_installed_jax_is_not_imported(tmp_path):
    (tmp_path / "jax.py").write_text("import sys; sys.jax_was_imported = True")
    after = """
        import sys
        assert 'jax' not in sys.modules
        assert not hasattr(sys, 'jax_was_imported')
    """
    code = textwrap.dedent(TOUCH_EVERYTHING) + textwrap.dedent(after)
    in_new_process(code, extra_path=str(tmp_path))


ALIAS = """
    import sys, types
    asked = []
    def hook(name):
        asked.append(name)
        raise AttributeError(name)
    def alias_module(name):
        module = types.ModuleType(name)
        module.__sagax_alias__ = True
        module.__getattr__ = hook
        sys.modules[name] = module
        return module
    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name.split('.')[0] == 'jax':
                asked.append(name)
    sys.meta_path.insert(0, Finder())
"""


def test_an_alias_called_jax_is_hidden_from_jaxlib_and_put_back():
    before = """
        names = ['jax', *xla_names]
        aliases = [alias_module(name) for name in names]
    """.replace("xla_names", repr(list(xla.jax_guard.JAX_MODULES[1:])))
    after = """
        assert [sys.modules[name] for name in names] == aliases
        assert asked == [], asked
    """
    in_new_process("".join(map(textwrap.dedent, (ALIAS, before, TOUCH_EVERYTHING, after))))


def test_a_finder_that_serves_jax_is_not_asked():
    after = """
        assert 'jax' not in sys.modules
        assert asked == [], asked
    """
    in_new_process("".join(map(textwrap.dedent, (ALIAS, TOUCH_EVERYTHING, after))))


def test_no_jax_leaves_a_real_jax_alone(monkeypatch):
    real = types.ModuleType("jax")
    monkeypatch.setitem(sys.modules, "jax", real)
    with xla.no_jax():
        assert sys.modules["jax"] is real
    assert sys.modules["jax"] is real


def test_no_jax_hides_the_submodules_of_an_alias_too(monkeypatch):
    for name in xla.jax_guard.JAX_MODULES:
        module = types.ModuleType(name)
        monkeypatch.setattr(module, "__sagax_alias__", True, raising=False)
        monkeypatch.setitem(sys.modules, name, module)
    with xla.no_jax():
        for name in xla.jax_guard.JAX_MODULES:
            with pytest.raises(ImportError):
                importlib.import_module(name)
    assert {importlib.import_module(name).__name__ for name in xla.jax_guard.JAX_MODULES} == set(
        xla.jax_guard.JAX_MODULES
    )


def test_no_jax_restores_after_an_exception(monkeypatch):
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    with pytest.raises(KeyError), xla.no_jax():
        with pytest.raises(ImportError):
            __import__("jax")
        raise KeyError
    assert "jax" not in sys.modules


# --- pytrees and tracebacks -----------------------------------------------------------------------


def test_tree_registry_is_our_own():
    class Node:
        pass

    ours, other = xla.new_tree_registry(), xla.new_tree_registry()
    ours.register_node(Node, lambda n: ((1, 2), None), lambda aux, children: Node())
    assert ours.flatten([Node(), {"b": None, "a": 3}])[0] == [1, 2, 3]
    assert len(other.flatten([Node()])[0]) == 1
    assert xla.new_tree_registry(none_is_leaf=True).flatten((None, 1))[0] == [None, 1]


def test_treedef_tuple():
    registry = xla.new_tree_registry()
    inner = [registry.flatten(t)[1] for t in ([1, 2], {"k": 1})]
    joined = xla.treedef_tuple(registry, inner)
    assert isinstance(joined, xla.PyTreeDef)
    assert joined == registry.flatten(([1, 2], {"k": 1}))[1]
    assert joined.unflatten([7, 8, 9]) == ([7, 8], {"k": 9})


def test_tree_paths_use_the_exported_keys():
    registry = xla.new_tree_registry()
    [(path, leaf)], _ = registry.flatten_with_path([{"a": 5}])
    assert leaf == 5
    assert path == (xla.SequenceKey(0), xla.DictKey("a"))


def test_traceback_has_exact_columns():
    def here():
        return [xla.get_traceback()][0]

    frames = xla.traceback_frames(here())
    line = here.__code__.co_firstlineno + 1
    text = Path(__file__).read_text().splitlines()[line - 1]
    column = text.index("xla.get")
    assert frames[0] == (
        __file__, "here", line, column, line, column + len("xla.get_traceback()")
    )  # fmt: skip
    assert frames[1].function_name == "test_traceback_has_exact_columns"
    assert xla.traceback_frames(None) == []


def test_python_traceback_shows_the_frames_innermost_last():
    frames = [
        xla.Frame("model.py", "layer", 7, 2, 7, 9),
        xla.Frame("train.py", "<module>", 3, 0, 3, 5),
    ]
    shown = []
    tb = xla.python_traceback(frames)
    while tb:
        code = tb.tb_frame.f_code
        shown.append((code.co_filename, code.co_name, tb.tb_lineno))
        tb = tb.tb_next
    assert shown == [("train.py", "<module>", 3), ("model.py", "layer", 7)]
    assert xla.python_traceback([]) is None


# --- placing and reading --------------------------------------------------------------------------

LAYOUTS = {
    "scalar": lambda x: x[3],
    "empty": lambda x: x[:0].reshape(2, 0, 3),
    "rows": lambda x: x.reshape(4, 6),
    "columns": lambda x: np.asfortranarray(x.reshape(4, 6)),
    "strided": lambda x: x.reshape(4, 6)[::2, 1::2],
    "reversed": lambda x: x[::-1],
    "broadcast": lambda x: np.broadcast_to(x[:6], (3, 6)),
}


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("name", NUMPY_TYPES + EXTRA_TYPES)
def test_every_dtype_and_layout_comes_back_as_it_was(device, name, share):
    dtype = dtype_of(name)
    values = (np.arange(24) % 5 - (0 if dtype.kind in "bu" or name[0] == "u" else 2)).astype(dtype)
    for layout in LAYOUTS.values():
        x = np.asarray(layout(values))
        y = xla.to_numpy(xla.put(x, device, share=share))
        assert (y.dtype, y.shape) == (x.dtype, x.shape)
        assert y.dtype.type is x.dtype.type
        assert y.tobytes() == x.tobytes()
        assert not y.flags.writeable


@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "complex128", "int4", "bfloat16"])
def test_without_share_a_later_change_does_not_show(device, dtype, layout):
    x = aligned((1024, 1024), "uint8").view(np.int8) % 3
    source = np.require(x.astype(dtype_of(dtype)), requirements="C")
    if layout == "rows" and dtype in ("float32", "complex128"):
        shared = aligned(source.shape, dtype)
        shared[...] = source
        source = shared
    view = {"rows": source, "columns": source.T, "strided": source[::2, ::2]}[layout]
    expected = view.copy()
    buffer = xla.put(view, device, share=False)
    source[...] = 1
    assert xla.to_numpy(buffer).tobytes() == expected.tobytes()


def test_share_uses_the_memory_of_an_aligned_array(device):
    x = aligned((256,), "float32")
    buffer = xla.put(x, device, share=True)
    assert np.shares_memory(xla.to_numpy(buffer), x)


def test_shape_and_dtype_say_what_the_buffer_is(device):
    buffer = xla.put(np.arange(6), device, shape=(2, 3), dtype=np.dtype("float32"), share=True)
    y = xla.to_numpy(buffer)
    assert y.dtype == np.float32
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("dtype", [">f4", ">i2", ">c16"])
def test_foreign_byte_order_is_converted(device, dtype):
    x = np.array([1, -2, 300], dtype)
    y = xla.to_numpy(xla.put(x, device, share=True))
    assert y.dtype.isnative
    assert y.tolist() == x.tolist()


@pytest.mark.parametrize("x", [1.5, np.float32(2), True, [1, 2]])
def test_what_numpy_converts_can_be_put(device, x):
    y = xla.to_numpy(xla.put(x, device, share=True))
    assert y.dtype == np.asarray(x).dtype
    assert y.tolist() == np.asarray(x).tolist()


@pytest.mark.parametrize("dtype", ["O", "U3", "S3", "M8[s]", "m8[s]", "longdouble", "V3", "i4,f4"])
def test_types_that_xla_lacks_are_refused(device, dtype):
    with pytest.raises(TypeError, match="XLA has no such type"):
        xla.put(np.zeros(3, dtype), device, share=False)


def test_a_view_of_the_values_outlives_the_buffer(device):
    buffer = xla.put(np.arange(1000), device, share=False)
    view = xla.to_numpy(buffer)
    del buffer
    assert view.sum() == 499500


def test_deleted_buffers_are_named_as_such(device):
    buffer = xla.put(X.astype(BFLOAT16), device, share=False)
    assert not xla.is_deleted(buffer)
    xla.delete(buffer)
    assert xla.is_deleted(buffer)
    uses = [xla.to_numpy, xla.block, xla.is_ready, xla.shards, xla.dlpack.to_dlpack]
    for use in [*uses, lambda b: xla.copy_to_device(b, device)]:
        with pytest.raises(xla.DeletedBufferError, match=r"bfloat16\[4\]"):
            use(buffer)


def test_copy_to_another_device(client):
    here, there = client.local_devices()[:2]
    buffer = xla.put(X, here, share=False)
    copy = xla.copy_to_device(buffer, there)
    assert (xla.device_of(buffer), xla.device_of(copy)) == (here, there)
    assert xla.to_numpy(copy).tolist() == X.tolist()


def test_a_buffer_without_values_raises_its_error_everywhere(client, device):
    buffer = xla.make_error_buffer(client, (4,), "float32", device, "no values")
    executable = xla.compiler.compile(client, ADD, [device])
    for use in (xla.to_numpy, xla.block, lambda b: xla.block_all(executable.run([b, b]))):
        with pytest.raises(xla.EngineError, match="no values"):
            use(buffer)


# --- several devices ------------------------------------------------------------------------------

GRID = np.arange(32, dtype=np.float32).reshape(8, 4)
CUTS = {
    "{devices=[4,1]<=[4]}": [GRID[i : i + 2] for i in (0, 2, 4, 6)],
    "{devices=[2,2]<=[4]}": [GRID[:4, :2], GRID[:4, 2:], GRID[4:, :2], GRID[4:, 2:]],
    "{devices=[2,2]<=[2,2]T(1,0)}": [GRID[:4, :2], GRID[4:, :2], GRID[:4, 2:], GRID[4:, 2:]],
    "{devices=[1,2,2]<=[4] last_tile_dim_replicate}": [
        GRID[:, :2], GRID[:, :2], GRID[:, 2:], GRID[:, 2:]
    ],
    "{replicated}": [GRID] * 4,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int4"])
@pytest.mark.parametrize("text", CUTS)
def test_sharded_arrays(client, text, dtype):
    devices = client.local_devices()
    grid = (GRID % 8).astype(dtype_of(dtype))
    indices = xla.shard_indices(text, GRID.shape, 4)
    assert [GRID[i].tolist() for i in indices] == [part.tolist() for part in CUTS[text]]
    buffer = xla.put_sharded([grid[i] for i in indices], devices, grid.shape, grid.dtype, text)
    assert xla.devices_of(buffer) == tuple(devices)
    whole = xla.to_numpy(buffer)
    assert whole.dtype == grid.dtype
    assert whole.tobytes() == grid.tobytes()
    assert not whole.flags.writeable
    parts = xla.shards(buffer)
    assert [xla.device_of(p) for p in parts] == devices
    assert [xla.to_numpy(p).tolist() for p in parts] == [grid[i].tolist() for i in indices]
    again = xla.put_sharded(parts, devices, grid.shape, grid.dtype, text)
    assert xla.to_numpy(again).tobytes() == grid.tobytes()


def test_sharded_arrays_do_not_share_by_default(client):
    x = aligned((4, 1024), "float32")
    devices = client.local_devices()
    buffer = xla.put_sharded(list(x[:, None]), devices, x.shape, "f4", "{devices=[4,1]<=[4]}")
    x[...] = 1
    assert xla.to_numpy(buffer).sum() == 0


@pytest.mark.parametrize(
    ("shards", "dtype", "text", "message"),
    [
        ([GRID] * 3, "f4", None, "3 shards for 4"),
        ([GRID] * 4, "f4", "{devices=[4,1]<=[4]}", r"must be float32\[2,4\], got float32\[8,4\]"),
        ([GRID] * 4, "i4", None, r"must be int32\[8,4\], got float32"),
        ([GRID.astype(">f4")] * 4, "f4", None, "got >f4"),
        ([GRID] * 4, "f4", "{devices=[8,1]<=[8]}", "does not fit"),
        ([GRID] * 4, "f4", "{devices=[4]<=[4]}", "does not fit"),
        ([GRID] * 4, "f4", "nonsense", "not the text of a sharding: 'nonsense'"),
    ],
)
def test_wrong_shards_are_refused(client, shards, dtype, text, message):
    with pytest.raises(ValueError, match=message):
        xla.put_sharded(shards, client.local_devices(), GRID.shape, dtype, text)


def test_uneven_cuts_are_refused():
    with pytest.raises(ValueError, match="cuts axis 0 of shape .* into 4 parts"):
        xla.shard_indices("{devices=[4,1]<=[4]}", (6, 4), 4)


PARTITIONED = """module @p attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(
      %a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
  ) -> (tensor<8x4xf32>, tensor<f32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.add %a, %a : tensor<8x4xf32>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    return %0, %1 : tensor<8x4xf32>, tensor<f32>
  }
}"""
PARTITIONED_TYPES = [((8, 4), np.float32), ((), np.float32)]


def test_partitioned_program(client):
    devices = client.local_devices()
    text = "{devices=[4,1]<=[4]}"
    buffer = xla.put_sharded(CUTS[text], devices, GRID.shape, "f4", text)
    executable = xla.compiler.compile(
        client, PARTITIONED, devices, num_partitions=4, shardy=True, out_avals=PARTITIONED_TYPES
    )
    assert executable.input_shardings == [text]
    assert executable.output_shardings == [text, "{replicated}"]
    loaded = xla.compiler.deserialize(client, executable.serialize(), devices, PARTITIONED_TYPES)
    for each in (executable, loaded):
        each.check_arguments([buffer])
        doubled, total = each.run([buffer])
        assert xla.to_numpy(doubled).tolist() == (2 * GRID).tolist()
        assert xla.to_numpy(xla.shards(doubled)[3]).tolist() == (2 * GRID[6:]).tolist()
        assert xla.to_numpy(total) == 2 * GRID.sum()
    single = xla.put(GRID, devices[0], share=False)
    with pytest.raises(ValueError, match="argument 0 lies on"):
        executable.run([single])


def test_replicated_program_runs_on_each_devices_own_array(client):
    devices = client.local_devices()
    text = program(
        "%a: tensor<8x4xf32>",
        "tensor<8x4xf32>, tensor<ui32>",
        """%q = "stablehlo.all_reduce"(%a) ({ ^bb0(%l: tensor<f32>, %r: tensor<f32>):
             %t = stablehlo.add %l, %r : tensor<f32>
             stablehlo.return %t : tensor<f32>
           }) {replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>}
             : (tensor<8x4xf32>) -> tensor<8x4xf32>
           %i = stablehlo.replica_id : tensor<ui32>
           return %q, %i : tensor<8x4xf32>, tensor<ui32>""",
        "mhlo.num_replicas = 4 : i32",
    )
    executable = xla.compiler.compile(client, text, devices, num_replicas=4)
    each = [GRID * k for k in range(4)]
    buffer = xla.put_sharded(each, devices, GRID.shape, "f4")
    blob = executable.serialize()
    loaded = xla.compiler.deserialize(client, blob, devices, executable.out_avals, num_replicas=4)
    for run_it in (executable.run, loaded.run):
        reduced, ids = run_it([buffer])
        sums = [xla.to_numpy(p) for p in xla.shards(reduced)]
        assert [s.tolist() for s in sums] == [(k * GRID).tolist() for k in (1, 1, 5, 5)]
        assert [int(xla.to_numpy(p)) for p in xla.shards(ids)] == [0, 1, 2, 3]


def test_partitioned_programs_need_their_result_types_and_shardy(client):
    devices = client.local_devices()
    with pytest.raises(ValueError, match="out_avals are needed"):
        xla.compiler.compile(client, PARTITIONED, devices, num_partitions=4, shardy=True)
    with pytest.raises(ValueError, match="needs shardy=True"):
        xla.compiler.compile(
            client, PARTITIONED, devices, num_partitions=4, out_avals=PARTITIONED_TYPES
        )
    with pytest.raises(ValueError, match="needs shardy=True"):
        artifact = xla.artifacts.serialize_artifact(PARTITIONED)
        xla.compiler.compile(
            client, artifact, devices, num_partitions=4, out_avals=PARTITIONED_TYPES
        )
    with pytest.raises(ValueError, match="need 4 devices, got 2"):
        xla.compiler.compile(client, PARTITIONED, devices[:2], num_partitions=4, shardy=True)


def test_a_source_file_called_sdy_is_no_sdy_dialect(client, device):
    text = ADD.replace("%0 = stablehlo.add %a, %b : tensor<4xf32>",
                       '%0 = stablehlo.add %a, %b : tensor<4xf32> loc("sdy.py":1:2)')  # fmt: skip
    assert run(xla.compiler.compile(client, text, [device]), X, X)[0].tolist() == [0, 2, 4, 6]


# --- compiling and running ------------------------------------------------------------------------


def test_run(client, device):
    executable = xla.compiler.compile(client, ADD, [device])
    assert executable.out_avals == [((4,), np.dtype("float32"))]
    [y] = run(executable, X, X + 1)
    assert y.dtype == np.float32
    assert y.tolist() == [1, 3, 5, 7]
    assert executable.input_shardings is None


def test_results_of_all_kinds_and_none(client, device):
    text = program(
        "%a: tensor<4xf32>, %b: tensor<2xbf16>, %c: tensor<3xi4>",
        "tensor<2xbf16>, tensor<0x3xf64>, tensor<i1>, tensor<3xi4>",
        """%e = stablehlo.constant dense<0.0> : tensor<0x3xf64>
           %t = stablehlo.constant dense<true> : tensor<i1>
           return %b, %e, %t, %c : tensor<2xbf16>, tensor<0x3xf64>, tensor<i1>, tensor<3xi4>""",
    )
    arrays = X, np.array([1, 2], BFLOAT16), np.array([1, -2, 7], ml_dtypes.int4)
    b, e, t, c = run(xla.compiler.compile(client, text, [device]), *arrays)
    assert (b.dtype, b.tolist()) == (BFLOAT16, [1, 2])
    assert (e.dtype, e.shape) == (np.float64, (0, 3))
    assert t.dtype == np.bool_ and t.item() is True
    assert (c.dtype, c.astype(int).tolist()) == (np.dtype(ml_dtypes.int4), [1, -2, 7])
    nothing = program("%a: tensor<4xf32>", "", "return")
    assert run(xla.compiler.compile(client, nothing, [device]), X) == []


def test_programs_run_where_they_were_compiled_for(client):
    for device in client.local_devices()[:3]:
        [y] = xla.compiler.compile(client, ADD, [device]).run([xla.put(X, device, share=False)] * 2)
        assert xla.device_of(y) == device


def test_serialised_programs_run_on_other_devices_too(client):
    first, second = client.local_devices()[:2]
    executable = xla.compiler.compile(client, ADD, [first])
    blob = executable.serialize()
    assert isinstance(blob, bytes)
    for out_avals in (None, executable.out_avals):
        loaded = xla.compiler.deserialize(client, blob, [second], out_avals)
        assert run(loaded, X, X)[0].tolist() == [0, 2, 4, 6]
        assert loaded.fingerprint == executable.fingerprint


def test_run_with_token(client, device):
    buffer = xla.put(X, device, share=False)
    [y], token = xla.compiler.compile(client, ADD, [device]).run_with_token([buffer, buffer])
    token.block_until_ready()
    assert xla.is_ready(y)
    assert xla.to_numpy(y).tolist() == [0, 2, 4, 6]


def test_donated_buffers_are_gone(client, device):
    text = ADD.replace("%a: tensor<4xf32>", "%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}")
    executable = xla.compiler.compile(client, text, [device])
    a, b = (xla.put(X, device, share=False) for _ in range(2))
    [y] = executable.run([a, b])
    assert (xla.is_deleted(a), xla.is_deleted(b)) == (True, False)
    assert xla.to_numpy(y).tolist() == [0, 2, 4, 6]
    with pytest.raises(xla.DeletedBufferError, match=r"argument 0 \(float32\[4\]\)"):
        executable.run([a, b])


def test_failures_of_run_are_explained(client, device):
    executable = xla.compiler.compile(client, ADD, [device])
    good = xla.put(X, device, share=False)
    longer = xla.put(np.zeros(9, np.float32), device, share=False)
    elsewhere = xla.put(X, client.local_devices()[1], share=False)
    deleted = xla.put(X, device, share=False)
    xla.delete(deleted)
    for buffers, error, message in [
        ([good], ValueError, "takes 2 arguments, got 1"),
        ([good, X], TypeError, "argument 1 must be a buffer, got ndarray"),
        ([good, longer], ValueError, r"argument 1 must be float32\[4\].*got float32\[9\]"),
        ([elsewhere, good], ValueError, "argument 0 lies on"),
        ([good, deleted], xla.DeletedBufferError, "argument 1"),
    ]:
        for use in (executable.run, executable.run_with_token, executable.check_arguments):
            with pytest.raises(error, match=message):
                use(buffers)


def test_check_arguments_sees_what_the_engine_does_not(client, device):
    executable = xla.compiler.compile(client, ADD, [device])
    good, integers = (xla.put(X.astype(t), device, share=False) for t in ("f4", "i4"))
    executable.check_arguments([good, good])
    with pytest.raises(ValueError, match=r"argument 1 must be float32\[4\].*got int32\[4\]"):
        executable.check_arguments([good, integers])


def test_options_reach_xla(client, device):
    options = {"xla_cpu_enable_fast_math": "false", "optimization_level": 1}
    assert run(xla.compiler.compile(client, ADD, [device], options=options), X, X)[0][1] == 2
    with pytest.raises(xla.EngineError, match="No such compile option: 'no_such_flag'"):
        xla.compiler.compile(client, ADD, [device], options={"no_such_flag": 1})


def test_analyses(client, device):
    executable = xla.compiler.compile(client, ADD, [device])
    assert executable.cost_analysis()["flops"] == 4
    assert xla.mlir.cost_analysis(client, ADD)["flops"] == 4
    assert executable.memory_analysis().argument_size_in_bytes == 2 * 16
    assert "f32[4]" in executable.hlo_text()
    assert "f32[4]{0} add(" in xla.mlir.hlo_text(ADD)


def test_programs_can_be_compiled_and_run_in_several_threads(client, device):
    executable = xla.compiler.compile(client, ADD, [device])
    failures = []

    def work(k: int) -> None:
        try:
            mine = xla.compiler.compile(client, ADD.replace("add", "multiply"), [device])
            for i in range(100):
                a, b = X + i, X + k
                if not (run(executable, a, b)[0] == a + b).all():
                    failures.append((k, i))
                if not (run(mine, a, b)[0] == a * b).all():
                    failures.append((k, i))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_platform_fingerprint_names_engine_and_processor(client):
    text = xla.client.platform_fingerprint(client)
    assert text == xla.client.platform_fingerprint(client)
    assert text.splitlines()[:2] == [xla.engine_version_text, "cpu"]
    if sys.platform == "linux":
        assert " sse2 " in text or "Features" in text or "asimd" in text


def test_clients_need_a_device():
    with pytest.raises(ValueError, match="num_devices must be at least 1, got 0"):
        xla.client.make_cpu_client(0)


# --- callbacks ------------------------------------------------------------------------------------

CALL = """%r:2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%a) {
      api_version = 4 : i32, has_side_effect = true, backend_config = {index = 0 : ui64}
    } : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xbf16>)
    return %r#0, %r#1 : tensor<4xf32>, tensor<2xbf16>"""
CALLING = program("%a: tensor<4xf32>", "tensor<4xf32>, tensor<2xbf16>", CALL)
CALL_TYPES = [((4,), np.float32), ((2,), BFLOAT16)]
ONES = np.ones(2, BFLOAT16)


def compile_calling(client, device, function, types=CALL_TYPES):
    return xla.compiler.compile(client, CALLING, [device], callbacks=[(function, types)])


def test_callback(client, device):
    seen = []

    def double(a):
        seen.append((type(a), a.dtype, a.flags.writeable, a.tolist()))
        return 2 * a, ONES

    executable = compile_calling(client, device, double)
    doubled, ones = run(executable, X)
    assert seen == [(np.ndarray, np.float32, False, [0, 1, 2, 3])]
    assert (doubled.tolist(), ones.tolist()) == ([0, 2, 4, 6], [1, 1])
    loaded = xla.compiler.deserialize(
        client, executable.serialize(), [device], callbacks=[(lambda a: (a - 1, ONES), CALL_TYPES)]
    )
    assert run(loaded, X)[0].tolist() == [-1, 0, 1, 2]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "a tuple of 2 arrays, got NoneType"),
        (X, "a tuple of 2 arrays, got ndarray"),
        ((X,), "a tuple of 2 arrays, got 1"),
        ((X, ONES, ONES), "a tuple of 2 arrays, got 3"),
        ((X[:2], ONES), r"float32\[4\] as result 0, got float32\[2\]"),
        ((X.reshape(2, 2), ONES), r"float32\[4\] as result 0, got float32\[2,2\]"),
        ((X, np.ones(2)), r"bfloat16\[2\] as result 1, got float64\[2\]"),
        ((X.astype(">f4"), ONES), r"float32\[4\] as result 0, got >f4\[4\]"),
        ((1.0, ONES), r"float32\[4\] as result 0, got float64\[\]"),
    ],
)
def test_wrong_results_of_a_callback_do_not_reach_xla(client, device, result, message):
    def wrong(a):
        return result

    executable = compile_calling(client, device, wrong)
    with pytest.raises(
        xla.callbacks.CallbackError, match=f"callback 'wrong' must return {message}"
    ):
        run(executable, X)


def test_results_of_a_callback_may_lie_anyhow_in_memory(client, device):
    executable = compile_calling(client, device, lambda a: [np.arange(8, dtype="f4")[::-2], ONES])
    assert run(executable, X)[0].tolist() == [7, 5, 3, 1]


class UserError(Exception):
    pass


def fail(a):
    raise UserError("in the user's own words")


def function_names(error: BaseException) -> list[str]:
    names, tb = [], error.__traceback__
    while tb:
        names.append(tb.tb_frame.f_code.co_name)
        tb = tb.tb_next
    return names


def test_the_exception_of_a_callback_is_raised_itself(client, device):
    executable = compile_calling(client, device, fail)
    for _ in range(2):
        with pytest.raises(UserError, match="in the user's own words") as caught:
            run(executable, X)
        assert "fail" in function_names(caught.value)
        assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_even_an_exit_from_a_callback_comes_through(client, device):
    def leave(a):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(compile_calling(client, device, leave), X)


# Large products, so that XLA runs them in the background and the callback after them.
SLOW = program(
    "%a: tensor<1200x1200xf32>",
    "tensor<1200x1200xf32>",
    """%0 = stablehlo.dot %a, %a : (tensor<1200x1200xf32>, tensor<1200x1200xf32>) -> tensor<1200x1200xf32>
       %1 = stablehlo.dot %0, %a : (tensor<1200x1200xf32>, tensor<1200x1200xf32>) -> tensor<1200x1200xf32>
       return %1 : tensor<1200x1200xf32>""",
)
AFTER_SLOW = program(
    "%b: tensor<1200x1200xf32>",
    "tensor<4xf32>, tensor<2xbf16>",
    """%s = stablehlo.slice %b [0:1, 0:4] : (tensor<1200x1200xf32>) -> tensor<1x4xf32>
       %a = stablehlo.reshape %s : (tensor<1x4xf32>) -> tensor<4xf32>
    """
    + CALL,
)


@pytest.mark.parametrize("read", [xla.to_numpy, xla.block], ids=["to_numpy", "block"])
@pytest.mark.parametrize("result", [0, 1])
def test_exceptions_of_a_callback_in_the_background_come_through(client, device, read, result):
    slow = xla.compiler.compile(client, SLOW, [device])
    x = xla.put(np.full((1200, 1200), 0.5, np.float32), device, share=False)
    for function in (fail, lambda a: (a, ONES)):
        after = xla.compiler.compile(
            client, AFTER_SLOW, [device], callbacks=[(function, CALL_TYPES)]
        )
        if function is fail:
            with pytest.raises(UserError):
                read(after.run(slow.run([x]))[result])
        else:
            read(after.run(slow.run([x]))[result])


def test_failures_nobody_fetches_are_not_kept_for_ever(client, device):
    executable = compile_calling(client, device, fail)
    for _ in range(40):
        with pytest.raises(UserError):
            run(executable, X)
    assert len(xla.failures._callback_exceptions) <= 16


def test_tokens_order_callbacks_that_never_see_them(client, device):
    call = """stablehlo.custom_call @xla_ffi_python_cpu_callback({}) {{
        api_version = 4 : i32, has_side_effect = true, backend_config = {{index = {} : ui64}}
      }} : (!stablehlo.token, tensor<4xf32>) -> """
    text = program(
        "%t: !stablehlo.token, %a: tensor<4xf32>",
        "!stablehlo.token, tensor<4xf32>",
        f"""%0 = {call.format("%t, %a", 0)} !stablehlo.token
            %1:2 = {call.format("%0, %a", 1)} (!stablehlo.token, tensor<4xf32>)
            return %1#0, %1#1 : !stablehlo.token, tensor<4xf32>""",
    )
    order = []

    def first(a):
        order.append(("first", a.tolist()))
        return ()

    def second(a):
        order.append(("second", a.tolist()))
        return (a + 1,)

    executable = xla.compiler.compile(
        client,
        text,
        [device],
        callbacks=[(first, [None]), (second, [None, ((4,), np.float32)])],
        out_avals=[None, ((4,), np.float32)],
    )
    token, a = xla.put(np.zeros(0, bool), device, share=True), xla.put(X, device, share=True)
    for _ in range(2):
        token, a = executable.run([token, a])
    xla.block(token)
    assert xla.to_numpy(a).tolist() == [2, 3, 4, 5]
    calls = [(name, (X + i).tolist()) for i in range(2) for name in ("first", "second")]
    assert order == calls


def test_callbacks_must_fit_the_module(client, device):
    def f(a):
        return a, ONES

    with pytest.raises(ValueError, match="calls Python callbacks, but none are given"):
        xla.compiler.compile(client, CALLING, [device])
    with pytest.raises(ValueError, match="calls Python callbacks, but none are given"):
        xla.compiler.compile(client, xla.artifacts.serialize_artifact(CALLING), [device])
    with pytest.raises(ValueError, match="calls Python callbacks, but none are given"):
        xla.compiler.deserialize(client, compile_calling(client, device, f).serialize(), [device])
    with pytest.raises(ValueError, match="calls callback 3 of 1"):
        text = CALLING.replace("index = 0", "index = 3")
        xla.compiler.compile(client, text, [device], callbacks=[(f, CALL_TYPES)])
    for types_ in (CALL_TYPES[:1], CALL_TYPES[::-1], [((4,), "f4"), ((2,), "f4")]):
        with pytest.raises(ValueError, match="callback 0 is declared to return"):
            compile_calling(client, device, f, types_)


@pytest.mark.parametrize("name", NUMPY_TYPES + EXTRA_TYPES)
def test_every_type_can_be_declared_for_a_callback(name):
    """The parser is the judge of the names that the declared types are compared under."""
    from_numpy = xla.callbacks.mlir_type(((2, 0), dtype_of(name)))
    xla.mlir.verify_module(program(f"%a: {from_numpy}", "", "return"))
    assert from_numpy.startswith("tensor<2x0x")


# --- modules --------------------------------------------------------------------------------------


def test_problems_of_a_module_have_their_places(client, device):
    text = program(
        "%a: tensor<4xf32>",
        "tensor<4xf32>",
        """%0 = "stablehlo.dot"(%a, %a)
             : (tensor<4xf32>, tensor<4xf32>) -> tensor<7xf32> loc("user.py":7:3)
           return %a : tensor<4xf32>""",
    )
    for use in (xla.mlir.verify_module, lambda t: xla.compiler.compile(client, t, [device])):
        with pytest.raises(xla.mlir.ModuleError) as caught:
            use(text)
        [(place, message)] = caught.value.problems
        assert place == '"user.py":7:3'
        assert "tensor<7xf32>" in message
    xla.mlir.verify_module(ADD)


def test_what_xla_cannot_compile_is_an_engine_error(client, device):
    body = """%0 = stablehlo.custom_call @sagax_no_such_target(%a) {api_version = 4 : i32}
        : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>"""
    text = program("%a: tensor<4xf32>", "tensor<4xf32>", body)
    for module in (text, xla.artifacts.serialize_artifact(text)):
        with pytest.raises(xla.EngineError, match="sagax_no_such_target"):
            xla.compiler.compile(client, module, [device])


@pytest.mark.parametrize("module", ["module {", b"ML\xefRxx", b"ML\xefR\rStableHLO_v1.0.0\0x"])
def test_garbage_is_no_module(module, capfd):
    with pytest.raises(xla.mlir.ModuleError):
        xla.mlir.verify_module(module)
    assert capfd.readouterr().err == ""


def test_portable_artifacts(client, device):
    located = ADD.replace("%a, %b : tensor<4xf32>", '%a, %b : tensor<4xf32> loc("user.py":3:4)')
    for target in (None, xla.artifacts.stablehlo_version(), "1.0.0"):
        artifact = xla.artifacts.serialize_artifact(located, target)
        version = target or xla.artifacts.stablehlo_version(weeks_back=12)
        assert f"StableHLO_v{version}".encode() in artifact[:32]
        assert "stablehlo.add %arg0, %arg1 : tensor<4xf32>" in xla.artifacts.artifact_to_text(
            artifact
        )
        assert '"user.py":3:4' in xla.artifacts.artifact_to_text(artifact, locations=True)
        assert run(xla.compiler.compile(client, artifact, [device]), X, X)[0].tolist() == [
            0,
            2,
            4,
            6,
        ]
    for target in ("0.8.0", "nonsense"):
        with pytest.raises(xla.mlir.ModuleError):
            xla.artifacts.serialize_artifact(ADD, target)
    with pytest.raises(xla.mlir.ModuleError, match="no portable artifact"):
        xla.artifacts.artifact_to_text(b"nonsense")


def test_artifacts_may_hold_callbacks(client, device):
    artifact = xla.artifacts.serialize_artifact(CALLING)
    callbacks = [(lambda a: (3 * a, ONES), CALL_TYPES)]
    executable = xla.compiler.compile(client, artifact, [device], callbacks=callbacks)
    assert run(executable, X)[0].tolist() == [0, 3, 6, 9]


def test_format_module_gives_the_pretty_form():
    text = """"builtin.module"() ({
      "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
      ^bb0(%a: tensor<2xf32>):
        %0 = "stablehlo.sine"(%a) : (tensor<2xf32>) -> tensor<2xf32>
        "func.return"(%0) : (tensor<2xf32>) -> ()
      }) : () -> ()
    }) : () -> ()"""
    assert "%0 = stablehlo.sine %arg0 : tensor<2xf32>" in xla.mlir.format_module(text)


def dynamic(size: int, assertion: str = "size must be even, got {0}") -> str:
    return f"""module @m {{
      func.func public @main(%a: tensor<{size}xf32>) -> tensor<{size}xf32> {{
        %d = stablehlo.convert %a : (tensor<{size}xf32>) -> tensor<?xf32>
        %0 = func.call @inner(%d) : (tensor<?xf32>) -> tensor<?xf32>
        %1 = stablehlo.convert %0 : (tensor<?xf32>) -> tensor<{size}xf32>
        return %1 : tensor<{size}xf32>
      }}
      func.func private @inner(%a: tensor<?xf32>) -> tensor<?xf32> {{
        %s = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<i32>
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %odd = stablehlo.remainder %s, %two : tensor<i32>
        %ok = stablehlo.compare EQ, %odd, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%ok, %s) {{
          api_version = 2 : i32, error_message = "{assertion}", has_side_effect = true
        }} : (tensor<i1>, tensor<i32>) -> ()
        %shape = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
        %f = stablehlo.convert %s : (tensor<i32>) -> tensor<f32>
        %b = stablehlo.dynamic_broadcast_in_dim %f, %shape, dims = []
          : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
        %r = stablehlo.add %a, %b : tensor<?xf32>
        return %r : tensor<?xf32>
      }}
    }}"""


def test_refine_shapes(client, device):
    with pytest.raises(xla.EngineError):
        xla.compiler.compile(client, dynamic(4), [device])
    for module in (dynamic(4), xla.artifacts.serialize_artifact(dynamic(4))):
        refined = xla.mlir.refine_shapes(module)
        assert "?" not in xla.mlir.format_module(refined)
        assert run(xla.compiler.compile(client, refined, [device]), X)[0].tolist() == [4, 5, 6, 7]
    with pytest.raises(xla.mlir.ModuleError) as caught:
        xla.mlir.refine_shapes(dynamic(5))
    assert ["size must be even, got 5"] == [message for _, message in caught.value.problems]
    unchecked = xla.mlir.refine_shapes(dynamic(5), check_assertions=False)
    assert "tensor<5xf32>" in xla.mlir.format_module(unchecked)


# --- native functions -----------------------------------------------------------------------------


def test_lapack(client, device):
    xla.custom_calls.register_cpu_kernels()
    xla.custom_calls.register_cpu_kernels()
    text = program(
        "%a: tensor<3x3xf64>",
        "tensor<3x3xf64>, tensor<i32>",
        """%r:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {
             api_version = 4 : i32, backend_config = {uplo = 76 : ui8},
             operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
             result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]
           } : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<i32>)
           return %r#0, %r#1 : tensor<3x3xf64>, tensor<i32>""",
    )
    m = np.random.default_rng(0).standard_normal((3, 3))
    a = m @ m.T + np.eye(3)
    factor, info = run(xla.compiler.compile(client, text, [device]), a)
    assert info == 0
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(a), rtol=1e-12)


# --- DLPack ---------------------------------------------------------------------------------------


class Exporter:
    def __init__(self, buffer):
        self.buffer = buffer

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return xla.dlpack.to_dlpack(self.buffer, stream=stream, max_version=max_version)

    def __dlpack_device__(self):
        return (1, 0)


def test_dlpack_out_shares_memory_with_numpy(device):
    buffer = xla.put(GRID, device, share=False)
    y = np.from_dlpack(Exporter(buffer))
    assert np.shares_memory(y, xla.to_numpy(buffer))
    assert y.tolist() == GRID.tolist()


FLOAT8 = [name for name in EXTRA_TYPES if name.startswith("float8")]


@pytest.mark.parametrize("name", [*NUMPY_TYPES, "bfloat16", *FLOAT8])
def test_dlpack_there_and_back(device, name):
    for x in (np.arange(6).astype(dtype_of(name)).reshape(2, 3), np.zeros((), dtype_of(name))):
        buffer = xla.put(x, device, share=False)
        for version in {None, xla.dlpack.MAX_VERSION}:
            capsule = xla.dlpack.to_dlpack(buffer, max_version=version)
            y = xla.to_numpy(xla.dlpack.from_dlpack(capsule, device))
            assert (y.dtype, y.shape, y.tobytes()) == (x.dtype, x.shape, x.tobytes())
            with pytest.raises(ValueError, match="used before"):
                xla.dlpack.from_dlpack(capsule, device)


def test_dlpack_in_shares_aligned_memory_and_copies_other(device):
    x = aligned((256,), "float32")
    assert np.shares_memory(xla.to_numpy(xla.dlpack.from_dlpack(x.__dlpack__(), device)), x)
    copy = xla.dlpack.from_dlpack(x[1:].__dlpack__(), device)
    assert not np.shares_memory(xla.to_numpy(copy), x)


def test_dlpack_refusals(device):
    for x in (np.asfortranarray(GRID), GRID[::2]):
        with pytest.raises(BufferError, match="not contiguous"):
            xla.dlpack.from_dlpack(x.__dlpack__(), device)
    with pytest.raises(ValueError, match="not a DLPack capsule"):
        xla.dlpack.from_dlpack(GRID, device)
    for name in ("int4", "uint2"):
        buffer = xla.put(np.zeros(3, dtype_of(name)), device, share=False)
        with pytest.raises(BufferError, match="to_dlpack"):
            xla.dlpack.to_dlpack(buffer)


# --- profiling and several processes --------------------------------------------------------------


def test_profile_has_named_regions(client, device):
    executable = xla.compiler.compile(client, ADD, [device])
    session = xla.profiler.start_session()
    with xla.profiler.trace_me("the region", step=3):
        run(executable, X, X)
    events = xla.profiler.profile_events(session.stop())
    [(plane, _, _, duration)] = [e for e in events if e[1] == "the region"]
    assert plane == "/host:CPU"
    assert duration > 0


WORKER = """
    import sys
    import numpy as np
    from sagax._src import xla
    me, port = int(sys.argv[1]), sys.argv[2]
    service = xla.distributed.start_service(f'[::]:{port}', 2) if me == 0 else None
    meeting = xla.distributed.make_client(f'127.0.0.1:{port}', me, init_timeout=60)
    meeting.connect()
    client = xla.client.make_cpu_client(2, distributed=meeting, node_id=me, num_nodes=2,
                            collectives=xla.distributed.gloo_collectives(meeting, '127.0.0.1'))
    devices, cut = client.devices(), '{devices=[4,1]<=[4]}'
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    indices = xla.shard_indices(cut, x.shape, 4)[2 * me:2 * me + 2]
    a = xla.put_sharded([x[i] for i in indices], devices, x.shape, 'f4', cut)
    types = [((8, 4), np.float32), ((), np.float32)]
    exe = xla.compiler.compile(client, sys.argv[3], devices, num_partitions=4, shardy=True, out_avals=types)
    doubled, total = exe.run([a])
    for part, i in zip(xla.shards(doubled), indices, strict=True):
        assert (xla.to_numpy(part) == 2 * x[i]).all()
    assert [xla.to_numpy(p).item() for p in xla.shards(total)] == [2 * x.sum()] * 2
    meeting.wait_at_barrier('end', 60000)
    meeting.shutdown()
    if service:
        service.shutdown()
    print('done')
"""


def test_two_processes_work_together():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    results = {}

    def work(me: int) -> None:
        results[me] = in_new_process(WORKER, str(me), str(port), PARTITIONED)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[me].split()[-1] for me in range(2)] == ["done", "done"]


# --- CUDA: what can be tested without it ----------------------------------------------------------


@pytest.fixture
def no_cuda(monkeypatch):
    """Nothing of CUDA is installed, whatever is."""
    real = xla.cuda_wheels._package_path
    ours = ("jax_plugins", "nvidia")
    monkeypatch.setattr(
        xla.cuda_wheels, "_package_path", lambda name: None if name.startswith(ours) else real(name)
    )


def test_without_the_plugin_cuda_client_says_what_to_install(no_cuda):
    assert xla.cuda_wheels.find_plugin() is None
    assert not xla.cuda_wheels.plugin_available()
    with pytest.raises(xla.cuda.CudaUnavailable) as caught:
        xla.cuda.make_client()
    assert caught.value.step == "finding the plugin"
    assert f"jax-cuda13-plugin[with-cuda]=={xla.engine_version_text}" in caught.value.advice


@pytest.fixture
def fake_cuda(tmp_path, monkeypatch):
    """Wheels that look like the real ones but hold nothing that can be loaded."""

    def install(version: str, *libraries: str) -> None:
        files = {
            "jax_plugins/xla_cuda13/xla_cuda_plugin.so": "",
            f"jax_cuda13_plugin-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\n"
            f"Name: jax-cuda13-plugin\nVersion: {version}\n",
            **{f"nvidia/{library}": "not a library" for library in libraries},
        }
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        folders = {
            "jax_plugins.xla_cuda13": tmp_path / "jax_plugins/xla_cuda13",
            "nvidia.cu13": tmp_path / "nvidia/cu13",
        }
        monkeypatch.setattr(xla.cuda_wheels, "_package_path", folders.get)

    return install


def test_a_plugin_of_another_version_is_refused(fake_cuda):
    fake_cuda("0.1.2")
    assert xla.cuda_wheels.plugin_available()
    with pytest.raises(xla.cuda.CudaUnavailable, match="0.1.2") as caught:
        xla.cuda.make_client()
    assert caught.value.step == "checking the plugin"


def test_libraries_are_found_and_a_broken_one_is_named(fake_cuda):
    fake_cuda(xla.engine_version_text, "cu13/lib/libcublas.so.13")
    plugin = xla.cuda.check_plugin()
    assert (plugin.cuda, plugin.support_package) == (13, "jax_cuda13_plugin")
    found = {library.name: library.path for library in xla.cuda_wheels.find_libraries(plugin)}
    assert [name for name, path in found.items() if path] == ["libcublas.so.13"]
    with pytest.raises(xla.cuda.CudaUnavailable, match="loading libcublas.so.13"):
        xla.cuda.make_client()


def test_a_plugin_that_cannot_be_loaded_is_an_error_of_that_step(fake_cuda):
    fake_cuda(xla.engine_version_text)
    with pytest.raises(xla.cuda.CudaUnavailable) as caught:
        xla.cuda.make_client()
    assert caught.value.step == "loading the plugin"
    assert isinstance(caught.value.__cause__, ImportError)
