"""Create meshes of devices, and set the mesh in force."""

from __future__ import annotations

import copyreg
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.argument_checks import checks
from sagax._src.core import meshes
from sagax._src.core.meshes import AbstractMesh, AxisType, Mesh
from sagax._src.core.shardings import SingleDeviceSharding
from sagax._src.core.trace import evaluation, state
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.runtime import devices as known_devices
from sagax._src.uninterrupted import uninterrupted


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[Any],
    axis_types: Sequence[AxisType] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """Create a mesh of devices with axes of these sizes and names.

    Args:
      axis_shapes: the size of each axis.
      axis_names: the name of each axis.
      axis_types: an `AxisType` for each axis; Explicit if left out.
      devices: the devices to use; the first ones of the default platform if left out.

    Raises:
      ValueError: there are fewer devices than the mesh needs.

    >>> print(sagax.make_mesh((1,), ("x",)))
    Mesh('x': 1, axis_types=(Explicit,))
    """
    sizes, names = tuple(axis_shapes), tuple(axis_names)
    if len(sizes) != len(names):
        raise ArgumentValueError(
            function="make_mesh",
            argument="axis_names",
            got=repr(names),
            expected=f"a name for each of the {len(sizes)} sizes {sizes}",
        )
    if not all(isinstance(s, (int, np.integer)) and s > 0 for s in sizes):
        raise ArgumentValueError.about(
            "make_mesh", "axis_shapes", repr(sizes), "sizes of at least 1"
        )
    found = list(known_devices.devices() if devices is None else devices)
    count = math.prod(sizes)
    if len(found) < count:
        raise ArgumentValueError(
            f"Number of devices {len(found)} must be >= the product of mesh_shape {sizes}",
            function="make_mesh",
            expected=f"{count} devices for axes {', '.join(f'{n!r}: {s}' for n, s in zip(names, sizes))}",
            got=f"{len(found)} devices",
            fix="use smaller axes; virtual CPU devices are made by "
            f"sagax.config.update('num_cpu_devices', {count}) before the first use of a device",
        )
    if axis_types is None:
        axis_types = (AxisType.Explicit,) * len(names)
    array = np.empty(count, object)
    array[:] = found[:count]
    return Mesh(array.reshape(sizes), names, axis_types)


def get_mesh() -> Mesh:
    """Return the mesh in force, set by `set_mesh`; empty if there is none.

    >>> sagax.sharding.get_mesh().empty
    True
    """
    if state.trace is not evaluation:
        raise ArgumentValueError(
            "get_mesh can only be used outside of jitted functions: a traced program does not "
            "depend on the devices",
            function="get_mesh",
            fix="use sagax.sharding.get_abstract_mesh()",
        )
    return meshes.concrete_mesh() or Mesh(np.empty((), object), ())


class set_mesh:
    """Set the mesh in force: for the rest of the thread, or for a `with` block.

    Bare `PartitionSpec`s refer to it, and arrays made inside with shardings show its Explicit axes
    in their types.

    Raises:
      TypeError: it is no mesh of devices.
      ValueError: it is called while tracing.

    >>> with sagax.set_mesh(sagax.make_mesh((1,), ("x",))):
    ...     sagax.sharding.get_abstract_mesh()
    AbstractMesh('x': 1, axis_types=(Explicit,))
    """

    __slots__ = ("_context", "mesh")

    def __init__(self, mesh: Mesh | None) -> None:
        checks.instance(
            "set_mesh",
            "mesh",
            mesh,
            (Mesh, type(None)),
            "a Mesh of devices",
            show=repr,
            fix="for an abstract mesh use sagax.sharding.use_abstract_mesh",
        )
        if state.trace is not evaluation:
            raise ArgumentValueError(
                "set_mesh can only be used outside of jitted functions",
                function="set_mesh",
                fix="set the mesh around the call of the jitted function",
            )
        self.mesh = mesh
        abstract = None if mesh is None or mesh.empty else mesh.abstract_mesh
        concrete = None if abstract is None else mesh
        self._context = meshes.entered(mesh=concrete, abstract_mesh=abstract)
        self._context.__enter__()

    def __enter__(self) -> Mesh | None:
        return self.mesh

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        self._context.__exit__(None, None, None)


def use_abstract_mesh(mesh: AbstractMesh) -> Any:
    """Context manager: `mesh`, without devices, is the mesh in force while tracing inside.

    >>> from sagax.sharding import AbstractMesh, use_abstract_mesh, get_abstract_mesh
    >>> with use_abstract_mesh(AbstractMesh((4,), ("x",))):
    ...     get_abstract_mesh().shape_tuple
    (('x', 4),)
    """
    checks.instance(
        "use_abstract_mesh",
        "mesh",
        mesh,
        AbstractMesh,
        "an AbstractMesh",
        show=repr,
        fix="use sagax.set_mesh for a mesh of devices",
    )
    return _AbstractContext(mesh)


class _AbstractContext:
    __slots__ = ("_context", "_mesh")

    def __init__(self, mesh: AbstractMesh) -> None:
        self._mesh = mesh
        self._context = meshes.entered(abstract_mesh=None if mesh.empty else mesh)

    def __enter__(self) -> AbstractMesh:
        self._context.__enter__()
        return self._mesh

    @uninterrupted
    def __exit__(self, *_: Any) -> None:
        self._context.__exit__(None, None, None)


# Devices cannot be pickled: unpickling looks them up by platform and id.


def _device_names(devices: Sequence[Any]) -> list[tuple[str, int]]:
    return [(known_devices.backend_of(d).platform, d.id) for d in devices]


def _devices_named(names: Sequence[tuple[str, int]]) -> list[Any]:
    found = []
    for platform, number in names:
        fitting = [d for d in known_devices.backend(platform).devices if d.id == number]
        if not fitting:
            raise ArgumentValueError(
                f"a pickled sharding refers to device {number} of platform {platform!r}, and this "
                f"process has {len(known_devices.backend(platform).devices)} of them",
                fix="unpickle it where the same devices are",
            )
        found += fitting
    return found


def _unpickle_mesh(names: Any, shape: tuple, axis_names: tuple, axis_types: tuple) -> Mesh:
    array = np.empty(len(names), object)
    array[:] = _devices_named(names)
    return Mesh(array.reshape(shape), axis_names, axis_types)


def _unpickle_single(names: Any, memory_kind: str | None) -> SingleDeviceSharding:
    return SingleDeviceSharding(_devices_named(names)[0], memory_kind=memory_kind)


def _reduced_mesh(mesh: Mesh) -> tuple:
    fields = (_device_names(mesh._flat), mesh.devices.shape, mesh.axis_names, mesh.axis_types)
    return _unpickle_mesh, fields


def _reduced_single(sharding: SingleDeviceSharding) -> tuple:
    return _unpickle_single, (_device_names([sharding._device]), sharding._memory_kind)


copyreg.pickle(Mesh, _reduced_mesh)  # type: ignore[arg-type]
copyreg.pickle(SingleDeviceSharding, _reduced_single)  # type: ignore[arg-type]


def make_single_device_sharding(
    device: Any, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """Create the sharding of an array on one device.

    >>> sagax.sharding.make_single_device_sharding(sagax.devices()[0]).num_devices
    1
    """
    return SingleDeviceSharding(device, memory_kind=memory_kind)
