"""Arrays that are written are read again, with any sharding, and by any other reader of the format."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
import tensorstore

import sagax
import sagax.numpy as snp
from sagax.experimental.array_serialization import (
    pytree_serialization,
    serialization,
    tensorstore_impl,
)

X = np.arange(24, dtype=np.float32).reshape(6, 4)


@pytest.fixture
def one():
    return snp.zeros(()).sharding


def test_others_read_what_is_written(tmp_path):
    specs = [serialization.get_tensorstore_spec(str(tmp_path / name)) for name in "ab"]
    serialization.run_serialization([snp.array(X), snp.arange(3)], specs)
    for spec, expected in zip(specs, (X, np.arange(3)), strict=True):
        assert spec["driver"] == "zarr"
        found = tensorstore.open(spec, open=True).result().read().result()
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == snp.asarray(expected).dtype


def test_what_others_wrote_is_read_in_other_shapes_and_dtypes(tmp_path, one):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(tmp_path / "a")}}
    store = tensorstore.open(spec, create=True, dtype="float32", shape=X.shape).result()
    store.write(X).result()
    (found,) = serialization.run_deserialization([one], [spec])
    np.testing.assert_array_equal(found, X)
    larger, smaller = serialization.run_deserialization(
        [one, one], [spec, spec], [(8, 5), (2, 3)], [np.int32, None]
    )
    np.testing.assert_array_equal(larger, np.pad(X, ((0, 2), (0, 1))).astype(np.int32))
    np.testing.assert_array_equal(smaller, X[:2, :3])
    with pytest.raises(ValueError, match="another number of dimensions"):
        serialization.run_deserialization([one], [spec], [(24,)])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "bool", "complex64", "uint32"])
def test_dtypes_stay(tmp_path, one, dtype):
    x = snp.array([0, 1, 3]).astype(dtype)
    pytree_serialization.save({"x": x}, tmp_path / "t")
    found = pytree_serialization.load(tmp_path / "t", one)["x"]
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, x)


def test_trees_stay(tmp_path, one):
    data = {"w": [snp.array(X), None], "b": (snp.ones(()), np.arange(3)), "e": snp.zeros((0, 2))}
    pytree_serialization.save(data, tmp_path / "t")
    shapes = pytree_serialization.load_pytreedef(tmp_path / "t")
    assert shapes["w"] == [sagax.ShapeDtypeStruct(X.shape, X.dtype), None]
    found = pytree_serialization.load(tmp_path / "t", one)
    assert sagax.tree.structure(found) == sagax.tree.structure(data)
    sagax.tree.map(np.testing.assert_array_equal, found, data)
    part = pytree_serialization.load(
        tmp_path / "t", {"w": one, "b": one, "e": one}, mask={"w": True, "b": False, "e": False}
    )
    np.testing.assert_array_equal(part["w"][0], X)
    assert part["b"] == (None, None) and part["e"] is None


def test_a_save_replaces_another_as_a_whole(tmp_path, one):
    folder = tmp_path / "t"
    pytree_serialization.save({"a": snp.ones(3)}, folder)
    with pytest.raises(ValueError, match="overwrite=False"):
        pytree_serialization.save({"a": snp.ones(2)}, folder, overwrite=False)
    with pytest.raises(TypeError, match=r"argument data\['n'\] must be an array, or None"):
        pytree_serialization.save({"a": snp.ones(3), "n": 3}, folder)
    pytree_serialization.save({"b": snp.zeros(2)}, folder)
    assert list(pytree_serialization.load(folder, one)) == ["b"]
    assert [p.name for p in tmp_path.iterdir()] == ["t"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(ValueError, match="holds something else"):
        pytree_serialization.save({"b": snp.zeros(2)}, tmp_path / "mine")
    with pytest.raises(ValueError, match="holds no tree of arrays"):
        pytree_serialization.load(tmp_path / "none", one)
    with pytest.raises(ValueError, match="shardings must be a tree prefix"):
        pytree_serialization.load(folder, {"c": one})


def test_saves_in_the_background(tmp_path, one):
    future = pytree_serialization.nonblocking_save({"a": snp.array(X)}, tmp_path / "t")
    assert future.pytree["a"].shape == X.shape
    assert future.result(timeout=60) is None
    loading = pytree_serialization.nonblocking_load(tmp_path / "t", one)
    np.testing.assert_array_equal(loading.result(timeout=60)["a"], X)

    committed = threading.Event()
    manager = serialization.GlobalAsyncCheckpointManager()
    paths = [str(tmp_path / "a"), str(tmp_path / "b")]
    arrays = [snp.array(X), snp.arange(5)]
    manager.serialize_with_paths(arrays, paths, on_commit_callback=committed.set)
    manager.wait_until_finished()
    assert committed.is_set()
    found = manager.deserialize_with_paths([one, one], paths)
    for x, y in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(x, y)

    def fail():
        raise OSError("no permission to commit")

    manager.serialize_with_paths(arrays, paths, on_commit_callback=fail)
    with pytest.raises(OSError, match="no permission"):
        manager.wait_until_finished()
    manager.check_for_errors()  # it is raised once


def test_specifications_of_paths(tmp_path):
    spec = tensorstore_impl.get_tensorstore_spec("gs://bucket/run/w", process_idx=3)
    base = {"driver": "gcs", "bucket": "bucket", "path": "run/process_3"}
    assert spec["kvstore"]["base"] == base and spec["kvstore"]["path"] == "w"
    assert serialization.is_remote_storage(spec)
    local = tensorstore_impl.get_tensorstore_spec(tmp_path / "w", arr=snp.array(X), ocdbt=False)
    assert not serialization.is_remote_storage(local)
    assert local["metadata"]["shape"] == [6, 4] and local["dtype"] == "float32"
    tensorstore_impl.verify_tensorstore_spec(local, snp.array(X), tmp_path, ocdbt=False)
    with pytest.raises(ValueError, match="the shape of the array"):
        tensorstore_impl.verify_tensorstore_spec(local, snp.ones(3), tmp_path, ocdbt=False)
    with pytest.raises(ValueError, match="a path below"):
        tensorstore_impl.verify_tensorstore_spec(local, None, "/elsewhere", ocdbt=False)
    with pytest.raises(ValueError, match="an absolute path"):
        tensorstore_impl.get_tensorstore_spec("relative/w")


@pytest.mark.process
def test_arrays_are_read_with_other_shardings(run_python, tmp_path):
    script = """
import json, sys
import numpy as np
import sagax, sagax.numpy as snp
from sagax.experimental.array_serialization import pytree_serialization as ps
from sagax.sharding import NamedSharding, PartitionSpec as P
sagax.config.update("num_cpu_devices", 4)
mesh = sagax.make_mesh((2, 2), ("a", "b"), axis_types=(sagax.sharding.AxisType.Auto,) * 2)
x = np.arange(32.0, dtype=np.float32).reshape(8, 4)
ps.save({"x": sagax.device_put(x, NamedSharding(mesh, P("a", None)))}, sys.argv[1])
out = []
for spec in (P("a", "b"), P(None, "b"), P(), P(("b", "a"))):
    found = ps.load(sys.argv[1], NamedSharding(mesh, spec))["x"]
    out.append([bool((np.asarray(found) == x).all()), found.sharding.spec == spec,
                list(found.addressable_shards[0].data.shape)])
print(json.dumps(out))
"""
    found = json.loads(run_python("-c", script, str(tmp_path / "t")).stdout)
    shapes = [[4, 2], [8, 2], [8, 4], [2, 4]]
    assert found == [[True, True, shape] for shape in shapes]
