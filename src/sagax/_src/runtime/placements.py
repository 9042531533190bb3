"""Describe the placement of executables and arrays on several devices.

An array's placement (`ConcreteArray._device`) is None while it is uncommitted, a device, or a `Sharding`.
The placement of an executable is None, a device, or a `Placement`: its devices and the sharding of each of
its operands. Placements are interned, so that the lookup of an executable compares them by identity.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sagax._src import config, fork_locks, xla
from sagax._src.core import memo_keys
from sagax._src.core.avals import Space
from sagax._src.core.jaxpr import Jaxpr
from sagax._src.core.memory_spaces import HOST_KIND, space_of_kind
from sagax._src.core.meshes import AbstractMesh, Mesh, PartitionSpec
from sagax._src.core.shardings import (
    NamedSharding,
    Sharding,
    ShardingError,
    SingleDeviceSharding,
    Tiles,
    named_tiles,
    shown_in_type,
)


class Placement:
    """Hold the devices of an executable and the shardings of its operands; None: chosen by XLA.

    `mesh` is the mesh over which results are described.
    """

    __slots__ = ("__weakref__", "devices", "mesh", "shardings")

    def __init__(self, devices: tuple, mesh: Mesh, shardings: tuple) -> None:
        self.devices = devices
        self.mesh = mesh
        self.shardings = shardings

    def after(self, count: int) -> Placement:
        """Return the placement of the operands without the first ones."""
        return interned(self.devices, self.mesh, self.shardings[count:])

    def __repr__(self) -> str:
        return f"Placement({self.mesh!r}, {[s and s.spec for s in self.shardings]})"


_LIMIT = 4096
_known: dict[tuple, Placement] = {}
_lock = fork_locks.lock()


def interned(devices: tuple, mesh: Mesh, shardings: tuple) -> Placement:
    """Return the interned placement of these fields."""
    key = (devices, mesh, shardings)
    found = _known.get(key)
    if found is None:
        with _lock:
            if len(_known) >= _LIMIT:
                _known.clear()
            found = _known.setdefault(key, Placement(devices, mesh, shardings))
    return found


def in_context(placement: Any, count: int) -> Any:
    """Return the mesh in force as placement of uncommitted operands, if `set_mesh` set one."""
    settings = config.thread.settings
    if placement is not None or settings.mesh is None or settings.abstract_mesh is None:
        return placement
    return interned(settings.mesh._flat, settings.mesh, (None,) * count)


def are_replicated(placement: Placement) -> bool:
    """Return whether all operands are replicated in host memory."""
    mesh = placement.mesh
    return (
        mesh._flat[0].platform == "cpu"
        and not mesh.is_multi_process
        and all(
            s is None or (s.is_fully_replicated and s._memory_kind is None)
            for s in placement.shardings
        )
    )


def of_replicated(placement: Placement, rank: int, aval: Any) -> NamedSharding:
    """Return the sharding of a result computed from replicated operands, the first one of this rank."""
    mesh = placement.mesh
    shown = typed_result(aval, mesh)
    if shown is not None:
        return shown
    first = placement.shardings[0] if placement.shardings else None
    return of_free_result(NamedSharding(mesh, PartitionSpec()), aval, first, rank)


def typed(aval: Any, sharding: Sharding) -> Any:
    """Return the type of an array of this sharding: it shows Explicit axes, and the host's memory."""
    shown = shown_in_type(sharding, aval.ndim)
    aval = aval.with_memory_space(space_of_kind(sharding._memory_kind))
    return aval if aval.explicit_sharding is shown else aval.update(sharding=shown)


def typed_result(aval: Any, mesh: Mesh) -> NamedSharding | None:
    """Return the sharding in the type of a result, if it covers all axes."""
    shown = getattr(aval, "explicit_sharding", None)
    if shown is None or not mesh.are_all_axes_explicit:
        return None
    if shown.mesh.shape_tuple != mesh.shape_tuple:
        raise ShardingError(
            "the type of a result refers to another mesh than the operands",
            expected=mesh,
            got=aval.str_short(short_dtypes=True),
        )
    return NamedSharding(mesh, shown.spec)


def mesh_of(sharding: Any) -> Mesh:
    """Return the mesh of a sharding; a sharding without one has a mesh of one axis."""
    if isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, Mesh):
        return sharding.mesh
    return _line(sharding._device_assignment)


@functools.lru_cache(maxsize=64)
def _line(devices: tuple) -> Mesh:
    array = np.empty(len(devices), object)
    array[:] = devices
    return Mesh(array, ("devices",))


def of_result(sharding: Any, space: Space) -> Sharding:
    """Return the sharding of a result in a memory space; on one device, without a mesh that was made for it."""
    kind = HOST_KIND if space is Space.Host else sharding._memory_kind
    devices = sharding.mesh._flat
    if len(devices) == 1 and sharding.mesh is _line(devices):
        return SingleDeviceSharding(devices[0], memory_kind=kind)
    return sharding if kind is sharding._memory_kind else sharding.with_memory_kind(kind)


def of_free_result(found: Any, aval: Any, first: Any, rank: int) -> Any:
    """Return the sharding of a result, equivalent to `found`, as users know it.

    Over Explicit axes it is that of the type, with an entry for each dimension. Otherwise it is that of the `first`
    operand (of this rank; None if it has none), if both cut alike: `sin(x).sharding == x.sharding`.
    """
    if type(found) is not NamedSharding:
        return found
    if found.mesh.are_all_axes_explicit:
        spec, missing = found.spec, aval.ndim - len(found.spec)
        if not missing:
            return found
        full = PartitionSpec(
            *spec, *[None] * missing, unreduced=spec.unreduced, reduced=spec.reduced
        )
        return NamedSharding(found.mesh, full, memory_kind=found._memory_kind)
    same = (
        type(first) is NamedSharding
        and rank == aval.ndim
        and first._memory_kind is found._memory_kind
        and first.mesh is found.mesh
        and first.is_equivalent_to(found, rank)
    )
    return first if same else found


def placement_of(sharding: Any) -> Any:
    """Return what an array of this sharding holds as its placement: the device itself, where that says all."""
    plain = isinstance(sharding, SingleDeviceSharding) and sharding._memory_kind is None
    return sharding._device if plain else sharding


def named(sharding: Sharding, ndim: int) -> NamedSharding:
    """Express a sharding over a mesh."""
    if isinstance(sharding, NamedSharding):
        return sharding
    mesh = mesh_of(sharding)
    return described(sharding.tiles(ndim), mesh, sharding._memory_kind)


@functools.cache
def single(device: Any) -> SingleDeviceSharding:
    """Return the sharding of an array on one device."""
    return SingleDeviceSharding(device)


# --- describing shardings chosen by XLA -----------------------------------------------------------


@functools.lru_cache(maxsize=4096)
def described(tiles: Tiles, mesh: Mesh, memory_kind: str | None = None) -> NamedSharding:
    """Return the sharding over `mesh` with these shards; over a new mesh, if that does not fit."""
    sizes, names = mesh.axis_sizes, mesh.axis_names
    left = [n for n, size in zip(names, sizes) if size > 1]
    parts: list[Any] = []
    for i, count in enumerate(tiles.parts):
        tile_order = tuple([tile[i] for tile in tiles.of_device])
        axes = () if count == 1 else _axes_that_cut(sizes, names, tuple(left), count, tile_order)
        if axes is None:
            return _own_mesh(tiles, mesh, memory_kind)
        left = [n for n in left if n not in axes]
        parts.append(axes)
    while parts and not parts[-1]:
        parts.pop()
    return NamedSharding(mesh, PartitionSpec(*parts), memory_kind=memory_kind)


def _axes_that_cut(
    sizes: tuple, names: tuple, left: tuple, count: int, tile_order: tuple
) -> tuple | None:
    size_of = dict(zip(names, sizes, strict=True))
    for n in range(1, len(left) + 1):
        for axes in itertools.permutations(left, n):
            if math.prod([size_of[a] for a in axes]) == count:
                found = named_tiles(sizes, names, (axes,))
                if tuple([tile[0] for tile in found.of_device]) == tile_order:
                    return axes
    return None


def _own_mesh(tiles: Tiles, mesh: Mesh, memory_kind: str | None) -> NamedSharding:
    """Build a mesh whose axes are the sharded dimensions, and one for the replicas."""
    flat = mesh._flat
    order = sorted(range(len(flat)), key=lambda i: tiles.of_device[i])
    cut = [(i, n) for i, n in enumerate(tiles.parts) if n > 1]
    copies = len(flat) // math.prod(tiles.parts)
    shape = (*[n for _, n in cut], *([copies] if copies > 1 else []))
    array = np.empty(len(flat), object)
    array[:] = [flat[i] for i in order]
    names = (*[f"cut_{i}" for i, _ in cut], *(["copies"] if copies > 1 else []))
    axes: list[Any] = [None] * len(tiles.parts)
    for i, _ in cut:
        axes[i] = f"cut_{i}"
    spec = PartitionSpec(*axes)
    return NamedSharding(Mesh(array.reshape(shape), names), spec, memory_kind=memory_kind)


# --- meshes in jaxprs ----------------------------------------------------------------------------------


# types of most parameters of operations
_INTS = frozenset((int,))
_WITHOUT_MESHES = frozenset((int, bool, float, str, type(None), np.dtype, type))


def meshes_in(jaxpr: Jaxpr) -> tuple[Mesh, ...]:
    """Return the concrete meshes that the operations of a jaxpr name."""
    found = jaxpr.memo.get(memo_keys.MESHES)
    if found is None:
        found = jaxpr.memo[memo_keys.MESHES] = tuple(dict.fromkeys(_meshes(jaxpr)))
    return found


def _meshes(jaxpr: Jaxpr) -> Iterator[Mesh]:
    for eqn in jaxpr.eqns:
        if not (eqn.primitive.is_higher_order or eqn.primitive.sets_sharding):
            continue
        for value in eqn.params.values():
            kind = type(value)
            if kind in _WITHOUT_MESHES or (kind is tuple and set(map(type, value)) <= _INTS):
                continue
            yield from _meshes_of(value)


def _meshes_of(value: Any) -> Iterator[Mesh]:
    if isinstance(value, NamedSharding):
        value = value.mesh
    if isinstance(value, Mesh):
        yield value
    elif isinstance(value, Jaxpr):
        yield from meshes_in(value)
    elif isinstance(getattr(value, "jaxpr", None), Jaxpr):
        yield from meshes_in(value.jaxpr)
    elif isinstance(value, (tuple, list)):
        for item in value:
            if type(item) not in _WITHOUT_MESHES:
                yield from _meshes_of(item)


# --- buffers ---------------------------------------------------------------------------------------


def put(host: np.ndarray, sharding: Sharding, *, share: bool) -> Any:
    """Put the values of a NumPy array (in physical form) on devices, sharded.

    With `share` its memory may be used: for an array that is never written again.
    """
    return xla.put_sharded(
        [host[index] for index in _indices_here(sharding, host.shape)],
        sharding._device_assignment,
        host.shape,
        host.dtype,
        sharding.engine_text(host.ndim),
        share=share,
        memory_kind=sharding._memory_kind,
    )


@functools.lru_cache(maxsize=1024)
def _indices_here(sharding: Sharding, shape: tuple[int, ...]) -> tuple:
    """Return the indices of the shards on devices of this process, in their order."""
    here = set(sharding.local_devices)
    indices = zip(sharding._device_assignment, sharding.indices(shape), strict=True)
    return tuple([index for device, index in indices if device in here])


def copied(buffer: Any) -> Any:
    """Copy a buffer on several devices."""
    return xla.with_shards(
        buffer, [xla.copy_to_device(b, xla.device_of(b)) for b in xla.shards(buffer)]
    )


def replica_ids(indices: Sequence[Any]) -> list[int]:
    """Number equal shards of an array in their order."""
    counts: dict[Any, int] = {}
    found = []
    for index in indices:
        key = tuple([(s.start, s.stop) for s in index])
        found.append(counts.get(key, 0))
        counts[key] = found[-1] + 1
    return found


def check_abstract(sharding: Any, what: str) -> None:
    """Raise ValueError for a sharding without devices."""
    if isinstance(getattr(sharding, "mesh", None), AbstractMesh):
        raise ShardingError(
            "a sharding over an abstract mesh has no devices",
            function=what,
            got=sharding,
            fix="use NamedSharding(mesh, spec) with a mesh of devices",
        )
