"""Define shardings: the assignment of array shards to devices.

A sharding splits each dimension of an array into a number of shards, and gives each device one; devices
may have equal shards. Everything else (index maps, XLA's notation) derives from that, so a class of
shardings only defines its devices and its `tiles`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sagax._src import fork_locks
from sagax._src.core import dims
from sagax._src.core.meshes import UNCONSTRAINED, AbstractMesh, AxisType, Mesh, PartitionSpec
from sagax._src.diagnostics.errors import ArgumentError, SagaxError
from sagax._src.lazy_import import lazy_imports
from sagax._src.weak_tables import InternTable

if TYPE_CHECKING or lazy_imports():
    import difflib


Index = tuple[slice, ...]


class ShardingError(SagaxError, ValueError):
    """A sharding that does not fit the array, the mesh or the other shardings."""

    code = "SX0210"


class IndivisibleError(ShardingError):
    """The axes of the mesh do not divide the size of a dimension."""

    code = "SX0213"


class DuplicateSpecError(ShardingError):
    """A specification names an axis of the mesh twice."""


class ShardingTypeError(SagaxError, TypeError):
    """Operands have conflicting shardings, where shardings are part of types."""

    code = "SX0211"


for _class in (ShardingError, IndivisibleError, DuplicateSpecError, ShardingTypeError):
    _class.__module__ = "sagax.errors"  # the public module


class Tiles(NamedTuple):
    """The number of shards of each dimension, and the shard of each device."""

    parts: tuple[int, ...]
    of_device: tuple[tuple[int, ...], ...]


class Sharding:
    """Assign shards of arrays to devices. The base of all shardings."""

    __slots__ = ("__weakref__",)

    _memory_kind: str | None  # None: the default of the devices

    # -- methods that subclasses define ----------------------------------------------------------

    @property
    def _device_assignment(self) -> tuple:
        """The devices, in the order of an executable's device assignment."""
        raise NotImplementedError(f"{type(self).__name__}._device_assignment")

    def tiles(self, ndim: int) -> Tiles:
        """Return the tiles of arrays of `ndim` dimensions."""
        raise NotImplementedError(f"{type(self).__name__}.tiles")

    def with_memory_kind(self, kind: str) -> Sharding:
        """Return the same sharding in another kind of memory."""
        raise NotImplementedError(f"{type(self).__name__}.with_memory_kind")

    @property
    def memory_kind(self) -> str | None:
        """The kind of memory on each device; None if there are no devices yet."""
        return self._memory_kind or self._device_assignment[0].default_memory().kind

    # -- derived properties ----------------------------------------------------------------------

    @property
    def device_set(self) -> set:
        """The devices, of all processes."""
        return set(self._device_assignment)

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return len(self._device_assignment)

    @property
    def addressable_devices(self) -> set:
        """The devices of this process."""
        return set(self.local_devices)

    @property
    def local_devices(self) -> tuple:
        """The devices of this process, in order."""
        return tuple(
            [d for d in self._device_assignment if d.process_index == d.client.process_index()]
        )

    # the name of jax, which orbax reads
    _addressable_device_assignment = local_devices

    @property
    def is_fully_addressable(self) -> bool:
        """True if all devices belong to this process."""
        return len(self.local_devices) == len(self._device_assignment)

    @property
    def is_fully_replicated(self) -> bool:
        """True if each device has the whole array."""
        raise NotImplementedError(f"{type(self).__name__}.is_fully_replicated")

    def devices_indices_map(self, global_shape: Sequence[int]) -> Mapping[Any, Index]:
        """Map each device to the index of its shard: `x[index]` of an array x of this shape."""
        shape = tuple(global_shape)
        return dict(zip(self._device_assignment, self.indices(shape), strict=True))

    def addressable_devices_indices_map(
        self, global_shape: Sequence[int]
    ) -> Mapping[Any, Index | None]:
        """Map each device of this process to the index of its shard."""
        here = self.addressable_devices
        return {d: i for d, i in self.devices_indices_map(global_shape).items() if d in here}

    def indices(self, shape: tuple[int, ...]) -> tuple[Index, ...]:
        """Return the index of each device's shard, in the order of the devices."""
        steps = self.shard_shape(shape)
        tiles = self.tiles(len(shape))
        return _indices(tiles, steps)

    def shard_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of one shard. Raises ValueError if the shape is not divisible."""
        shape = tuple(global_shape)
        self.check_shape(shape)
        return tuple([size // n for size, n in zip(shape, self.tiles(len(shape)).parts)])

    def check_shape(self, shape: tuple, **facts: Any) -> None:
        """Raise a ValueError, with the facts about the array, if the shape is not divisible."""
        for axis, (size, n) in enumerate(zip(shape, self.tiles(len(shape)).parts)):
            if not dims.is_dim(size) and size % n:
                raise IndivisibleError(
                    f"dimension {axis} of shape {shape} has size {size}, which does not divide "
                    f"into {n} equal parts",
                    **{"sharding": self, **facts},
                )

    def is_equivalent_to(self, other: Any, ndim: int) -> bool:
        """Return whether both assign equal shards of `ndim`-dimensional arrays to the same devices."""
        if self is other:
            return True
        return (
            isinstance(other, Sharding)
            and self._device_assignment == other._device_assignment
            and self._memory_kind == other._memory_kind
            and self.tiles(ndim) == other.tiles(ndim)
            and unreduced_axes(self) == unreduced_axes(other)
        )

    def engine_text(self, ndim: int) -> str:
        """Return the sharding in XLA's notation."""
        parts, of_device = self.tiles(ndim)
        count = math.prod(parts)
        if count == 1:
            return "{replicated}"
        return _text(parts, of_device)


def unreduced_axes(sharding: Any) -> frozenset:
    """Return the axes along which an array is a sum that was not yet added up."""
    return sharding.spec.unreduced if isinstance(sharding, NamedSharding) else frozenset()


@functools.lru_cache(maxsize=4096)
def _indices(tiles: Tiles, steps: tuple[int, ...]) -> tuple[Index, ...]:
    whole = slice(None)
    cuts = [
        [whole] if n == 1 else [slice(i * step, (i + 1) * step) for i in range(n)]
        for n, step in zip(tiles.parts, steps)
    ]
    return tuple([tuple([c[i] for c, i in zip(cuts, tile)]) for tile in tiles.of_device])


@functools.lru_cache(maxsize=4096)
def _text(parts: tuple[int, ...], of_device: tuple[tuple[int, ...], ...]) -> str:
    """Format the tiles; devices with equal tiles are adjacent."""
    by_tile: dict[tuple, list[int]] = {tile: [] for tile in np.ndindex(*parts)}
    for position, tile in enumerate(of_device):
        by_tile[tile].append(position)
    copies = len(of_device) // len(by_tile)
    order = ",".join([str(p) for found in by_tile.values() for p in found])
    sizes = ",".join(map(str, parts))
    if copies == 1:
        return f"{{devices=[{sizes}]{order}}}"
    return f"{{devices=[{sizes},{copies}]{order} last_tile_dim_replicate}}"


class SingleDeviceSharding(Sharding):
    """Put the whole array on one device.

    >>> from sagax.sharding import SingleDeviceSharding
    >>> SingleDeviceSharding(sagax.devices()[0]).num_devices
    1
    """

    __slots__ = ("_device", "_memory_kind")

    def __init__(self, device: Any, *, memory_kind: str | None = None) -> None:
        if not hasattr(device, "client"):
            raise ArgumentError.about(
                "SingleDeviceSharding", "device", repr(device), "a device from sagax.devices()"
            )
        self._device = device
        self._memory_kind = checked_memory_kind(device, memory_kind)

    @property
    def _device_assignment(self) -> tuple:
        return (self._device,)

    @property
    def is_fully_replicated(self) -> bool:
        return True

    def tiles(self, ndim: int) -> Tiles:
        return Tiles((1,) * ndim, ((0,) * ndim,))

    def with_memory_kind(self, kind: str) -> SingleDeviceSharding:
        return SingleDeviceSharding(self._device, memory_kind=kind)

    def __hash__(self) -> int:
        return hash((self._device, self._memory_kind))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, SingleDeviceSharding)
            and self._device == other._device
            and self._memory_kind == other._memory_kind
        )

    def __repr__(self) -> str:
        kind = "" if self._memory_kind is None else f", memory_kind={self._memory_kind}"
        return f"SingleDeviceSharding(device={self._device!r}{kind})"


class NamedSharding(Sharding):
    """Shard an array along the axes of a mesh by a `PartitionSpec`.

    Args:
      mesh: a `Mesh`; or an `AbstractMesh`, without devices.
      spec: for each dimension an axis of the mesh, a tuple of axes, or None.
      memory_kind: the kind of memory on each device, the default one if left out.

    Raises:
      ValueError: the specification names an axis that the mesh does not have, or one twice.

    >>> from sagax.sharding import Mesh, NamedSharding, PartitionSpec as P
    >>> mesh = Mesh(sagax.devices()[:1], ("x",))
    >>> NamedSharding(mesh, P("x")).shard_shape((8, 3))
    (8, 3)
    """

    __slots__ = ("_memory_kind", "_texts", "mesh", "spec")

    mesh: Mesh | AbstractMesh
    spec: PartitionSpec
    _texts: dict[int, str]

    def __new__(cls, mesh: Any, spec: Any, *, memory_kind: str | None = None) -> NamedSharding:
        found = _known.get((mesh, spec, memory_kind)) if type(spec) is PartitionSpec else None
        return found if found is not None else _make(cls, mesh, spec, memory_kind)

    @property
    def _device_assignment(self) -> tuple:
        mesh = self.mesh
        if isinstance(mesh, AbstractMesh):
            raise ShardingError(
                "a sharding over an abstract mesh has no devices",
                got=self,
                fix="use NamedSharding(mesh, spec) with a mesh of devices",
            )
        return mesh._flat

    @property
    def memory_kind(self) -> str | None:
        if isinstance(self.mesh, AbstractMesh):
            return self._memory_kind
        return self._memory_kind or self.mesh._flat[0].default_memory().kind

    @property
    def replicated_axes(self) -> frozenset:
        """The axes of the mesh along which arrays are replicated."""
        return frozenset(self.mesh.axis_names) - frozenset(self.spec.used_axes())

    @property
    def is_fully_replicated(self) -> bool:
        shape = self.mesh.shape
        if self.spec.unreduced:
            return False
        return math.prod([shape[name] for name in self.spec.used_axes()]) == 1

    def tiles(self, ndim: int) -> Tiles:
        spec = self.spec
        if len(spec) > ndim:
            self._check_rank(ndim, None)
        cut = tuple([spec.axes(i) for i in range(ndim)])
        return named_tiles(self.mesh.axis_sizes, self.mesh.axis_names, cut)

    def _check_rank(self, ndim: int, shape: Any, **facts: Any) -> None:
        what = f"an array of {ndim} dimensions" if shape is None else f"an array of shape {shape}"
        shortened = PartitionSpec(*tuple(self.spec)[:ndim])
        raise ShardingError(
            f"the specification {self.spec!r} has {len(self.spec)} entries, which is more than the "
            f"{ndim} dimension{'' if ndim == 1 else 's'} of {what}",
            **{
                "expected": f"at most {ndim} entries",
                "got": repr(self.spec),
                "fix": f"use {shortened!r}",
                **facts,
            },
        )

    def check_shape(self, shape: tuple, **facts: Any) -> None:
        """Raise a ValueError, with a spec that fits, if the shape is not divisible."""
        if len(self.spec) > len(shape):
            self._check_rank(len(shape), shape, **facts)
        sizes = self.mesh.shape
        for i, size in enumerate(shape):
            names = self.spec.axes(i)
            parts = math.prod([sizes[n] for n in names])
            if parts > 1 and not dims.is_dim(size) and size % parts:
                axes = " and ".join([f"{n!r} of size {sizes[n]}" for n in names])
                fitting = fitting_spec(self.spec, shape, self.mesh)
                raise IndivisibleError(
                    f"One of the dimensions is not divisible: dimension {i} of shape {shape} has "
                    f"size {size}, and {self.spec!r} cuts it into {parts} parts along the mesh "
                    f"{'axis' if len(names) == 1 else 'axes'} {axes}",
                    **{
                        "expected": f"a size divisible by {parts}",
                        "got": f"{size}, on {self.mesh!r}",
                        "fix": f"use {fitting!r}, or pad dimension {i} to "
                        f"{-(-size // parts) * parts}",
                        "spec": self.spec,
                        "mesh": self.mesh,
                        **facts,
                    },
                )

    def engine_text(self, ndim: int) -> str:
        found = self._texts.get(ndim)
        if found is None:
            found = self._texts[ndim] = super().engine_text(ndim)
        return found

    def with_memory_kind(self, kind: str) -> NamedSharding:
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def with_spec(self, spec: Any) -> NamedSharding:
        """Return the same mesh with another spec."""
        spec = spec if isinstance(spec, PartitionSpec) else PartitionSpec(*spec)
        return NamedSharding(self.mesh, spec, memory_kind=self._memory_kind)

    def update(self, **changes: Any) -> NamedSharding:
        """Return the same sharding with `mesh`, `spec` or `memory_kind` replaced."""
        return NamedSharding(
            changes.get("mesh", self.mesh),
            changes.get("spec", self.spec),
            memory_kind=changes.get("memory_kind", self._memory_kind),
        )

    def __reduce__(self) -> tuple:
        return _unpickle_named, (self.mesh, self.spec, self._memory_kind)

    def __repr__(self) -> str:
        kind = "" if self._memory_kind is None else f", memory_kind={self._memory_kind}"
        return f"NamedSharding(mesh={self.mesh}, spec={self.spec!r}{kind})"


# Interned, as meshes are: caches of executables are keyed by the shardings of arguments.
_known: InternTable[NamedSharding] = InternTable()
_lock = fork_locks.lock()


def _make(cls: type, mesh: Any, spec: Any, memory_kind: str | None) -> NamedSharding:
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise ArgumentError.about(
            "NamedSharding", "mesh", repr(mesh), "a Mesh, such as sagax.make_mesh((8,), ('x',))"
        )
    if not isinstance(spec, PartitionSpec):
        words = ", ".join(map(repr, spec)) if isinstance(spec, tuple) else repr(spec)
        raise ArgumentError(
            function="NamedSharding",
            argument="spec",
            got=repr(spec),
            expected="a PartitionSpec",
            fix=f"write PartitionSpec({'' if spec is None else words})",
        )
    check_axes(spec, mesh)
    auto = (spec.unreduced | spec.reduced) & frozenset(mesh.auto_axes)
    if auto:
        word = "Unreduced" if auto & spec.unreduced else "Reduced"
        raise ShardingError(
            f"{word} axes can only refer to mesh axes that are of type Explicit, and "
            f"{', '.join(sorted(map(repr, auto)))} is of type Auto",
            function="NamedSharding",
            argument="spec",
            got=f"{spec!r} over {mesh!r}",
            fix="make the mesh with Explicit axes, so that types say which sums are not yet added up",
        )
    if isinstance(mesh, Mesh):
        memory_kind = checked_memory_kind(mesh._flat[0], memory_kind)
    elif memory_kind not in (None, "device", "pinned_host", "unpinned_host"):
        raise ShardingError(
            f"there is no memory of kind {memory_kind!r}",
            expected="'device', 'pinned_host' or 'unpinned_host'",
            got=repr(memory_kind),
        )
    with _lock:
        interned = _known.get((mesh, spec, memory_kind))
        if interned is None:
            interned = object.__new__(cls)
            interned.mesh, interned.spec, interned._memory_kind, interned._texts = (
                mesh,
                spec,
                memory_kind,
                {},
            )
            _known.add((mesh, spec, memory_kind), interned)
    return interned


def _unpickle_named(mesh: Any, spec: Any, memory_kind: str | None) -> NamedSharding:
    return NamedSharding(mesh, spec, memory_kind=memory_kind)


@functools.lru_cache(maxsize=4096)
def named_tiles(sizes: tuple[int, ...], names: tuple, cut: tuple[tuple, ...]) -> Tiles:
    coordinates = np.indices(sizes).reshape(len(sizes), -1)  # of each device, in mesh order
    where = dict(zip(names, range(len(names)), strict=True))
    parts, shards = [], []
    for axes in cut:
        n, index = 1, np.zeros(coordinates.shape[1], int)
        for name in axes:
            size = sizes[where[name]]
            n, index = n * size, index * size + coordinates[where[name]]
        parts.append(n)
        shards.append(index)
    stacked = np.stack(shards, 1) if shards else np.zeros((coordinates.shape[1], 0), int)
    return Tiles(tuple(parts), tuple([tuple(row) for row in stacked.tolist()]))


# --- checks ---------------------------------------------------------------------------------------


def checked_memory_kind(device: Any, kind: str | None) -> str | None:
    """Return the kind of memory if the device has it; None if it is the default."""
    if kind is None or kind == device.default_memory().kind:
        return None
    known = [m.kind for m in device.addressable_memories()]
    if kind not in known:
        raise ShardingError(
            f"Could not find memory addressable by device {device.device_kind}: it has no memory "
            f"of kind {kind!r}",
            expected=f"one of {', '.join(map(repr, known))}",
            got=repr(kind),
        )
    return kind


def check_axes(spec: PartitionSpec, mesh: Any) -> None:
    """Raise a ValueError unless all axes of the spec belong to the mesh, each used only one time."""
    names = spec.used_axes()
    known = mesh.axis_names
    extra = sorted(map(str, (spec.unreduced | spec.reduced) - set(known)))
    for name in (*names, *extra):
        if name not in known:
            raise ShardingError(
                f"Resource axis: {name} of {spec!r} is not found in mesh: {known}",
                expected=f"axes of {mesh!r}",
                got=repr(spec),
                fix=_with_known_axes(spec, mesh),
                spec=spec,
                mesh=mesh,
            )
    twice = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    if twice:
        repeated = [i for i in range(len(spec)) if twice[0] in spec.axes(i)]
        fitting = PartitionSpec(
            *[
                tuple(n for n in dict.fromkeys(spec.axes(i)) if n != twice[0] or i == repeated[0])
                if i in repeated
                else spec[i]
                for i in range(len(spec))
            ]
        )
        raise DuplicateSpecError(
            f"A single NamedSharding spec specification can map every mesh axis to at most one "
            f"positional dimension, but {spec!r} has duplicate entries for {twice[0]!r}",
            got=f"{spec!r}, which names {twice[0]!r} "
            + (
                f"for dimensions {' and '.join(map(str, repeated))}"
                if len(repeated) > 1
                else f"twice for dimension {repeated[0]}"
            ),
            expected="each axis of the mesh at most once",
            fix=f"use {fitting!r}",
            spec=spec,
            mesh=mesh,
        )
    both = set(names) & (spec.unreduced | spec.reduced)
    if both:
        raise ShardingError(
            f"axes that cut a dimension cannot be unreduced or reduced as well: {sorted(map(str, both))}",
            got=repr(spec),
        )


def _with_known_axes(spec: PartitionSpec, mesh: Any) -> str:
    """Return a spec without the axes that the mesh lacks, for the error."""
    known = [n for n in mesh.axis_names if n not in spec.used_axes()]

    def nearest(name: Any) -> Any:
        if name in mesh.axis_names:
            return name
        texts = {str(n): n for n in known}
        near = difflib.get_close_matches(str(name), texts, 1)
        return texts[near[0]] if near else None

    parts = []
    for i in range(len(spec)):
        names = [n for n in map(nearest, spec.axes(i)) if n is not None]
        parts.append(tuple(dict.fromkeys(names)) if spec.axes(i) else spec[i])
    while parts and parts[-1] in (None, ()):
        parts.pop()
    return f"use {PartitionSpec(*parts)!r}, or a mesh that has the axis"


def fitting_spec(spec: PartitionSpec, shape: tuple, mesh: Any) -> PartitionSpec:
    """Return a spec near to `spec` that divides the shape: axes move to dimensions that they divide."""
    sizes = mesh.shape
    found: list[Any] = [list(spec.axes(i)) for i in range(len(shape))]
    homeless = []
    for i, names in enumerate(found):
        axes: list[Any] = []
        for name in names:
            if dims.is_dim(shape[i]) or shape[i] % math.prod([sizes[n] for n in (*axes, name)]):
                homeless.append(name)
            else:
                axes.append(name)
        found[i] = axes
    for name in homeless:
        for i, axes in enumerate(found):
            if not axes and not dims.is_dim(shape[i]) and shape[i] % sizes[name] == 0 < shape[i]:
                axes.append(name)
                break
    while found and not found[-1]:
        found.pop()
    return PartitionSpec(*map(tuple, found))


def shown_in_type(sharding: Any, ndim: int) -> NamedSharding | None:
    """Return the sharding in the type of an array of `ndim` dimensions: the Explicit axes only.

    None if its mesh has none.
    """
    mesh = sharding.mesh if isinstance(sharding, NamedSharding) else None
    if mesh is None or AxisType.Explicit not in mesh.axis_types:
        return None
    spec = sharding.spec
    shown = set(mesh.explicit_axes)
    parts = [tuple([n for n in spec.axes(i) if n in shown]) for i in range(ndim)]
    return NamedSharding(mesh.abstract_mesh, spec.update(partitions=tuple(parts)))


def shown_over(mesh: Any, spec: PartitionSpec, ndim: int) -> NamedSharding | None:
    """Return the sharding in a type that has this spec, over a mesh with possibly fewer Explicit axes."""
    if spec.partial:
        auto = frozenset(mesh.auto_axes)
        spec = spec.update(unreduced=spec.unreduced - auto, reduced=spec.reduced - auto)
    return shown_in_type(NamedSharding(mesh, spec), ndim)


def without_dimension(sharding: NamedSharding | None, dimension: int) -> NamedSharding | None:
    """Return the sharding of arrays that lose a dimension."""
    if sharding is None:
        return None
    parts = list(sharding.spec)
    del parts[dimension : dimension + 1]
    return sharding.with_spec(sharding.spec.update(partitions=tuple(parts)))


def with_dimension(
    sharding: NamedSharding | None, dimension: int, entry: Any = None
) -> NamedSharding | None:
    """Return the sharding of arrays that get one more dimension, sharded as `entry`."""
    if sharding is None:
        return None
    parts = list(sharding.spec) + [None] * (dimension - len(sharding.spec))
    parts.insert(dimension, entry)
    return sharding.with_spec(sharding.spec.update(partitions=tuple(parts)))


def same_sharding(a: NamedSharding | None, b: NamedSharding | None) -> bool:
    """Return whether two types have equal shardings; a type without one is unsharded."""
    if a is b:
        return True
    if a is None or b is None:
        shown = a or b
        return shown is not None and not (shown.spec.used_axes() or shown.spec.partial)
    if a.spec.unreduced != b.spec.unreduced or a.spec.reduced != b.spec.reduced:
        return False
    count = max(len(a.spec), len(b.spec))
    return all(a.spec.axes(i) == b.spec.axes(i) for i in range(count))


def sharding_of_struct(x: Any) -> Sharding | None:
    """Return the sharding of a type or a `ShapeDtypeStruct`; None for one over an empty mesh, which says nothing."""
    found = getattr(x, "sharding", None)
    if isinstance(found, NamedSharding) and found.mesh.empty:
        return None
    return found if isinstance(found, Sharding) else None


def dimensions_text(shape: tuple, sharding: NamedSharding) -> str:
    """Format sizes and the axes that shard them: `8@x,4@(x,y),3`."""
    found = []
    for i, size in enumerate(shape):
        axes = sharding.spec.axes(i)
        text = ",".join(map(str, axes))
        found.append(f"{size}@{text if len(axes) == 1 else f'({text})'}" if axes else str(size))
    return ",".join(found)


# --- the notation of the sdy dialect ----------------------------------------------------------------


def sdy_mesh(mesh: Any, devices: Sequence[Any] = ()) -> str:
    """Return the axes of a mesh in the sdy dialect, for a module on these devices."""
    axes = ", ".join([f'"{name}"={size}' for name, size in mesh.shape_tuple])
    flat = mesh._flat if isinstance(mesh, Mesh) else devices
    if tuple(flat) == tuple(devices) or not devices:
        return f"<[{axes}]>"
    where = {d: i for i, d in enumerate(devices)}
    return f"<[{axes}], device_ids=[{', '.join([str(where[d]) for d in flat])}]>"


def sdy_sharding(mesh_name: str, spec: PartitionSpec, ndim: int, *, open: bool = False) -> str:
    """Return a sharding in the sdy dialect: `<@mesh, [{"x"}, {}]>`.

    The compiler may shard UNCONSTRAINED dimensions further, and with `open` all.
    """
    parts = []
    for i in range(ndim):
        free = open or (i < len(spec) and spec[i] is UNCONSTRAINED)
        inner = [f'"{name}"' for name in spec.axes(i)] + ["?"] * free
        parts.append("{" + ", ".join(inner) + "}")
    unreduced = ", ".join(sorted([f'"{name}"' for name in spec.unreduced]))
    sums = f", unreduced={{{unreduced}}}" if unreduced else ""
    return f"<@{mesh_name}, [{', '.join(parts)}]{sums}>"
