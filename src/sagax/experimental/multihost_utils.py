"""Synchronize processes: broadcast, all-gather, barriers, and conversion of arrays.

Every process must make the same calls in the same order. If it does not, or if a process is lost, the
call raises `sagax.errors.DistributedError`; no call blocks forever.

>>> from sagax.experimental import multihost_utils
>>> multihost_utils.process_allgather(7)
array([7])
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.api.jit import jit
from sagax._src.api.tracing_utils import device_put
from sagax._src.core.meshes import Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.languages.choice import worded
from sagax._src.runtime import devices
from sagax._src.runtime import devices as runtime_devices
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.device_put import make_array_from_single_device_arrays
from sagax._src.runtime.distributed import process
from sagax._src.runtime.distributed.local_shards import global_to_local, local_to_global
from sagax.numpy._reductions import sum as _sum

__all__ = [
    "assert_equal",
    "broadcast_one_to_all",
    "global_array_to_host_local_array",
    "host_local_array_to_global_array",
    "live_devices",
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]

# --- host values as arrays of uint32 ----------------------------------------------------------------------


def _on_host(x: Any, function: str) -> np.ndarray:
    if isinstance(x, ConcreteArray) and not (x.is_fully_addressable or x.is_fully_replicated):
        raise ArgumentValueError(
            "an array that lies across processes is the same in all of them",
            function=function,
            got=x,
            fix="pass values of this process; process_allgather(x, tiled=True) gives such an array to all",
        )
    value = np.asarray(x)
    if value.dtype.hasobject:
        raise ArgumentError.about(function, "in_tree", repr(x), "arrays and numbers")
    return value


def _to_uint32(values: list[np.ndarray]) -> np.ndarray:
    """Concatenate the bytes of all arrays, padded to a whole number of uint32."""
    data = b"".join(np.ascontiguousarray(v).tobytes() for v in values)
    return np.frombuffer(data + bytes(-len(data) % 4), np.uint32)


def _from_uint32(packed: np.ndarray, like: list[np.ndarray]) -> list[np.ndarray]:
    data, offset, values = packed.tobytes(), 0, []
    for v in like:
        values.append(np.frombuffer(data, v.dtype, v.size, offset).reshape(v.shape).copy())
        offset += v.nbytes
    return values


def _describe(function: str, treedef: Any, values: list[np.ndarray]) -> str:
    """Describe the types, which must agree in all processes: the first four, and a digest of all."""
    types = [f"{v.dtype}{list(v.shape)}" for v in values]
    digest = hashlib.sha256(f"{treedef} {types}".encode()).hexdigest()[:8]
    return f"{function}({', '.join(types[:4])}{', ...' if len(types) > 4 else ''}) #{digest}"


@functools.cache
def _process_mesh() -> tuple[Mesh, Any]:
    """Create a mesh of one device of each process; return it and this process's device."""
    firsts = [devices.local_devices(i)[0] for i in range(devices.process_count())]
    return Mesh(np.array(firsts), ("process",)), firsts[devices.process_index()]


def _stack_by_process(packed: np.ndarray) -> Any:
    """Create an array with a row for each process, sharded by row; `packed` is the local row."""
    mesh, device = _process_mesh()
    row = device_put(packed[None], device)
    return make_array_from_single_device_arrays(
        (mesh.size, packed.size), NamedSharding(mesh, PartitionSpec("process")), [row]
    )


def _gather(x: Any) -> np.ndarray:
    """Gather an array that is sharded across processes."""
    mesh = x.sharding.mesh if isinstance(x.sharding, NamedSharding) else None
    if mesh is None:
        mesh = Mesh(np.array(list(x.sharding._device_assignment)), ("device",))
    whole = device_put(x, NamedSharding(mesh, PartitionSpec()))
    return np.asarray(whole.addressable_data(0))


@functools.cache
def _total() -> Callable[[Any], Any]:
    mesh, _ = _process_mesh()
    return jit(
        lambda rows: _sum(rows, axis=0, dtype=np.uint32),
        out_shardings=NamedSharding(mesh, PartitionSpec()),
    )


# --- the functions ----------------------------------------------------------------------------------------


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """Broadcast the values of one process to all, as NumPy arrays.

    Args:
      in_tree: arrays and numbers, of the same types in all processes; only the source's values count.
      is_source: whether this process is the source; by default process 0 is. Exactly one must be.

    64-bit numbers keep all their bits. Raises DistributedError if the types differ.

    >>> multihost_utils.broadcast_one_to_all({"seed": 3})
    {'seed': array(3)}
    """
    leaves, treedef = trees.tree_flatten(in_tree)
    values = [_on_host(x, "broadcast_one_to_all") for x in leaves]
    session = process.session()
    if session is None or session.num_processes == 1:
        return trees.tree_unflatten(treedef, values)
    session.sync(_describe("broadcast_one_to_all", treedef, values))
    if is_source is None:
        is_source = session.process_id == 0
    packed = _to_uint32(values)
    # The other processes add zeros, so the sum has the bits of the source.
    total = _total()(_stack_by_process(packed if is_source else np.zeros_like(packed)))
    return trees.tree_unflatten(
        treedef, _from_uint32(np.asarray(total.addressable_data(0)), values)
    )


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """Gather the values of all processes on each of them, as NumPy arrays.

    Args:
      in_tree: arrays and numbers, of the same types in all processes. An array that is sharded across
        processes is returned whole; that needs `tiled=True`.
      tiled: concatenate the values along their first axis. By default they are stacked along a new
        one, of the size `process_count()`.

    64-bit numbers keep all their bits. Raises DistributedError if the types differ.

    >>> multihost_utils.process_allgather(np.arange(3)).shape
    (1, 3)
    >>> multihost_utils.process_allgather(np.arange(3), tiled=True).shape
    (3,)
    """
    leaves, treedef = trees.tree_flatten(in_tree)
    whole: dict[int, np.ndarray] = {}
    for i, x in enumerate(leaves):
        if isinstance(x, ConcreteArray) and not x.is_fully_addressable:
            if not tiled:
                raise ArgumentValueError(
                    "Gathering global non-fully-addressable arrays only supports tiled=True",
                    function="process_allgather",
                    got=x,
                    fix="pass tiled=True",
                )
            whole[i] = _gather(x)
    rest = [
        _on_host(x, "process_allgather") if i not in whole else np.zeros((0,), np.uint8)
        for i, x in enumerate(leaves)
    ]
    session = process.session()
    count = 1 if session is None else session.num_processes
    if session is None or count == 1:
        rows = [rest]
    else:
        session.sync(_describe("process_allgather", treedef, rest))
        every = _gather(_stack_by_process(_to_uint32(rest)))
        rows = [_from_uint32(row, rest) for row in every]
    gathered = []
    for i, each in enumerate(zip(*rows)):
        if i in whole:
            gathered.append(whole[i])
        elif not tiled or (each[0].ndim == 0 and count > 1):
            gathered.append(np.stack(each))
        else:
            gathered.append(np.concatenate(each) if each[0].ndim else each[0])
    return trees.tree_unflatten(treedef, gathered)


def sync_global_devices(name: str) -> None:
    """Wait until all processes have called it.

    Raises AssertionError if their names differ, since then they are at different points of the program;
    DistributedError if a process is lost or exits.

    >>> multihost_utils.sync_global_devices("checkpoint written")
    """
    session = process.session()
    if session is None:
        return
    names = session.barrier(f"sync_global_devices({name!r})")
    if names:
        text = ", ".join(f"process {i}: {other}" for i, other in sorted(names.items())[:16])
        raise worded(
            AssertionError(
                f"sync_global_devices name mismatch ({name!r}): the processes are at different points. {text}"
            )
        )


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Check that all processes have the same values. If not, raise AssertionError in all of them.

    >>> multihost_utils.assert_equal({"batch_size": 32}, "the processes read different settings")
    """
    leaves, treedef = trees.tree_flatten(in_tree)
    values = [_on_host(x, "assert_equal") for x in leaves]
    session = process.session()
    if session is None:
        return
    message = fail_message or "assert_equal: the processes have different values"
    names = session.barrier(_describe("assert_equal", treedef, values))
    if names:
        raise worded(
            AssertionError(
                f"{message}: they differ in structure or types. "
                + ", ".join(f"process {i}: {name}" for i, name in sorted(names.items())[:16])
            )
        )
    rows = _gather(_stack_by_process(_to_uint32(values)))
    for number, row in enumerate(rows):
        if row.tobytes() != rows[0].tobytes():
            first, other = (
                trees.tree_unflatten(treedef, _from_uint32(r, values)) for r in (rows[0], row)
            )
            raise worded(
                AssertionError(
                    f"{message}. Expected: {first} (process 0); got: {other} (process {number})."
                )
            )


def reached_preemption_sync_point(step_id: int) -> bool:
    """Return whether to save a checkpoint now, because a process received a preemption signal.

    All processes call it once a step, in the main thread. After one of them receives SIGTERM, which
    schedulers send before preemption, it returns True in all processes at the same later call.
    From the first call on, the first SIGTERM does not end the process.
    Calls are counted; `step_id` is ignored.

    >>> multihost_utils.reached_preemption_sync_point(0)
    False
    """
    session = process.session()
    return session is not None and session.preemption_point()


# --- arrays of one process and of all -------------------------------------------------------------------


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Create global arrays from the local part of each process.

    Args:
      local_inputs: the parts of the arrays on this process's devices of the mesh.
      global_mesh: a mesh of devices of all processes.
      pspecs: the sharding of the arrays, a PartitionSpec or a tree of them that is a prefix of
        `local_inputs`.

    The size of a dimension that is sharded across processes is the sum of their sizes. Along other
    dimensions the values must be the same in all processes, which is not checked.

    Raises ShardingError, naming the array, if a size is not divisible.

    >>> from sagax.sharding import Mesh, PartitionSpec as P
    >>> mesh = Mesh(np.array(sagax.local_devices()[:1]), ("x",))
    >>> multihost_utils.host_local_array_to_global_array(np.arange(4.0), mesh, P("x")).shape
    (4,)
    """
    return _convert(
        "host_local_array_to_global_array", local_inputs, global_mesh, pspecs, local_to_global
    )


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Return the local parts of global arrays, as arrays on the devices of this process.

    It is the inverse of `host_local_array_to_global_array`, with the same arguments. Arrays of another
    sharding are resharded to `pspecs` first.

    >>> from sagax.sharding import Mesh, PartitionSpec as P
    >>> mesh = Mesh(np.array(sagax.local_devices()[:1]), ("x",))
    >>> x = multihost_utils.host_local_array_to_global_array(np.arange(4.0), mesh, P("x"))
    >>> multihost_utils.global_array_to_host_local_array(x, mesh, P("x"))
    Array([0., 1., 2., 3.], dtype=float32)
    """
    return _convert(
        "global_array_to_host_local_array", global_inputs, global_mesh, pspecs, global_to_local
    )


def _convert(
    function: str, tree: Any, mesh: Mesh, specs: Any, convert: Callable[[Any, Mesh, Any], Any]
) -> Any:
    leaves, treedef = trees.tree_flatten(tree)
    given = trees.broadcast_prefix(
        specs, tree, is_leaf=lambda x: x is None or isinstance(x, PartitionSpec)
    )
    for spec in given:
        if not isinstance(spec, PartitionSpec):
            raise ArgumentValueError(
                f"`{spec}` is not a valid input to the pspecs argument.",
                function=function,
                argument="pspecs",
                expected="a PartitionSpec, or a tree of them",
                fix="PartitionSpec() is that of an array which every device has whole",
            )
    return trees.tree_unflatten(treedef, [convert(x, mesh, s) for x, s in zip(leaves, given)])


@contextlib.contextmanager
def live_devices(devices: Sequence[Any]) -> Iterator[list[Any]]:
    """Context manager that gives the devices of processes that are there.

    It waits for all processes, at its start and at its end, so that all run the block or all raise.

    Args:
      devices: devices, at least one of this process.

    Raises RuntimeError if `sagax.distributed` was not initialized, ValueError if no device is of this process, and
    `DistributedError` if a process is lost.

    >>> try:
    ...     with multihost_utils.live_devices(sagax.devices()) as found:
    ...         pass
    ... except RuntimeError:
    ...     print("sagax.distributed.initialize() comes first")
    sagax.distributed.initialize() comes first
    """
    if process.session() is None:
        raise process.DistributedError(
            "the processes do not know of each other",
            function="live_devices",
            fix="call sagax.distributed.initialize() at the start of each process",
        )
    own = runtime_devices.process_index()
    if all(d.process_index != own for d in devices):
        raise ArgumentValueError.about(
            "live_devices", "devices", list(devices), "at least one device of this process"
        )
    sync_global_devices("live_devices: start")
    yield list(devices)
    sync_global_devices("live_devices: end")
