"""Define device meshes and partition specs, as interned values.

A `Mesh` is an array of devices with named axes. An `AbstractMesh` has the names and sizes without the
devices, so that jaxprs can depend on it. A `PartitionSpec` names, for each dimension of an array, the
mesh axes along which it is sharded.
"""

from __future__ import annotations

import enum
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from sagax._src import config, fork_locks
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.frozen_class import record
from sagax._src.languages.choice import worded
from sagax._src.uninterrupted import uninterrupted
from sagax._src.weak_tables import InternTable


class AxisType(enum.Enum):
    """Select who shards arrays along an axis of a mesh.

    Auto: the compiler. Explicit: the types of arrays, while tracing. Manual: the user's code, inside
    `shard_map`.
    """

    Auto = enum.auto()
    Explicit = enum.auto()
    Manual = enum.auto()

    def __repr__(self) -> str:
        return self.name


class UnreducedKind(enum.Enum):
    """The reduction that makes the value of an unreduced array: sum, maximum or minimum."""

    sum = "sum"
    max = "max"
    min = "min"

    def __repr__(self) -> str:
        return self.name


@record
class ManualAxisType:
    """Name the axes along which a value inside of `shard_map` may differ between devices.

    `typeof(x).manual_axis_type` has this type. Along `unreduced` axes values are summands, along `reduced` ones
    their cotangents are.

    >>> from sagax.sharding import ManualAxisType
    >>> ManualAxisType(varying={"x"}).varying
    frozenset({'x'})
    """

    varying: frozenset
    unreduced: frozenset
    reduced: frozenset
    unreduced_kind: UnreducedKind | None

    def __init__(
        self,
        varying: Any = frozenset(),
        unreduced: Any = frozenset(),
        reduced: Any = frozenset(),
        unreduced_kind: UnreducedKind | None = None,
    ) -> None:
        sets = {"varying": varying, "unreduced": unreduced, "reduced": reduced}
        for name, given in sets.items():
            if not isinstance(given, (set, frozenset)):
                raise ArgumentError(
                    function="ManualAxisType",
                    argument=name,
                    got=repr(given),
                    expected="a set of names of axes",
                    fix=f"write {name}={{{given!r}}}" if isinstance(given, str) else None,
                )
            object.__setattr__(self, name, frozenset(given))
        for one, other in (
            ("varying", "unreduced"),
            ("varying", "reduced"),
            ("unreduced", "reduced"),
        ):
            both = getattr(self, one) & getattr(self, other)
            if both:
                raise ArgumentValueError(
                    f"{one} and {other} cannot have common mesh axes",
                    function="ManualAxisType",
                    argument=other,
                    got=", ".join(sorted(map(repr, both))),
                )
        if unreduced_kind is None and self.unreduced:
            unreduced_kind = UnreducedKind.sum
        object.__setattr__(self, "unreduced_kind", unreduced_kind)


class AbstractDevice(NamedTuple):
    """Describe the devices of an abstract mesh."""

    device_kind: str
    num_cores: int | None = None
    platform: str | None = None


_lock = fork_locks.lock()
_known: InternTable[Any] = InternTable()


def _interned(cls: type, key: tuple, fields: dict[str, Any]) -> Any:
    with _lock:
        found = _known.get((cls, *key))
        if found is None:
            found = object.__new__(cls)
            for name, value in fields.items():
                object.__setattr__(found, name, value)
            _known.add((cls, *key), found)
    return found


def _names(axis_names: Any, function: str) -> tuple:
    if isinstance(axis_names, str) or not isinstance(axis_names, Sequence):
        axis_names = (axis_names,)
    names = tuple(axis_names)
    repeated = sorted({repr(n) for n in names if names.count(n) > 1})
    if repeated:
        raise ArgumentValueError(
            function=function,
            argument="axis_names",
            got=repr(names),
            expected=f"names that differ: {', '.join(repeated)} stands there twice",
        )
    if None in names:
        raise ArgumentValueError.about(function, "axis_names", repr(names), "names other than None")
    return names


def _types(axis_types: Any, count: int, function: str, default: AxisType) -> tuple[AxisType, ...]:
    if axis_types is None:
        return (default,) * count
    if isinstance(axis_types, AxisType):
        axis_types = (axis_types,)
    types = tuple(axis_types)
    if not all(isinstance(t, AxisType) for t in types):
        raise ArgumentError(
            function=function,
            argument="axis_types",
            got=repr(types),
            expected="AxisType.Auto, AxisType.Explicit or AxisType.Manual for each axis",
        )
    if len(types) != count:
        raise ArgumentValueError.about(
            function, "axis_types", repr(types), f"one for each of the {count} axes"
        )
    return types


class _Axes:
    """The named, sized, typed axes of a mesh with or without devices."""

    __slots__ = ()

    axis_names: tuple
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """The size of each axis, by name."""
        return OrderedDict(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
        """(name, size) of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes, strict=True))

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.axis_sizes) if self.axis_names else 0

    @property
    def empty(self) -> bool:
        """True if the mesh has no axes."""
        return not self.axis_names

    def _of_type(self, kind: AxisType) -> tuple:
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return tuple(name for name, t in pairs if t is kind)

    @property
    def auto_axes(self) -> tuple:
        """The names of the axes of type Auto."""
        return self._of_type(AxisType.Auto)

    @property
    def explicit_axes(self) -> tuple:
        """The names of the axes of type Explicit."""
        return self._of_type(AxisType.Explicit)

    @property
    def manual_axes(self) -> tuple:
        """The names of the axes of type Manual."""
        return self._of_type(AxisType.Manual)

    @property
    def has_explicit_axes(self) -> bool:
        """True if some axes are of type Explicit."""
        return AxisType.Explicit in self.axis_types

    _any_axis_explicit = has_explicit_axes  # jax's private name, which jaxns reads

    @property
    def are_all_axes_auto(self) -> bool:
        return all(t is AxisType.Auto for t in self.axis_types)

    @property
    def are_all_axes_explicit(self) -> bool:
        return all(t is AxisType.Explicit for t in self.axis_types)

    @property
    def are_all_axes_manual(self) -> bool:
        return all(t is AxisType.Manual for t in self.axis_types)

    @property
    def _name_to_type(self) -> dict[Any, AxisType]:
        return dict(zip(self.axis_names, self.axis_types, strict=True))

    def _described(self) -> str:
        axes = ", ".join(f"{name!r}: {size}" for name, size in self.shape_tuple)
        types = ", ".join(t.name for t in self.axis_types)
        return f"{axes}, axis_types=({types}{',' if len(self.axis_types) == 1 else ''})"


class AbstractMesh(_Axes):
    """The names, sizes and types (Explicit by default) of the axes of a mesh, without devices; interned.

    Jaxprs depend on an abstract mesh only, so that meshes of the same form share them.

    >>> from sagax.sharding import AbstractMesh
    >>> AbstractMesh((4, 2), ("x", "y")).size
    8
    """

    __slots__ = ("__weakref__", "abstract_device", "axis_names", "axis_sizes", "axis_types")

    abstract_device: AbstractDevice | None

    def __new__(
        cls,
        axis_sizes: Sequence[int],
        axis_names: Any,
        axis_types: Any = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> AbstractMesh:
        names = _names(axis_names, "AbstractMesh")
        try:
            sizes = tuple(size.__index__() for size in axis_sizes)
        except (TypeError, AttributeError):
            raise ArgumentError(
                function="AbstractMesh",
                argument="axis_sizes",
                got=repr(axis_sizes),
                expected="a tuple of integers",
                fix="write AbstractMesh((4, 2), ('x', 'y'))",
            ) from None
        if len(sizes) != len(names):
            raise ArgumentValueError(
                function="AbstractMesh",
                argument="axis_names",
                got=repr(names),
                expected=f"a name for each of the {len(sizes)} sizes {sizes}",
            )
        types = _types(axis_types, len(names), "AbstractMesh", AxisType.Explicit)
        fields = {
            "axis_names": names,
            "axis_sizes": sizes,
            "axis_types": types,
            "abstract_device": abstract_device,
        }
        return _interned(cls, tuple(fields.values()), fields)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        return self

    def update(
        self,
        axis_sizes: Any = None,
        axis_names: Any = None,
        axis_types: Any = None,
        **changes: Any,
    ) -> AbstractMesh:
        """Return the same mesh with some fields replaced."""
        return AbstractMesh(
            self.axis_sizes if axis_sizes is None else axis_sizes,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
            abstract_device=changes.get("abstract_device", self.abstract_device),
        )

    def update_axis_types(self, name_to_type: dict[Any, AxisType]) -> AbstractMesh:
        """Return the same mesh with other types for the named axes."""
        pairs = zip(self.axis_names, self.axis_types, strict=True)
        return self.update(axis_types=tuple(name_to_type.get(n, t) for n, t in pairs))

    def __reduce__(self) -> tuple:
        return _unpickle_abstract, (
            self.axis_sizes,
            self.axis_names,
            self.axis_types,
            self.abstract_device,
        )

    def __repr__(self) -> str:
        return f"AbstractMesh({self._described() if self.axis_names else ''})"


def _unpickle_abstract(sizes: tuple, names: tuple, types: tuple, device: Any) -> AbstractMesh:
    return AbstractMesh(sizes, names, types, abstract_device=device)


empty_abstract_mesh = AbstractMesh((), ())


class Mesh(_Axes):
    """Arrange devices in an array with named axes; interned.

    Args:
      devices: an array (or nested lists) of devices.
      axis_names: a name for each axis of `devices`.
      axis_types: an `AxisType` for each axis; Auto if left out.

    `with mesh:` resolves bare `PartitionSpec`s against it; `sagax.set_mesh` also shows it to traced
    functions.

    >>> from sagax.sharding import Mesh
    >>> dict(Mesh(sagax.devices()[:1], ("x",)).shape)
    {'x': 1}
    """

    __slots__ = (
        "__weakref__",
        "_flat",
        "abstract_mesh",
        "axis_names",
        "axis_sizes",
        "axis_types",
        "devices",
        "facts",
    )

    devices: np.ndarray
    abstract_mesh: AbstractMesh
    _flat: tuple
    facts: dict  # what the runtime derives from a mesh, cached for its lifetime

    def __new__(cls, devices: Any, axis_names: Any, axis_types: Any = None) -> Mesh:
        names = _names(axis_names, "Mesh")
        array = _device_array(devices)
        if array.ndim != len(names):
            raise ArgumentValueError(
                function="Mesh",
                argument="axis_names",
                got=repr(names),
                expected=f"a name for each of the {array.ndim} axes of devices, whose shape is "
                f"{array.shape}",
                fix="reshape the array of devices, or use sagax.make_mesh(sizes, names)",
            )
        types = _types(axis_types, len(names), "Mesh", AxisType.Auto)
        flat = tuple(array.flat)
        if len(set(flat)) != len(flat):
            raise ArgumentValueError.about(
                "Mesh", "devices", repr([str(d) for d in flat]), "each device once"
            )
        array.flags.writeable = False
        device = None
        if flat and hasattr(flat[0], "device_kind"):
            device = AbstractDevice(
                flat[0].device_kind, getattr(flat[0], "num_cores", None), flat[0].platform
            )
        abstract = AbstractMesh(array.shape, names, types, abstract_device=device)
        fields = {
            "devices": array,
            "axis_names": names,
            "axis_sizes": array.shape,
            "axis_types": types,
            "abstract_mesh": abstract,
            "_flat": flat,
            "facts": {},
        }
        return _interned(cls, (flat, names, array.shape, types), fields)

    @property
    def size(self) -> int:
        return len(self._flat) if self.axis_names else 0

    @property
    def device_ids(self) -> np.ndarray:
        """The id of each device, in the shape of the mesh."""
        ids = [d.id for d in self._flat]
        return np.array(ids, int).reshape(self.devices.shape)

    @property
    def local_devices(self) -> list:
        """The devices of this process."""
        return [d for d in self._flat if d.process_index == d.client.process_index()]

    @property
    def is_multi_process(self) -> bool:
        """True if it has devices of several processes."""
        return len({d.process_index for d in self._flat}) > 1

    @property
    def local_mesh(self) -> Mesh:
        """The submesh of devices that belong to this process."""
        if not self.is_multi_process:
            return self
        here = self._flat[0].client.process_index()
        local = np.array([d.process_index == here for d in self._flat]).reshape(self.devices.shape)
        corner = [np.unique(positions) for positions in np.nonzero(local)]
        block = self.devices[np.ix_(*corner)]
        if not local[np.ix_(*corner)].all():
            raise ArgumentValueError(
                "the devices of this process do not form a block of the mesh",
                function="Mesh.local_mesh",
                got=self,
            )
        return Mesh(block, self.axis_names, self.axis_types)

    def update(self, devices: Any = None, axis_names: Any = None, axis_types: Any = None) -> Mesh:
        """Return the same mesh with some fields replaced."""
        return Mesh(
            self.devices if devices is None else devices,
            self.axis_names if axis_names is None else axis_names,
            self.axis_types if axis_types is None else axis_types,
        )

    def __enter__(self) -> Mesh:
        contexts, context = _legacy.contexts, entered(mesh=self)
        contexts.append(context)
        try:
            context.__enter__()
        except BaseException:  # no exit follows
            contexts.pop()
            raise
        return self

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        contexts = _legacy.contexts
        try:
            contexts[-1].__exit__(None, None, None)
        finally:
            contexts.pop()

    def __str__(self) -> str:
        return f"Mesh({self._described() if self.axis_names else ''})"

    def __repr__(self) -> str:
        types = f", axis_types={self.axis_types}" if self.axis_names else ""
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}{types})"


class _Legacy(threading.local):
    """The meshes that each thread entered by `with mesh:`."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []


_legacy = _Legacy()


def _device_array(devices: Any) -> np.ndarray:
    if isinstance(devices, np.ndarray):
        return devices.copy()
    # assign each object separately, since devices may define a length or look like numbers
    shape, flat = [], devices
    while isinstance(flat, (list, tuple)):
        shape.append(len(flat))
        flat = flat[0] if flat else None
    array = np.empty(tuple(shape), object)
    for index in np.ndindex(*shape):
        item = devices
        for i in index:
            item = item[i]
        array[index] = item
    return array


# --- the current mesh -----------------------------------------------------------------------------


def entered(**changes: Any) -> AbstractContextManager:
    """Set the current `mesh`, `abstract_mesh` or both (None: unset) in a context."""
    return config.Context(tuple(changes.items()))


def concrete_mesh() -> Mesh | None:
    """Return the current mesh with its devices, if any."""
    return config.thread.settings.mesh


def get_abstract_mesh() -> AbstractMesh:
    """Return the current mesh, without devices; empty if there is none.

    Inside `shard_map` its axes are of type Manual.

    >>> from sagax.sharding import get_abstract_mesh
    >>> get_abstract_mesh().empty
    True
    """
    return config.thread.settings.abstract_mesh or empty_abstract_mesh


# --- partition specs --------------------------------------------------------------------------------


class _Unconstrained:
    """Mark a dimension whose sharding the compiler may choose."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = _Unconstrained()


def _part(part: Any) -> Any:
    """Normalize an entry to None, UNCONSTRAINED, a name, or a tuple of several names."""
    if isinstance(part, (list, tuple)):
        names = tuple(part)
        if not names:
            return None
        return names[0] if len(names) == 1 else names
    return part


class PartitionSpec:
    """Specify for each dimension None (unsharded), a mesh axis, or a tuple of axes.

    Dimensions beyond the last entry are unsharded. `P.UNCONSTRAINED` leaves one to the compiler.
    `unreduced` names axes along which the array is a sum that was not yet reduced, `reduced` those along
    which its cotangent is.

    >>> from sagax.sharding import PartitionSpec as P
    >>> P("x", None, ("y", "z"))
    P('x', None, ('y', 'z'))
    """

    __slots__ = (
        "__weakref__",
        "_hash",
        "_partitions",
        "reduced",
        "unreduced",
        "unreduced_kind",
    )

    UNCONSTRAINED = UNCONSTRAINED

    def __init_subclass__(cls) -> None:
        raise worded(TypeError("type 'PartitionSpec' is not an acceptable base type"))

    def __init__(
        self,
        *partitions: Any,
        unreduced: Any = frozenset(),
        reduced: Any = frozenset(),
        unreduced_kind: UnreducedKind | None = None,
    ) -> None:
        self._partitions = tuple([_part(p) for p in partitions])
        self.unreduced = _axis_set(unreduced, "unreduced")
        self.reduced = _axis_set(reduced, "reduced")
        if unreduced_kind is None and self.unreduced:
            unreduced_kind = UnreducedKind.sum
        self.unreduced_kind = unreduced_kind
        if self.unreduced or self.reduced:
            self._check_partial()
        self._hash = hash((self._partitions, self.unreduced, self.reduced, self.unreduced_kind))

    def _check_partial(self) -> None:
        """Raise ValueError unless each axis divides a dimension, is unreduced, or is reduced."""
        cutting = frozenset(self.used_axes())
        for one, word, other in (
            (self.unreduced, "`unreduced`", self.reduced),
            (cutting, "partitions", self.unreduced),
            (cutting, "partitions", self.reduced),
        ):
            both = one & other
            if both:
                name = "unreduced" if other is self.unreduced else "reduced"
                raise ArgumentValueError(
                    f"{word} and `{name}` argument to PartitionSpec cannot overlap: "
                    f"{', '.join(sorted(map(repr, both)))}",
                    function="PartitionSpec",
                    argument=name,
                    got=", ".join(sorted(map(repr, other))),
                    expected="axes of the mesh that are named nowhere else in the spec",
                )

    @property
    def partial(self) -> bool:
        """True if it says that values are unreduced sums, or their cotangents are."""
        return bool(self.unreduced or self.reduced)

    def cotangent(self) -> PartitionSpec:
        """Return the spec of cotangents: unreduced where values are reduced, and the reverse."""
        if not self.partial:
            return self
        return self.update(unreduced=self.reduced, reduced=self.unreduced)

    @property
    def partitions(self) -> tuple:
        """The entries for all dimensions."""
        return self._partitions

    def __iter__(self) -> Iterator[Any]:
        return iter(self._partitions)

    def __len__(self) -> int:
        return len(self._partitions)

    def __getitem__(self, index: Any) -> Any:
        return self._partitions[index]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PartitionSpec):
            return self is other or (
                self._partitions == other._partitions
                and self.unreduced == other.unreduced
                and self.reduced == other.reduced
                and self.unreduced_kind is other.unreduced_kind
            )
        return NotImplemented

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            return self.update(
                partitions=self._partitions + other._partitions,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        if isinstance(other, tuple):
            return self.update(partitions=self._partitions + other)
        return NotImplemented

    def __radd__(self, other: Any) -> PartitionSpec:
        if isinstance(other, tuple):
            return self.update(partitions=other + self._partitions)
        return NotImplemented

    def index(self, value: Any) -> int:
        """Return the first dimension that has this entry."""
        return self._partitions.index(_part(value))

    def count(self, value: Any) -> int:
        """Return the number of dimensions that have this entry."""
        return self._partitions.count(_part(value))

    def update(self, **changes: Any) -> PartitionSpec:
        """Return the same spec with `partitions`, `unreduced` or `reduced` replaced."""
        unreduced = changes.get("unreduced", self.unreduced)
        kind = changes.get("unreduced_kind", self.unreduced_kind if unreduced else None)
        return PartitionSpec(
            *changes.get("partitions", self._partitions),
            unreduced=unreduced,
            reduced=changes.get("reduced", self.reduced),
            unreduced_kind=kind,
        )

    def axes(self, dimension: int) -> tuple:
        """Return the mesh axes along which a dimension is sharded, major first."""
        if dimension >= len(self._partitions):
            return ()
        part = self._partitions[dimension]
        if part is None or part is UNCONSTRAINED:
            return ()
        return part if isinstance(part, tuple) else (part,)

    def used_axes(self) -> tuple:
        """Return all mesh axes along which a dimension is sharded, in order."""
        return tuple([name for i in range(len(self._partitions)) for name in self.axes(i)])

    def __reduce__(self) -> tuple:
        return _unpickle_spec, (
            self._partitions,
            self.unreduced,
            self.reduced,
            self.unreduced_kind,
        )

    def __repr__(self) -> str:
        parts = [repr(p) for p in self._partitions]
        for word in ("unreduced", "reduced"):
            names = getattr(self, word)
            if names:
                parts.append(f"{word}={{{', '.join(sorted(map(repr, names)))}}}")
        if self.unreduced_kind is not None:
            parts.append(f"unreduced_kind={self.unreduced_kind!r}")
        comma = "," if len(parts) == 1 and len(self) == 1 else ""
        return f"P({', '.join(parts)}{comma})"


def _axis_set(names: Any, argument: str) -> frozenset:
    if isinstance(names, str) or not isinstance(names, (set, frozenset, tuple, list)):
        raise ArgumentError(
            function="PartitionSpec",
            argument=argument,
            got=repr(names),
            expected="a set of names of axes",
            fix=f"write {argument}={{{names!r}}}" if isinstance(names, str) else None,
        )
    found = frozenset(names)
    if None in found:
        raise ArgumentValueError.about(
            "PartitionSpec", argument, repr(names), "names of axes, not None"
        )
    return found


def _unpickle_spec(partitions: tuple, unreduced: Any, reduced: Any, kind: Any) -> PartitionSpec:
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced, unreduced_kind=kind)
