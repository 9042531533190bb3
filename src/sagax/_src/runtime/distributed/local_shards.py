"""Convert between arrays of several processes and their local shards, without copies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sagax._src.core.meshes import Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.runtime.array import ConcreteArray
from sagax._src.runtime.device_put import make_array_from_single_device_arrays, put


def local_mesh(mesh: Mesh) -> Mesh:
    """The part of the mesh whose devices belong to this process; found once."""
    found = mesh.facts.get("local mesh")
    if found is None:
        found = mesh.facts["local mesh"] = mesh.local_mesh
    return found


def local_to_global(x: Any, mesh: Mesh, spec: PartitionSpec) -> ConcreteArray:
    """The array over all devices of the mesh of which `x` is what this process has."""
    if isinstance(x, ConcreteArray) and not x.is_fully_addressable:
        return x
    whole = NamedSharding(mesh, spec)
    if not isinstance(x, ConcreteArray):
        x = np.asarray(x)
    if not mesh.is_multi_process:
        return put(x, whole)
    mine = NamedSharding(local_mesh(mesh), spec)
    return _made_of(put(x, mine), mine, whole)


def global_to_local(x: Any, mesh: Mesh, spec: PartitionSpec) -> ConcreteArray:
    """What this process has of an array that is divided over the mesh as `spec` says."""
    whole = NamedSharding(mesh, spec)
    x = put(x, whole)
    if not mesh.is_multi_process:
        return x
    return _made_of(x, whole, NamedSharding(local_mesh(mesh), spec))


def _made_of(x: ConcreteArray, have: NamedSharding, wanted: NamedSharding) -> ConcreteArray:
    """The array over another mesh whose devices have the parts that they have of `x`."""
    part = have.shard_shape(x.shape)
    sizes = wanted.mesh.shape
    shape = [n * math.prod([sizes[a] for a in wanted.spec.axes(i)]) for i, n in enumerate(part)]
    return make_array_from_single_device_arrays(
        shape, wanted, [s.data for s in x.addressable_shards]
    )


__all__ = ["global_to_local", "local_mesh", "local_to_global"]
