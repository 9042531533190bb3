"""The stages of a jitted function: traced, lowered, compiled; what they tell, and their errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import sagax
import sagax.numpy as snp
from sagax import lax, stages
from sagax.experimental import serialize_executable


def model(params, x, *, scale=1.0):
    return {"y": (x @ params["w"] + params["b"]) * scale}


PARAMS = {"w": snp.ones((3, 2)), "b": snp.zeros(2)}
X = snp.ones((4, 3))


@pytest.fixture(scope="module")
def traced():
    return sagax.jit(model, donate_argnums=1).trace(PARAMS, X, scale=2.0)


@pytest.fixture(scope="module")
def compiled():
    return sagax.jit(model).lower(PARAMS, X, scale=2.0).compile()


def test_each_stage_tells_of_arguments_and_results(traced):
    with pytest.warns(sagax.errors.DonationWarning):
        lowered = traced.lower()
    for stage in (traced, lowered, lowered.compile()):
        args, kwargs = stage.args_info
        assert args[0]["w"].shape == (3, 2)
        assert args[0]["w"].dtype == np.float32
        assert (args[0]["w"].donated, args[1].donated, kwargs["scale"].donated) == (
            False,
            True,
            False,
        )
        assert stage.donate_argnums == (2,)
        assert stage.in_tree == sagax.tree.structure(((PARAMS, X), {"scale": 0}))
        assert stage.in_avals[0][0]["b"].shape == (2,)
        assert stage.in_avals[1]["scale"].weak_type
        assert stage.out_tree == sagax.tree.structure({"y": 0})
        assert (stage.out_info["y"].shape, stage.out_info["y"].dtype) == ((4, 2), np.float32)
        assert stage.out_avals["y"].shape == (4, 2)


def test_structs_stand_for_arrays():
    lowered = sagax.jit(model).lower(
        {
            "w": sagax.ShapeDtypeStruct((3, 2), "float32"),
            "b": sagax.ShapeDtypeStruct((2,), "float32"),
        },
        sagax.ShapeDtypeStruct((4, 3), "float32"),
    )
    np.testing.assert_array_equal(lowered.compile()(PARAMS, X)["y"], np.full((4, 2), 3.0))


def test_the_program_of_a_traced_function(traced):
    assert traced.fun_name == "model"
    assert [e.primitive.name for e in traced.jaxpr.eqns][0] == "dot_general"
    assert isinstance(traced, stages.Traced)


def test_texts_of_a_lowered_function():
    lowered = sagax.jit(model).lower(PARAMS, X)
    text = lowered.as_text()
    assert "stablehlo.dot_general" in text
    assert "loc(" not in text
    assert "test_stages.py" in lowered.as_text(debug_info=True)
    assert "HloModule" in lowered.as_text("hlo")
    with pytest.raises(ValueError, match="argument dialect must be 'stablehlo' or 'hlo'"):
        lowered.as_text("mhlo")


def test_objects_of_a_lowered_function():
    lowered = sagax.jit(model).lower(PARAMS, X)
    module = lowered.compiler_ir()
    assert "stablehlo.dot_general" in str(module)
    assert module.operation.name == "builtin.module"
    assert "dot" in lowered.compiler_ir("hlo").as_hlo_text()
    with pytest.raises(ValueError, match="compiler_ir: argument dialect"):
        lowered.compiler_ir("mlir")


def test_costs_and_memory():
    lowered = sagax.jit(lambda x: x @ x).lower(snp.ones((64, 64)))
    assert lowered.cost_analysis()["flops"] == 2 * 64**3
    compiled = lowered.compile()
    assert compiled.cost_analysis()["flops"] == 2 * 64**3
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 4 * 64 * 64


def test_a_program_for_another_platform():
    lowered = sagax.jit(snp.sin).trace(X).lower(lowering_platforms=("cuda",))
    assert "stablehlo.sine" in lowered.as_text()
    elsewhere = (
        sagax.jit(snp.sin).trace(X).lower(lowering_platforms=("tpu",))
    )  # no client is needed
    assert "stablehlo.sine" in elsewhere.as_text()
    with pytest.raises(
        ValueError, match="lowered for 'cuda', and this process would run it on 'cpu'"
    ):
        lowered.compile()
    with pytest.raises(
        ValueError, match="argument lowering_platforms must be some of 'cpu', 'cuda'"
    ):
        sagax.jit(snp.sin).trace(X).lower(lowering_platforms=("cpu", "abacus"))
    with pytest.raises(ValueError, match="lowering_platforms"):
        sagax.jit(snp.sin).trace(X).lower(lowering_platforms="abacus")
    assert sagax.jit(snp.sin).trace(X).lower(lowering_platforms=()).compile()(X).shape == (4, 3)


INDEX = 'main(%arg0: tensor<i32> {jax.global_constant = "_platform_index"}, '


def test_a_program_for_several_platforms():
    def f(x):
        return lax.platform_dependent(x, cpu=snp.sin, cuda=snp.cos, default=snp.tan)

    traced = sagax.jit(f, donate_argnums=0).trace(X)
    lowered = traced.lower(lowering_platforms=("tpu", "cpu", "gpu", "rocm"))
    assert "for tpu, cpu, cuda, rocm>" in repr(lowered)
    text = lowered.as_text()
    assert INDEX + "%arg1: tensor<4x3xf32> {tf.aliasing_output = 0 : i32})" in text
    called = re.findall(r"func.call @(\w+)", text)
    assert len(called) == 4 and called[0] == called[3]  # tpu and rocm share a function
    bodies = {name: text.split(f"func.func private @{name}(")[1] for name in called}
    of_platform = [re.search(r"stablehlo\.(sine|cosine|tan) ", bodies[n])[1] for n in called]
    assert of_platform == ["tan", "sine", "cosine", "tan"]
    assert "conditional" in lowered.as_text("hlo")
    with pytest.raises(ValueError, match="lowered for 'tpu' and 'cpu' and 'cuda' and 'rocm'"):
        lowered.compile()


def test_what_no_platform_changes_is_lowered_once():
    text = sagax.jit(lambda x: x + 1).trace(X).lower(lowering_platforms=("cpu", "tpu")).as_text()
    assert INDEX + "%arg1: tensor<4x3xf32>)" in text
    assert text.count("stablehlo.add") == 1 and "case" not in text
    both = (
        sagax.jit(snp.linalg.cholesky).trace(snp.eye(3)).lower(lowering_platforms=("cpu", "cuda"))
    )
    assert both.as_text().count("stablehlo.case") == 1


def test_results_over_an_abstract_mesh_get_devices(eight_devices):
    """From the mesh that is set, or from the arguments; jax does the same."""
    sharding = sagax.sharding
    mesh = sagax.make_mesh((8,), ("x",), (sharding.AxisType.Auto,), devices=eight_devices)
    wanted = sharding.NamedSharding(mesh.abstract_mesh, sharding.PartitionSpec("x"))
    expected = sharding.NamedSharding(mesh, sharding.PartitionSpec("x"))
    double = sagax.jit(lambda x: x * 2, out_shardings=wanted)
    x = np.arange(8, dtype=np.float32)
    placed = sagax.device_put(x, sharding.NamedSharding(mesh, sharding.PartitionSpec()))
    found = [double(placed)]
    with sagax.set_mesh(mesh):
        found += [double(x), double(placed), double.lower(x).compile()(x)]
        found.append(sagax.jit(lambda x: x * 2, in_shardings=wanted, out_shardings=wanted)(x))
    for out in found:
        assert out.sharding == expected
        assert out.tolist() == (2 * x).tolist()
    with pytest.raises(ValueError, match="abstract mesh has no devices"):
        double(x + 1)


def test_a_function_that_only_maps_over_an_abstract_mesh(eight_devices):
    mesh = sagax.sharding.AbstractMesh((8,), ("x",), (sagax.sharding.AxisType.Auto,))
    spec = sagax.sharding.PartitionSpec("x")

    @sagax.jit
    def f(x):
        return sagax.shard_map(
            lambda v: v * lax.psum(v, "x"), mesh=mesh, in_specs=spec, out_specs=spec
        )(x)

    x = np.arange(8, dtype=np.float32)
    traced = f.trace(x)
    for lowered in (traced.lower(), traced.lower(lowering_platforms=("cpu", "cuda"))):
        assert "num_partitions = 8" in lowered.as_text() and "all_reduce" in lowered.as_text()
    with pytest.raises(RuntimeError, match="device_assignment"):
        traced.lower().compile()
    compiled = traced.lower().compile(device_assignment=tuple(eight_devices))
    on_mesh = sagax.sharding.Mesh(np.array(eight_devices), ("x",))
    placed = sagax.device_put(x, sagax.sharding.NamedSharding(on_mesh, spec))
    np.testing.assert_array_equal(compiled(placed), x * 28)
    exported = sagax.export.export(f)(x)
    assert exported.nr_devices == 8
    np.testing.assert_array_equal(exported.call(placed), x * 28)
    with pytest.raises(ValueError, match="no devices"):
        f(x)


def test_options_of_the_compiler():
    lowered = sagax.jit(snp.sin).lower(X)
    compiled = lowered.compile({"xla_cpu_enable_fast_math": True})
    np.testing.assert_allclose(compiled(X), np.sin(np.ones((4, 3))), rtol=1e-6)
    with pytest.raises(sagax.errors.JaxRuntimeError, match="xla_no_such_option"):
        lowered.compile({"xla_no_such_option": 1})
    with pytest.raises(TypeError, match="compiler_options"):
        lowered.compile("fast")


# calling what was compiled --------------------------------------------------------------------------


def test_a_compiled_function_computes(compiled):
    np.testing.assert_array_equal(compiled(PARAMS, X, scale=2.0)["y"], np.full((4, 2), 6.0))
    np.testing.assert_array_equal(compiled.call(PARAMS, X, scale=3.0)["y"], np.full((4, 2), 9.0))
    assert "HloModule" in compiled.as_text()
    assert compiled.runtime_executable() is not None


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        (({"w": snp.ones((3, 5)), "b": snp.zeros(2)}, X), {"scale": 1.0}, ("params['w']", "float32[3,2]", "float32[3,5]")),
        ((PARAMS, snp.ones((4, 3), "int32")), {"scale": 1.0}, ("x", "float32[4,3]", "int32[4,3]")),
        ((PARAMS, snp.ones((5, 3))), {"scale": snp.ones(2)}, ("x", "also scale: float32[2] instead of float32[]")),
        ((PARAMS, "text"), {"scale": 1.0}, ("x", "str")),
        ((PARAMS, X), {}, ("kwargs", "scale")),
        ((PARAMS, X, 1.0), {}, ("structure",)),
        (({"w": PARAMS["w"]}, X), {"scale": 1.0}, ("args[0]", "'b'")),
    ],
    ids=["shape", "dtype", "two", "text", "missing", "positional", "structure"],
)  # fmt: skip
def test_arguments_of_another_type_are_named(compiled, args, kwargs, words):
    with pytest.raises(TypeError) as caught:
        compiled(*args, **kwargs)
    text = str(caught.value)
    assert [w for w in words if w not in text] == [], text


def test_a_compiled_function_cannot_be_transformed(compiled):
    with pytest.raises(TypeError, match="Cannot apply transformations"):
        sagax.grad(lambda p: compiled(p, X, scale=1.0)["y"].sum())(PARAMS)


def test_weak_types_and_numbers_are_the_same_to_a_compiled_function():
    compiled = sagax.jit(lambda x: x + 1).lower(1.0).compile()
    assert float(compiled(snp.float32(2))) == 3.0
    assert float(compiled(np.float32(4))) == 5.0


def test_static_arguments_are_part_of_the_program():
    compiled = sagax.jit(lambda x, n: x * n, static_argnums=1).lower(X, 3).compile()
    np.testing.assert_array_equal(compiled(X), np.full((4, 3), 3.0))
    with pytest.raises(TypeError, match="static arguments are part"):
        compiled(X, 3)


def test_arguments_that_are_not_used_need_not_match_in_number():
    compiled = sagax.jit(lambda x, y: x).lower(X, snp.ones(7)).compile()
    np.testing.assert_array_equal(compiled(X, snp.ones(7)), X)


def test_closed_over_arrays_come_along():
    held = snp.arange(3.0)
    compiled = sagax.jit(lambda x: x + held).lower(snp.zeros(3)).compile()
    np.testing.assert_array_equal(compiled(snp.ones(3)), [1.0, 2.0, 3.0])


# xla_computation ------------------------------------------------------------------------------------


def test_the_old_name_for_hlo():
    with pytest.warns(DeprecationWarning, match="xla_computation is deprecated"):
        make = sagax.xla_computation(lambda x: snp.sin(x) * 2, return_shape=True)
    computation, shape = make(X)
    assert "sine" in computation.as_hlo_text()
    assert shape.shape == (4, 3)
    with pytest.warns(DeprecationWarning), pytest.raises(TypeError, match="xla_computation"):
        sagax.xla_computation(3)


def test_formats_of_arguments_and_results():
    f = sagax.jit(lambda x, y, *, z: {"a": x.T * 2, "b": z})
    compiled = f.lower(snp.ones((2, 3)), snp.ones(4), z=1.0).compile()
    (x, y), kwargs = compiled.input_formats
    assert x == snp.ones((2, 3)).format
    assert (y.layout, y.sharding) == (None, None)  # unused
    assert kwargs["z"].layout.major_to_minor == ()
    assert compiled.output_formats["a"] == snp.ones((3, 2)).format
    assert compiled.output_formats["b"].sharding == sagax.device_put(1.0).sharding


# saved programs ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved():
    table = snp.arange(3.0)

    def f(p, x, *, k):
        return {"y": p["a"] @ x + table * k, "inverse": snp.linalg.inv(x)}

    x = snp.diag(snp.array([1.0, 2.0, 4.0]))
    compiled = sagax.jit(f).lower({"a": snp.ones((3, 3)), "unused": 1}, x, k=2.0).compile()
    return serialize_executable.serialize(compiled)


IN_ANOTHER_PROCESS = """
import sys
import sagax
import sagax.numpy as snp
from sagax._src import xla
from sagax.experimental import serialize_executable
def refused(*args, **kwargs):
    raise AssertionError("compiled")
xla.compiler.compile = refused
trees = [sagax.tree.structure(x) for x in (
    (({"a": 0, "unused": 0}, 0), {"k": 0}), {"inverse": 0, "y": 0}
)]
f = serialize_executable.deserialize_and_load(sys.stdin.buffer.read(), *trees)
found = f({"a": snp.ones((3, 3)), "unused": 1}, snp.diag(snp.array([1.0, 2.0, 4.0])), k=2.0)
print(found["y"][0].tolist(), snp.diag(found["inverse"]).tolist())
"""


def test_a_saved_program_runs_in_another_process_without_compiling(saved):
    blob, in_tree, out_tree = saved
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], input=blob, capture_output=True, check=False
    )
    assert done.stdout.decode() == "[1.0, 4.0, 8.0] [1.0, 0.5, 0.25]\n", done.stderr.decode()
    assert in_tree.num_leaves == 4
    assert out_tree.num_leaves == 2


def test_a_loaded_program_checks_its_arguments_and_can_be_saved_again(saved):
    loaded = serialize_executable.deserialize_and_load(*saved)
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(loaded))
    with pytest.raises(TypeError, match=r"argument: p\['a'\]"):
        again({"a": snp.ones((3, 2)), "unused": 1}, snp.eye(3), k=2.0)
    found = again({"a": snp.ones((3, 3)), "unused": 1}, snp.eye(3), k=1.0)
    np.testing.assert_array_equal(found["y"], np.ones((3, 3)) + np.arange(3))
    assert loaded.in_tree == saved[1]


def test_a_loaded_program_donates():
    compiled = sagax.jit(lambda x: x + 1, donate_argnums=0).lower(snp.ones(3)).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    x = snp.arange(3.0)
    np.testing.assert_array_equal(loaded(x), [1.0, 2.0, 3.0])
    assert x.is_deleted()


def test_a_program_from_the_cache_on_disk_can_be_saved(tmp_path):
    cache = {"enable_compilation_cache": True, "compilation_cache_dir": os.fspath(tmp_path)}
    with sagax.config.context(**cache, persistent_cache_min_compile_time_secs=0.0):
        for _ in range(2):  # the second time it is loaded
            lowered = sagax.jit(lambda x: snp.sin(x) * 3).lower(snp.ones(3))
            compiled = lowered.compile()
    assert compiled._compiled.origin.source == "loaded"
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    np.testing.assert_allclose(loaded(snp.ones(3)), np.sin(np.ones(3)) * 3, rtol=1e-6)


def test_bytes_that_are_no_program_of_this_machine_are_refused(saved):
    blob, *structures = saved
    load = serialize_executable.deserialize_and_load
    with pytest.raises(ValueError, match="do not begin as a compiled function does"):
        load(b"something else", *structures)
    with pytest.raises(ValueError, match="they were damaged"):
        load(blob[:-1], *structures)
    with pytest.raises(ValueError, match="another version of the engine, or for another processor"):
        load(blob[:8] + bytes(32) + blob[40:], *structures)
    with pytest.raises(TypeError, match="argument serialized must be bytes"):
        load("text", *structures)
    with pytest.raises(ValueError, match="argument in_tree must be the structure"):
        load(blob, structures[1], structures[1])
    with pytest.raises(ValueError, match="one device in a list"):
        load(blob, *structures, execution_devices=[])


def test_what_cannot_be_saved_is_said():
    printing = sagax.jit(lambda x: sagax.debug.print("{}", x)).lower(1.0).compile()
    with pytest.raises(ValueError, match="it calls Python functions"):
        serialize_executable.serialize(printing)
    with pytest.raises(TypeError, match="argument compiled must be a compiled function"):
        serialize_executable.serialize(sagax.jit(lambda x: x))
