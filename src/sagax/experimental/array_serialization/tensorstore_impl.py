"""Read and write arrays by TensorStore: each process writes the parts that it holds, and reads those it needs."""

from __future__ import annotations

import asyncio
import functools
import importlib
import math
import os
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple

import numpy as np

from sagax._src.api.shape_dtype_struct import ShapeDtypeStruct
from sagax._src.api.tracing_utils import device_put
from sagax._src.argument_checks.functions import kind_of
from sagax._src.core.shardings import Sharding
from sagax._src.core.value import Array
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.languages.choice import worded
from sagax._src.runtime import devices
from sagax._src.runtime.device_put import make_array_from_single_device_arrays
from sagax.experimental.layout import Format

__all__ = [
    "async_deserialize", "async_serialize", "combine_kvstores", "estimate_read_memory_footprint",
    "get_tensorstore_spec", "is_tensorstore_spec_leaf", "merge_nested_ts_specs", "verify_tensorstore_spec",
]  # fmt: skip

_REMOTE = re.compile(r"(gs|s3)://([^/]*)/?(.*)", re.DOTALL)
_FILE_BYTES = 1 << 31  # of a file of the ocdbt format
_CHUNK_BYTES = 1 << 30


@functools.cache
def tensorstore() -> Any:
    """Import TensorStore, or say how to install it."""
    try:
        return importlib.import_module("tensorstore")
    except ModuleNotFoundError as error:
        raise worded(
            ImportError(
                "sagax.experimental.array_serialization needs TensorStore: pip install tensorstore"
            )
        ) from error


@functools.cache
def _context() -> Any:
    return tensorstore().Context({"file_io_concurrency": {"limit": 128}})


# --- where an array lies ---------------------------------------------------------------------------------


def is_tensorstore_spec_leaf(leaf: Any) -> bool:
    """Return whether a leaf of a tree is the specification of an array in TensorStore, or None."""
    return leaf is None or (isinstance(leaf, dict) and ("driver" in leaf or "kvstore" in leaf))


def merge_nested_ts_specs(dict1: dict[Any, Any], dict2: dict[Any, Any] | None) -> dict[Any, Any]:
    """Return the first specification with what the second adds or replaces, at all levels.

    >>> merge_nested_ts_specs({"driver": "zarr3", "kvstore": {"path": "a"}}, {"kvstore": {"path": "b"}})
    {'driver': 'zarr3', 'kvstore': {'path': 'b'}}
    """
    merged = dict(dict1)
    for key, value in (dict2 or {}).items():
        old = merged.get(key)
        nested = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = merge_nested_ts_specs(old, value) if nested else value  # type: ignore[arg-type]
    return merged


def get_tensorstore_spec(
    ckpt_path: str | os.PathLike[str],
    ocdbt: bool = True,
    process_idx: int | None = None,
    arr: Any = None,
    driver: str = "zarr3",
) -> dict[str, Any]:
    """Return the specification of an array at a path: absolute, or of a bucket (`gs://`, `s3://`).

    With `ocdbt` many arrays share the files of a folder; `process_idx` names the part of one process. `arr` adds its
    shape, dtype and chunks.

    >>> get_tensorstore_spec("/tmp/step/w", ocdbt=False)
    {'driver': 'zarr3', 'kvstore': {'driver': 'file', 'path': '/tmp/step/w'}}
    """
    path = os.fspath(ckpt_path)
    remote = _REMOTE.fullmatch(path)
    if remote is None and not os.path.isabs(path):
        raise ArgumentValueError.about(
            "get_tensorstore_spec", "ckpt_path", repr(path), "an absolute path, or gs:// or s3://"
        )
    folder, name = os.path.split(path.rstrip("/"))
    part = folder if process_idx is None else f"{folder}/process_{process_idx}"
    kvstore: dict[str, Any]
    if ocdbt:
        kvstore = {"driver": "ocdbt", "base": _base(part), "path": name}
        kvstore["config"] = {"target_data_file_size": _FILE_BYTES}
    else:
        kvstore = _base(path if process_idx is None else f"{part}/{name}")
    spec: dict[str, Any] = {"driver": driver, "kvstore": kvstore}
    return spec if arr is None else {**spec, **_metadata(arr, driver, ocdbt)}


def _base(path: str) -> dict[str, Any]:
    remote = _REMOTE.fullmatch(path)
    if remote is None:
        return {"driver": "file", "path": path}
    driver = "gcs" if remote[1] == "gs" else "s3"
    return {"driver": driver, "bucket": remote[2], "path": remote[3]}


def _metadata(x: Any, driver: str, ocdbt: bool) -> dict[str, Any]:
    shape = tuple(x.shape)
    shards = x.sharding.shard_shape(shape) if getattr(x, "sharding", None) is not None else shape
    chunks = list(_chunks(shards, np.dtype(x.dtype).itemsize))
    about: dict[str, Any] = {"shape": list(shape)}
    if driver == "zarr3":
        about["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": chunks}}
    else:
        about["chunks"] = chunks
    return {"dtype": np.dtype(x.dtype).name, "metadata": about}


def _chunks(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Halve the longest sizes, where they are even, until a chunk is small enough."""
    sizes = [max(size, 1) for size in shape]
    while math.prod(sizes) * itemsize > _CHUNK_BYTES:
        even = [i for i, size in enumerate(sizes) if size % 2 == 0]
        if not even:
            break
        at = max(even, key=sizes.__getitem__)
        sizes[at] //= 2
    return tuple(sizes)


def verify_tensorstore_spec(
    spec: dict[str, Any],
    arr: Any,
    path: str | os.PathLike[str],
    ocdbt: bool,
    check_metadata: bool = True,
) -> None:
    """Raise ArgumentValueError where a specification does not lie below `path`, or has another shape or dtype."""
    kvstore = spec.get("kvstore", {})
    found = kvstore.get("base", {}).get("path") if ocdbt else kvstore.get("path")
    if ocdbt and kvstore.get("driver") != "ocdbt":
        raise ArgumentValueError(
            function="verify_tensorstore_spec",
            argument="spec['kvstore']['driver']",
            got=repr(kvstore.get("driver")),
            expected="'ocdbt'",
        )
    wanted = _base(os.fspath(path))["path"]
    if found is None or not os.path.normpath(found).startswith(os.path.normpath(wanted)):
        raise ArgumentValueError(
            function="verify_tensorstore_spec",
            argument="spec['kvstore']",
            got=repr(found),
            expected=f"a path below {wanted!r}",
        )
    if not check_metadata or arr is None:
        return
    shape = spec.get("metadata", {}).get("shape")
    if shape is not None and tuple(shape) != tuple(arr.shape):
        raise ArgumentValueError(
            function="verify_tensorstore_spec",
            argument="spec['metadata']['shape']",
            got=tuple(shape),
            expected=f"{tuple(arr.shape)}, the shape of the array",
        )
    if "dtype" in spec and spec["dtype"] != np.dtype(arr.dtype).name:
        raise ArgumentValueError(
            function="verify_tensorstore_spec",
            argument="spec['dtype']",
            got=repr(spec["dtype"]),
            expected=repr(np.dtype(arr.dtype).name),
        )


async def combine_kvstores(
    combined_kvstore: dict[str, Any], kvstores: list[dict[str, Any]], context: Any = None
) -> None:
    """Copy what each process wrote into one store, in one transaction."""
    ts, context = tensorstore(), context or _context()
    combined = await ts.KvStore.open(ts.KvStore.Spec(combined_kvstore), context=context)
    transaction = ts.Transaction()
    for kvstore in kvstores:
        opened = await ts.KvStore.open(ts.KvStore.Spec(kvstore), context=context)
        await opened.experimental_copy_range_to(combined.with_transaction(transaction))
    await transaction.commit_async()


# --- writing ---------------------------------------------------------------------------------------------


async def async_serialize(
    arr_inp: Any,
    tensorstore_spec: Any,
    commit_future: list[Any] | None = None,
    context: Any = None,
    chunk_layout: Any = None,
    primary_host: int | None = None,
    replica_id: int = 0,
    transaction: Any = None,
) -> None:
    """Write the parts of an array that this process holds.

    Without `commit_future`, a list that receives what is left to wait for, it waits until all is on disk. With
    `primary_host` only that process creates the array.
    """
    ts, context = tensorstore(), context or _context()
    if not isinstance(arr_inp, Array):
        raise ArgumentError.about("async_serialize", "arr_inp", arr_inp, "an array")
    x = arr_inp
    spec = tensorstore_spec
    if isinstance(spec, dict):
        driver = spec.get("driver", "zarr3")
        complete = "metadata" in spec and "dtype" in spec
        added = {} if complete else _metadata(x, driver, _is_ocdbt(spec))
        spec = ts.Spec(merge_nested_ts_specs(added, spec))
    options = {} if transaction is None else {"transaction": transaction}
    if primary_host is None or devices.process_index() == primary_host:
        await ts.open(spec, create=True, open=True, context=context, **options)
    store = await ts.open(
        spec, open=True, assume_metadata=True, context=context, chunk_layout=chunk_layout, **options
    )
    parts = [s for s in x.addressable_shards if s.replica_id == replica_id]
    for part in parts:
        part.data.copy_to_host_async()
    writes = [store[part.index].write(np.asarray(part.data)) for part in parts]
    for write in writes:
        if commit_future is None:
            await (write.copy if transaction is not None else write.commit)
        else:
            await write.copy
            commit_future.append(write.commit)


def _is_ocdbt(spec: dict[str, Any]) -> bool:
    kvstore = spec.get("kvstore")
    return isinstance(kvstore, dict) and kvstore.get("driver") == "ocdbt"


def run_serialization(arrays: Sequence[Any], tensorstore_specs: Sequence[Any]) -> None:
    """Write arrays, and wait until they are on disk."""

    async def write() -> None:
        await asyncio.gather(*map(async_serialize, arrays, tensorstore_specs))

    run(write())


# --- reading ---------------------------------------------------------------------------------------------


class Limit:
    """Limit the bytes that are read at the same time; the first reader may exceed it."""

    def __init__(self, size: int) -> None:
        self._size, self._left = size, size
        self._changed = asyncio.Condition()

    async def acquire(self, size: int) -> None:
        """Wait until there is room."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._left >= min(size, self._size))
            self._left -= size

    async def release(self, size: int) -> None:
        """Give the room back."""
        async with self._changed:
            self._left += size
            self._changed.notify_all()


def estimate_read_memory_footprint(t: Any, domain: Any) -> int:
    """Return the bytes that reading a part of an array takes: of all chunks that it touches."""
    size = t.dtype.numpy_dtype.itemsize
    chunks = t.chunk_layout.read_chunk.shape or ()
    if len(chunks) < len(domain):
        return size * math.prod(domain.shape)
    total = size
    for extent, start, chunk in zip(domain.shape, domain.origin, chunks, strict=False):
        chunk = chunk or extent or 1
        total *= chunk * ((start + extent - 1) // chunk - start // chunk + 1)
    return total


class _Target(NamedTuple):
    sharding: Any
    shape: tuple[int, ...] | None
    dtype: Any


def _target(in_type: Any, global_shape: Any, dtype: Any) -> _Target:
    if isinstance(in_type, ShapeDtypeStruct):
        shape = tuple(in_type.shape if global_shape is None else global_shape)
        return _Target(in_type.sharding, shape, in_type.dtype if dtype is None else dtype)
    sharding = in_type.sharding if isinstance(in_type, Format) else in_type
    if not isinstance(sharding, Sharding):
        raise ArgumentError(
            function="async_deserialize",
            argument="in_type",
            got=kind_of(in_type),
            expected="a sharding, a Format with one, or a ShapeDtypeStruct with one",
        )
    return _Target(sharding, None if global_shape is None else tuple(global_shape), dtype)


async def async_deserialize(
    in_type: Any,
    tensorstore_spec: Any,
    global_shape: Sequence[int] | None = None,
    dtype: Any = None,
    byte_limiter: Limit | None = None,
    context: Any = None,
    chunk_layout: Any = None,
    assume_metadata: bool = False,
) -> Any:
    """Read an array with a sharding; each device gets its part.

    A greater `global_shape` is filled with zeros, of a smaller one the rest is not read; `dtype` converts.
    """
    ts, context = tensorstore(), context or _context()
    target = _target(in_type, global_shape, dtype)
    store = await ts.open(
        ts.Spec(tensorstore_spec) if isinstance(tensorstore_spec, dict) else tensorstore_spec,
        open=True,
        assume_metadata=assume_metadata,
        context=context,
        chunk_layout=chunk_layout,
    )
    shape = tuple(store.shape) if target.shape is None else target.shape
    if len(shape) != len(store.shape):
        raise ArgumentValueError(
            "the stored array has another number of dimensions",
            function="async_deserialize",
            argument="global_shape",
            got=shape,
            expected=f"{len(store.shape)} dimensions, as of {tuple(store.shape)}",
        )
    kind = np.dtype(store.dtype.numpy_dtype if target.dtype is None else target.dtype)
    places = target.sharding.addressable_devices_indices_map(shape)

    async def read(index: tuple[slice, ...]) -> np.ndarray:
        bounds = [part.indices(size)[:2] for part, size in zip(index, shape, strict=True)]
        stored = [
            slice(start, max(min(stop, size), start))
            for (start, stop), size in zip(bounds, store.shape, strict=True)
        ]
        found = np.zeros([stop - start for start, stop in bounds], store.dtype.numpy_dtype)
        there = tuple(slice(0, part.stop - part.start) for part in stored)
        if not found[there].size:
            return found.astype(kind, copy=False)
        view = store[tuple(stored)]
        size = estimate_read_memory_footprint(store, view.domain)
        if byte_limiter is not None:
            await byte_limiter.acquire(size)
        try:
            found[there] = await view.read()
        finally:
            if byte_limiter is not None:
                await byte_limiter.release(size)
        return found.astype(kind, copy=False)

    # replicas of a part are read once
    keys = {
        d: tuple(i.indices(n) for i, n in zip(at, shape, strict=True)) for d, at in places.items()
    }
    parts = {keys[d]: at for d, at in places.items()}
    values = dict(
        zip(parts, await asyncio.gather(*[read(at) for at in parts.values()]), strict=True)
    )
    arrays = [device_put(values[keys[d]], d) for d in places]
    return make_array_from_single_device_arrays(shape, target.sharding, arrays)


def run_deserialization(
    shardings: Sequence[Any],
    tensorstore_specs: Sequence[Any],
    global_shapes: Sequence[Any] | None = None,
    dtypes: Sequence[Any] | None = None,
    concurrent_gb: int = 32,
) -> list[Any]:
    """Read arrays, at most `concurrent_gb` gigabytes at the same time."""
    n = len(tensorstore_specs)

    async def read() -> list[Any]:
        limit = Limit(concurrent_gb * 10**9)
        shapes, kinds = global_shapes or [None] * n, dtypes or [None] * n
        return await asyncio.gather(
            *[
                async_deserialize(*each, byte_limiter=limit)
                for each in zip(shardings, tensorstore_specs, shapes, kinds, strict=True)
            ]
        )

    return run(read())


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Run asynchronous work to its end, also where an event loop runs already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return in_thread(lambda: asyncio.run(work))


def in_thread(work: Callable[[], Any]) -> Any:
    """Run work in a thread, and wait for it."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()
