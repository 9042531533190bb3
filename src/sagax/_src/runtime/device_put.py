"""Implement `device_put`: transfer and reshard."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sagax._src import config, trees, xla
from sagax._src.argument_checks import checks
from sagax._src.core import dtype_predicates, dtypes
from sagax._src.core.avals import Space, intern_aval
from sagax._src.core.meshes import AbstractMesh, Mesh, PartitionSpec
from sagax._src.core.shardings import (
    NamedSharding,
    Sharding,
    ShardingError,
    SingleDeviceSharding,
    shown_over,
    unreduced_axes,
)
from sagax._src.core.staging import stage
from sagax._src.core.value import numpy_aval
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.lowering.text import physical
from sagax._src.primitives.resharding import resolved
from sagax._src.runtime import commit_sites, placements, transfer_guard
from sagax._src.runtime.array import ConcreteArray, as_array, settled
from sagax._src.runtime.compile import Compiled, Lowered, execute, platform_of

_thread = config.thread


def put(x: Any, where: Any) -> ConcreteArray:
    """Put an operand on a device or sharding, and commit it; None: leave it unchanged."""
    if type(x) is not ConcreteArray:
        transfer_guard.check_to_device(x, explicit=True)
    elif where is not None and x._buffer is not None:
        transfer_guard.check_between_devices(x, explicit=True)
    if isinstance(where, Sharding):
        if isinstance(where, SingleDeviceSharding) and where._memory_kind is None:
            where = where._device
        else:
            return commit_sites.note(_put_sharded(x, where))
    array = as_array(x, guarded=False)
    if where is None or array._device is where:
        return settled(array)
    buffer = array._buffer
    if buffer is not None and xla.devices_of(buffer) == (where,):
        return commit_sites.note(
            ConcreteArray(unsharded_aval(array.aval), array._host, buffer, where)
        )
    if where.platform == "cpu":
        return commit_sites.note(
            ConcreteArray(unsharded_aval(array.aval), array.host(), None, where)
        )
    if buffer is not None and xla.device_of(buffer).client is where.client:
        buffer = xla.copy_to_device(buffer, where)
    else:
        buffer = xla.put(array.host(), where, share=True)
    return commit_sites.note(ConcreteArray(unsharded_aval(array.aval), array._host, buffer, where))


def unsharded_aval(aval: Any) -> Any:
    """Return the type of an array on one device, in its own memory."""
    aval = aval.with_memory_space(Space.Device)
    return aval if aval.explicit_sharding is None else aval.update(sharding=None)


def _put_sharded(x: Any, sharding: Sharding) -> ConcreteArray:
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh):
        sharding = _with_devices(sharding, x)
    if type(x) is np.ndarray and x.dtype.kind not in "V":
        aval = numpy_aval(x, _thread.settings.x64)
        if aval.dtype != dtypes.float0 and not unreduced_axes(sharding):
            sharding.check_shape(aval.shape)
            host = x if x.dtype == aval.dtype else dtype_predicates.convert_data(x, aval.dtype)
            buffer = placements.put(host, sharding, share=False)
            return ConcreteArray(placements.typed(aval, sharding), None, buffer, sharding)
    array = as_array(x, guarded=False)
    aval = placements.typed(array.aval, sharding)
    if array._device is sharding and array.aval is aval:
        return array
    sharding.check_shape(array.aval.shape)
    have = array._device
    if unreduced_axes(sharding) or unreduced_axes(have):
        return _summed(array, aval, sharding)
    if isinstance(have, Sharding) and array._buffer is not None:
        if have.is_equivalent_to(sharding, array.ndim):
            return ConcreteArray(aval, array._host, array._buffer, sharding)
        if _moves_on_devices(have, sharding):
            return _moved(array, aval, sharding)
    return ConcreteArray(aval, None, placements.put(array.host(), sharding, share=True), sharding)


def _summed(array: ConcreteArray, aval: Any, sharding: Sharding) -> ConcreteArray:
    """Put an array that is an unreduced sum, or becomes one."""
    have = array._device
    if not (isinstance(have, Sharding) and have._device_assignment == sharding._device_assignment):
        if unreduced_axes(have):
            raise ShardingError(
                "an array that is unreduced is not moved to other devices",
                function="device_put",
                got=f"an array of type {array.aval.str_short(short_dtypes=True)}",
                fix="add it up first: sagax.sharding.reshard(x, P(...)) without unreduced",
            )
        have = NamedSharding(placements.mesh_of(sharding), PartitionSpec())
        array = _put_sharded(array, have)
    if isinstance(have, NamedSharding) and have.is_equivalent_to(sharding, array.ndim):
        return ConcreteArray(aval, None, array._buffer, sharding)
    return _moved(array, aval, sharding)


def _with_devices(sharding: NamedSharding, x: Any) -> NamedSharding:
    """Return the sharding over the devices of the operand's mesh, or of the mesh in force."""
    mesh = _mesh_at(x, sharding)
    if mesh is None:
        raise ShardingError(
            "the sharding is over an abstract mesh, and no mesh of devices of its form is known",
            got=sharding,
            fix="use NamedSharding(mesh, spec) with a mesh of devices, or `with sagax.set_mesh(mesh):`",
        )
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding._memory_kind)


def _mesh_at(x: Any, sharding: NamedSharding) -> Mesh | None:
    """Return the concrete mesh for an abstract one: the operand's, or the one in force."""
    have = getattr(x, "_device", None)
    mesh = have.mesh if isinstance(have, NamedSharding) else _thread.settings.mesh
    if isinstance(mesh, Mesh) and mesh.shape_tuple == sharding.mesh.shape_tuple:
        return mesh
    return None


def _moves_on_devices(have: Sharding, target_sharding: Sharding) -> bool:
    """Return whether shards are copied between devices: on CPUs all of them are in host memory."""
    assigned = have._device_assignment
    if set(assigned) != set(target_sharding._device_assignment):
        return False
    return assigned[0].platform != "cpu" or not have.is_fully_addressable


def _moved(array: ConcreteArray, aval: Any, sharding: Sharding) -> ConcreteArray:
    have = placements.named(array._device, array.ndim)
    compiled = _mover(unsharded_aval(array.aval), have, placements.named(sharding, array.ndim))
    (moved,) = execute(compiled, [array], compiled.device)
    return ConcreteArray(aval, None, moved._buffer, sharding)


@functools.lru_cache(maxsize=256)
def _mover(aval: Any, have: NamedSharding, target_sharding: NamedSharding) -> Compiled:
    jaxpr, _ = stage(lambda x: [x], [aval])
    mesh = placements.mesh_of(have)
    target = placements.interned(mesh._flat, mesh, (have,))
    lowered = Lowered(jaxpr, platform_of(target), "move", target=target, results=[target_sharding])
    return Compiled(lowered, target)


def constrain(x: Any, *, sharding: NamedSharding) -> ConcreteArray:
    """Evaluate the sharding primitives: put an array on the sharding.

    For a sharding with an abstract mesh, an array without a mesh stays unchanged: it follows the other
    operands.
    """
    if isinstance(sharding.mesh, AbstractMesh) and _mesh_at(x, sharding) is None:
        return as_array(x)
    return put(x, sharding)


def move(x: Any, *, kind: str) -> ConcreteArray:
    """Evaluate the primitive `device_put`: put an array into another kind of memory of its devices."""
    array = as_array(x)
    return put(array, array.sharding.with_memory_kind(kind))


def forget(x: Any, *, mesh: Any) -> ConcreteArray:
    """Return an array whose type shows only the Explicit axes of `mesh`."""
    array = as_array(x)
    if array.aval.explicit_sharding is None:
        return array
    shown = shown_over(mesh, array.aval.explicit_sharding.spec, array.ndim)
    return ConcreteArray(
        array.aval.update(sharding=shown), array._host, array._buffer, array._device
    )


# --- arrays made from shards -------------------------------------------------------------------------


def _checked_sharding(sharding: Any, function: str) -> Sharding:
    if isinstance(sharding, Sharding):
        placements.check_abstract(sharding, function)
        return sharding
    if hasattr(sharding, "client"):
        return placements.single(sharding)
    raise ArgumentError(
        function=function,
        argument="sharding",
        got=repr(sharding),
        expected="a sharding, such as NamedSharding(mesh, PartitionSpec('x'))",
    )


def _assembled(aval: Any, sharding: Sharding, parts: Sequence[Any]) -> ConcreteArray:
    """Assemble an array from the shards (NumPy arrays or buffers) for the devices of this process."""
    stored = physical(aval)
    if isinstance(sharding, SingleDeviceSharding) and sharding._memory_kind is None:
        device = sharding._device
        part = parts[0]
        buffer = part if isinstance(part, xla.Buffer) else xla.put(part, device, share=True)
        return ConcreteArray(aval, None, buffer, device)
    buffer = xla.put_sharded(
        parts,
        sharding._device_assignment,
        stored.shape,
        stored.dtype,
        sharding.engine_text(stored.ndim),
        share=True,
    )
    return ConcreteArray(placements.typed(aval, sharding), None, buffer, sharding)


def make_array_from_callback(
    shape: Sequence[int], sharding: Any, data_callback: Callable[[Any], Any], dtype: Any = None
) -> ConcreteArray:
    """Create an array from shards that `data_callback(index)` returns.

    Args:
      shape: the shape of the whole array.
      sharding: its sharding; the callback is called once for each distinct shard on devices of this process, with its index, a tuple of slices.
      dtype: the dtype; by default that of the first shard.

    Raises:
      ValueError: the sharding does not fit the shape, or a shard has another shape than its index.

    >>> from sagax.sharding import NamedSharding, PartitionSpec as P
    >>> x = np.arange(8.0, dtype=np.float32)
    >>> sharding = NamedSharding(sagax.make_mesh((1,), ("x",)), P("x"))
    >>> sagax.make_array_from_callback(x.shape, sharding, lambda index: x[index])
    Array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)
    """
    name = "make_array_from_callback"
    sharding = _checked_sharding(sharding, name)
    shape = tuple(int(n) for n in shape)
    sharding.check_shape(shape, function=name)
    here = sharding.addressable_devices
    shards_by_index: dict[tuple, ConcreteArray] = {}
    parts = []
    for device, index in sharding.devices_indices_map(shape).items():
        if device not in here:
            continue
        key = tuple([(s.start, s.stop) for s in index])
        if key not in shards_by_index:
            part = as_array(data_callback(index))
            target_sharding = sharding.shard_shape(shape)
            if part.shape != target_sharding:
                raise ArgumentValueError(
                    function=name,
                    argument="data_callback",
                    got=f"an array of shape {part.shape} for the index {index}",
                    expected=f"an array of shape {target_sharding}",
                )
            if dtype is not None and part.dtype != dtypes.as_dtype(dtype):
                part = as_array(dtype_predicates.convert_numpy(part.host(), dtypes.as_dtype(dtype)))
            shards_by_index[key] = part
        parts.append(shards_by_index[key])
    if not parts:
        if dtype is None:
            raise ArgumentValueError(
                "this process has no part of the array, so that the dtype cannot be known",
                function=name,
                argument="dtype",
                expected="the dtype",
                got=None,
            )
        found = dtypes.canonicalize(dtype, _thread.settings.x64)
    else:
        found = parts[0].dtype
    aval = intern_aval(shape, found, False, None)
    return _assembled(aval, sharding, [p.host() for p in parts])


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Any, arrays: Sequence[Any], *, dtype: Any = None
) -> ConcreteArray:
    """Create an array from shards on their devices, without copies.

    Args:
      shape: the shape of the whole array.
      sharding: its sharding.
      arrays: one array for each device of this process, in any order.
      dtype: the dtype, if this process has no shard.

    Raises:
      ValueError: a shard is missing, on another device or has another shape or dtype.

    >>> from sagax.sharding import NamedSharding, PartitionSpec as P
    >>> sharding = NamedSharding(sagax.make_mesh((1,), ("x",)), P("x"))
    >>> part = sagax.device_put(snp.ones(4), sagax.devices()[0])
    >>> sagax.make_array_from_single_device_arrays((4,), sharding, [part])
    Array([1., 1., 1., 1.], dtype=float32)
    """
    name = "make_array_from_single_device_arrays"
    sharding = _checked_sharding(sharding, name)
    shape = tuple(int(n) for n in shape)
    sharding.check_shape(shape, function=name)
    target_sharding = sharding.shard_shape(shape)
    checks.instance(
        name,
        "arrays",
        arrays,
        (list, tuple),
        "a list of arrays",
        message="`arrays` must be a list or tuple of single-device arrays",
    )
    by_device: dict[Any, ConcreteArray] = {}
    for i, x in enumerate(arrays):
        if type(x) is not ConcreteArray or len(x.devices()) != 1:
            raise ArgumentError.about(name, f"arrays[{i}]", x, "an array on one device")
        if x.shape != target_sharding:
            raise ArgumentValueError(
                function=name,
                argument=f"arrays[{i}]",
                got=x,
                expected=f"a part of shape {target_sharding}: {sharding!r} divides shape {shape} so",
            )
        by_device[x._where()] = x
    missing = [str(d) for d in sharding.local_devices if d not in by_device]
    extra = [str(d) for d in by_device if d not in sharding.addressable_devices]
    if missing or extra or len(arrays) != len(by_device):
        raise ArgumentValueError(
            "there must be one array on each device of the sharding that belongs to this process",
            function=name,
            argument="arrays",
            expected=f"arrays on {', '.join(map(str, sharding.local_devices))}",
            got=f"{len(arrays)} arrays"
            + (f", none on {', '.join(missing)}" if missing else "")
            + (f", some on {', '.join(extra)}" if extra else ""),
        )
    parts = [by_device[d] for d in sharding.local_devices]
    kinds_found = {p.dtype for p in parts}
    if len(kinds_found) > 1:
        raise ArgumentValueError(
            function=name,
            argument="arrays",
            got=f"arrays of {' and '.join(sorted(map(dtypes.name, kinds_found)))}",
            expected="arrays of one dtype",
        )
    found = parts[0].dtype if parts else dtypes.canonicalize(dtype, _thread.settings.x64)
    aval = intern_aval(shape, found, False, None)
    return _assembled(aval, sharding, [p.buffer() for p in parts])


def make_array_from_process_local_data(
    sharding: Any, local_data: Any, global_shape: Sequence[int | None] | None = None
) -> Any:
    """Create an array from the local data of each process, a NumPy array with the shards of its devices.

    Args:
      sharding: the sharding of the whole array; a PartitionSpec refers to the current mesh.
      local_data: the data of this process, or a pytree of them (and then of shapes).
      global_shape: the shape of the whole array. If left out, or where it has None, a dimension that is sharded over n processes is n times longer than in `local_data`. Where it is equal to
        the shape of `local_data`, each process has all of the data.

    >>> from sagax.sharding import NamedSharding, PartitionSpec as P
    >>> sharding = NamedSharding(sagax.make_mesh((1,), ("x",)), P("x"))
    >>> sagax.make_array_from_process_local_data(sharding, np.ones(4, np.float32))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    name = "make_array_from_process_local_data"
    sharding = _checked_sharding(resolved(sharding, name, "sharding"), name)
    leaves, tree = trees.flatten(local_data)
    if not trees.treedef_is_leaf(tree):
        shapes: list = (
            [None] * len(leaves) if global_shape is None else tree.flatten_up_to(global_shape)
        )
        arrays = [
            make_array_from_process_local_data(sharding, x, s)
            for x, s in zip(leaves, shapes, strict=True)
        ]
        return tree.unflatten(arrays)
    data = local_data if isinstance(local_data, np.ndarray) else as_array(local_data).host()
    data = np.asarray(data, dtypes.canonicalize_given(data.dtype, _thread.settings.x64))
    if global_shape is None:
        shape: tuple = (None,) * data.ndim
    else:
        shape = tuple(global_shape) if not isinstance(global_shape, int) else (global_shape,)
    if len(shape) != data.ndim:
        raise ArgumentValueError.about(
            name, "global_shape", shape, f"a shape of the rank of local_data, {data.ndim}"
        )
    tiles = sharding.tiles(data.ndim)
    local = [
        tile
        for device, tile in zip(sharding._device_assignment, tiles.of_device, strict=True)
        if device in sharding.addressable_devices
    ]
    # the tiles of this process along each dimension, which must be adjacent
    spans = [(min(t[i] for t in local), max(t[i] for t in local) + 1) for i in range(data.ndim)]
    full = []
    for i, (size, target_sharding, parts, (low, high)) in enumerate(
        zip(data.shape, shape, tiles.parts, spans, strict=True)
    ):
        whole = size * parts // (high - low)
        if target_sharding not in (None, whole, size):
            raise ArgumentValueError(
                function=name,
                argument="global_shape",
                got=f"{target_sharding} for dimension {i}",
                expected=f"{whole}, or {size} if each process has all of the data",
            )
        full.append(whole if target_sharding is None else target_sharding)
    offsets = [
        0 if total == size else low * (total // parts)
        for total, size, parts, (low, _) in zip(full, data.shape, tiles.parts, spans, strict=True)
    ]

    def part(index: Any) -> np.ndarray:
        cut = []
        for s, offset in zip(index, offsets, strict=True):
            cut.append(s if s.start is None else slice(s.start - offset, s.stop - offset))
        return data[tuple(cut)]

    return make_array_from_callback(tuple(full), sharding, part, data.dtype)
