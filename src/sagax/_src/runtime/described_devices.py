"""Describe the devices of a mesh without devices, so that jaxprs can be lowered for them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.core.jaxpr import Jaxpr, subjaxprs
from sagax._src.core.meshes import AbstractMesh, Mesh
from sagax._src.core.shardings import NamedSharding, ShardingError
from sagax._src.runtime import devices
from sagax._src.runtime.placements import Placement, interned, meshes_in


class DescribedDevice:
    """A device that is only described. Jaxprs can be lowered for it, and not run."""

    platform = "cpu"
    device_kind = "planned"
    process_index = 0

    def __init__(self, number: int, client: Any) -> None:
        self.id = number
        self.client = client  # of the CPU, which estimates costs

    def __repr__(self) -> str:
        return f"planned:{self.id}"


@functools.lru_cache(maxsize=8)
def _described(count: int, client: Any) -> tuple[DescribedDevice, ...]:
    return tuple([DescribedDevice(i, client) for i in range(count)])


def described_mesh(mesh: Mesh | AbstractMesh) -> Mesh:
    """Return a mesh of described devices with the axes of `mesh`."""
    array = np.empty(mesh.size, object)
    array[:] = _described(mesh.size, devices.backend("cpu").client)
    return Mesh(array.reshape(mesh.axis_sizes), mesh.axis_names, mesh.axis_types)


def is_described(target: Any) -> bool:
    """Return whether a placement has devices that are only described."""
    return isinstance(target, Placement) and isinstance(target.devices[0], DescribedDevice)


def is_abstract(sharding: Any) -> bool:
    """Return whether a sharding is over a mesh without devices."""
    return isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh)


def common_mesh(shardings: Sequence[Any], jaxpr: Jaxpr) -> Mesh:
    """Return the mesh that stands for the abstract ones among the shardings; one of them is.

    It is a mesh of devices that another sharding or the jaxpr names, else one of described devices.
    """
    named = [s for s in shardings if isinstance(s, NamedSharding)]
    abstract = dict.fromkeys([s.mesh for s in named if is_abstract(s)])
    first, *others = abstract
    for other in others:
        if other.size != first.size:
            raise ShardingError(
                "AbstractMesh should be of the same size across all shardings",
                got=f"{first!r} and {other!r}",
                fix="use one mesh for all arguments and results",
            )
    concrete = [s.mesh for s in named if isinstance(s.mesh, Mesh)]
    for mesh in (*concrete, *meshes_in(jaxpr)):
        if mesh.size == first.size:
            return mesh
    return described_mesh(first)


def mapped_mesh(jaxpr: Jaxpr) -> AbstractMesh | None:
    """Return the first abstract mesh of several devices that a jaxpr maps over, at any depth; None without one."""
    for eqn in jaxpr.eqns:
        if not eqn.primitive.is_higher_order:
            continue
        mesh = eqn.params.get("mesh")
        if isinstance(mesh, AbstractMesh) and mesh.size > 1:
            return mesh
        for inner in subjaxprs(eqn.params):
            found = mapped_mesh(inner)
            if found is not None:
                return found
    return None


def on_mesh(sharding: Any, mesh: Mesh) -> Any:
    """Return a sharding over an abstract mesh as one over the devices of `mesh`; others as they are."""
    if not is_abstract(sharding):
        return sharding
    own = sharding.mesh
    if own.shape_tuple != mesh.shape_tuple:  # the same devices, under other names
        mesh = Mesh(mesh.devices.reshape(own.axis_sizes), own.axis_names, own.axis_types)
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding._memory_kind)


def on_devices(target: Placement, assigned: Sequence[Any]) -> Placement:
    """Return a placement on described devices as one on as many devices."""
    if len(assigned) != len(target.devices):
        raise ShardingError(
            "device_assignment has another number of devices than the mesh",
            function="compile",
            argument="device_assignment",
            got=len(assigned),
            expected=len(target.devices),
        )
    mesh = with_devices(target.mesh, assigned)
    return interned(mesh._flat, mesh, tuple([moved(s, assigned) for s in target.shardings]))


def moved(sharding: Any, assigned: Sequence[Any]) -> Any:
    """Return a sharding over a described mesh as one over the assigned devices."""
    if not isinstance(sharding, NamedSharding):
        return sharding
    mesh = with_devices(sharding.mesh, assigned)
    return NamedSharding(mesh, sharding.spec, memory_kind=sharding._memory_kind)


def with_devices(mesh: Any, assigned: Sequence[Any]) -> Mesh:
    """Return a mesh of the same axes over the assigned devices."""
    array = np.empty(len(assigned), object)
    array[:] = list(assigned)
    return Mesh(array.reshape(mesh.axis_sizes), mesh.axis_names, mesh.axis_types)
