"""What several processes need to agree: values of one process for all, of all for each, and meeting points.

Every process must make the same calls in the same order. If it does not, or one of the processes is
lost, `sagax.errors.DistributedError` says so; nothing waits for ever.

>>> from sagax.experimental import multihost_utils
>>> multihost_utils.process_allgather(7)
array([7])
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.api.jit import jit
from sagax._src.api.tracing_utils import device_put
from sagax._src.core.meshes import Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.runtime import devices
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
    "process_allgather",
    "reached_preemption_sync_point",
    "sync_global_devices",
]

# --- values of the host, as words of memory --------------------------------------------------------------


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
        raise ArgumentError(
            function=function, argument="in_tree", expected="arrays and numbers", got=repr(x)
        )
    return value


def _words(values: list[np.ndarray]) -> np.ndarray:
    """The contents of all arrays, one after the other, as numbers of 32 bits. Nothing is rounded."""
    text = b"".join(np.ascontiguousarray(v).tobytes() for v in values)
    return np.frombuffer(text + bytes(-len(text) % 4), np.uint32)


def _values(words: np.ndarray, like: list[np.ndarray]) -> list[np.ndarray]:
    text, start, values = words.tobytes(), 0, []
    for v in like:
        read = np.frombuffer(text, v.dtype, v.size, start).reshape(v.shape)
        values.append(read.copy())
        start += v.nbytes
    return values


def _described(function: str, treedef: Any, values: list[np.ndarray]) -> str:
    """What must be the same in all processes: the first types in words, and a digest of all."""
    types = [f"{v.dtype}{list(v.shape)}" for v in values]
    digest = hashlib.sha256(f"{treedef} {types}".encode()).hexdigest()[:8]
    return f"{function}({', '.join(types[:4])}{', ...' if len(types) > 4 else ''}) #{digest}"


@functools.cache
def _one_device_each() -> tuple[Mesh, Any]:
    """A mesh of one device of each process, and that of this process."""
    firsts = [devices.local_devices(i)[0] for i in range(devices.process_count())]
    return Mesh(np.array(firsts), ("process",)), firsts[devices.process_index()]


def _line_up(words: np.ndarray) -> Any:
    """An array with a row of each process, `words` being this one's; divided among them."""
    mesh, here = _one_device_each()
    row = device_put(words[None], here)
    return make_array_from_single_device_arrays(
        (mesh.size, words.size), NamedSharding(mesh, PartitionSpec("process")), [row]
    )


def _everywhere(x: Any) -> np.ndarray:
    """The whole of an array that lies across processes."""
    mesh = x.sharding.mesh if isinstance(x.sharding, NamedSharding) else None
    if mesh is None:
        mesh = Mesh(np.array(list(x.sharding._device_assignment)), ("device",))
    whole = device_put(x, NamedSharding(mesh, PartitionSpec()))
    return np.asarray(whole.addressable_data(0))


@functools.cache
def _total() -> Callable[[Any], Any]:
    mesh, _ = _one_device_each()
    return jit(
        lambda rows: _sum(rows, axis=0, dtype=np.uint32),
        out_shardings=NamedSharding(mesh, PartitionSpec()),
    )


# --- the functions ----------------------------------------------------------------------------------------


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The values of one process, in all of them, as NumPy arrays.

    Args:
      in_tree: arrays and numbers, of the same types in all processes; only the source's values count.
      is_source: whether this process is the source; by default process 0 is. One of them must be.

    All bits arrive, also those of 64-bit numbers. Raises DistributedError if the types differ.

    >>> from sagax.experimental import multihost_utils
    >>> multihost_utils.broadcast_one_to_all({"seed": 3})
    {'seed': array(3)}
    """
    leaves, treedef = trees.tree_flatten(in_tree)
    values = [_on_host(x, "broadcast_one_to_all") for x in leaves]
    together = process.session()
    if together is None or together.num_processes == 1:
        return trees.tree_unflatten(treedef, values)
    together.sync(_described("broadcast_one_to_all", treedef, values))
    if is_source is None:
        is_source = together.process_id == 0
    words = _words(values)
    # The others add zeros: no bit changes.
    total = _total()(_line_up(words if is_source else np.zeros_like(words)))
    return trees.tree_unflatten(treedef, _values(np.asarray(total.addressable_data(0)), values))


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The values of all processes, in each of them, as NumPy arrays.

    Args:
      in_tree: arrays and numbers, of the same types in all processes. An array that lies across
        processes comes back whole; that needs `tiled=True`.
      tiled: whether the values are joined along their first axis. By default they are stacked along a
        new one, of the size `process_count()`.

    All bits arrive, also those of 64-bit numbers. Raises DistributedError if the types differ.

    >>> import numpy as np
    >>> from sagax.experimental import multihost_utils
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
            whole[i] = _everywhere(x)
    rest = [
        _on_host(x, "process_allgather") if i not in whole else np.zeros((0,), np.uint8)
        for i, x in enumerate(leaves)
    ]
    together = process.session()
    count = 1 if together is None else together.num_processes
    if together is None or count == 1:
        rows = [rest]
    else:
        together.sync(_described("process_allgather", treedef, rest))
        every = _everywhere(_line_up(_words(rest)))
        rows = [_values(row, rest) for row in every]
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
    """Waits until all processes are here.

    Raises AssertionError if they give different names, since then they are at different points of the
    program; DistributedError if one is lost or ends.

    >>> from sagax.experimental import multihost_utils
    >>> multihost_utils.sync_global_devices("checkpoint written")
    """
    together = process.session()
    if together is None:
        return
    names = together.barrier(f"sync_global_devices({name!r})")
    if names:
        text = ", ".join(f"process {i}: {other}" for i, other in sorted(names.items())[:16])
        raise AssertionError(
            f"sync_global_devices name mismatch ({name!r}): the processes are at different points. {text}"
        )


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Checks that all processes have the same values. If not, raises AssertionError in all.

    >>> from sagax.experimental import multihost_utils
    >>> multihost_utils.assert_equal({"batch_size": 32}, "the processes read different settings")
    """
    leaves, treedef = trees.tree_flatten(in_tree)
    values = [_on_host(x, "assert_equal") for x in leaves]
    together = process.session()
    if together is None:
        return
    message = fail_message or "assert_equal: the processes have different values"
    names = together.barrier(_described("assert_equal", treedef, values))
    if names:
        raise AssertionError(
            f"{message}: they differ in structure or types. "
            + ", ".join(f"process {i}: {name}" for i, name in sorted(names.items())[:16])
        )
    rows = _everywhere(_line_up(_words(values)))
    for number, row in enumerate(rows):
        if row.tobytes() != rows[0].tobytes():
            first, other = (
                trees.tree_unflatten(treedef, _values(r, values)) for r in (rows[0], row)
            )
            raise AssertionError(
                f"{message}. Expected: {first} (process 0); got: {other} (process {number})."
            )


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether to save now, since one of the processes was told to end.

    To be called once a step, in the main thread, by all processes. When one of them is sent SIGTERM (as
    schedulers do some time before they take a machine away), it returns True in all processes at the
    same one of the next calls. From the first call on the first SIGTERM does not end the process.
    Calls are counted; `step_id` is not looked at.

    >>> from sagax.experimental import multihost_utils
    >>> multihost_utils.reached_preemption_sync_point(0)
    False
    """
    together = process.session()
    return together is not None and together.preemption_point()


# --- arrays of one process and of all -------------------------------------------------------------------


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays across all processes, of the parts that each process has.

    Args:
      local_inputs: arrays that this process's devices of the mesh hold together.
      global_mesh: a mesh of devices of all processes.
      pspecs: how the arrays are divided, a PartitionSpec or a tree of them that is a prefix of
        `local_inputs`.

    The size of a dimension that is divided among processes is the sum of their sizes; one that is not
    divided must hold the same in all processes, which is not checked.

    Raises ShardingError, naming the array, if a size cannot be divided.

    >>> import numpy as np, sagax
    >>> from sagax.experimental import multihost_utils
    >>> from sagax.sharding import Mesh, PartitionSpec as P
    >>> mesh = Mesh(np.array(sagax.local_devices()[:1]), ("x",))
    >>> multihost_utils.host_local_array_to_global_array(np.arange(4.0), mesh, P("x")).shape
    (4,)
    """
    return _convert(
        "host_local_array_to_global_array", local_inputs, global_mesh, pspecs, local_to_global
    )


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts that this process has of arrays across all processes, as arrays on its devices alone.

    The arguments are those of `host_local_array_to_global_array`, whose inverse this is. An array that
    is divided in another way is divided as `pspecs` says first.

    >>> import numpy as np, sagax
    >>> from sagax.experimental import multihost_utils
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
    is_spec = _is_spec
    given = trees.broadcast_prefix(specs, tree, is_leaf=is_spec)
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


def _is_spec(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec)
