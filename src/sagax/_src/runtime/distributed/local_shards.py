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
    """Return the sub-mesh of this process's devices, memoized."""
    found = mesh.facts.get("local mesh")
    if found is None:
        found = mesh.facts["local mesh"] = mesh.local_mesh
    return found


def local_to_global(x: Any, mesh: Mesh, spec: PartitionSpec) -> ConcreteArray:
    """Return the array over all devices of the mesh whose local part is `x`."""
    if isinstance(x, ConcreteArray) and not x.is_fully_addressable:
        return x
    whole = NamedSharding(mesh, spec)
    if not isinstance(x, ConcreteArray):
        x = np.asarray(x)
    if not mesh.is_multi_process:
        return put(x, whole)
    mine = NamedSharding(local_mesh(mesh), spec)
    return _reassemble(put(x, mine), mine, whole)


def global_to_local(x: Any, mesh: Mesh, spec: PartitionSpec) -> ConcreteArray:
    """Return the local part of an array that is sharded over the mesh by `spec`."""
    whole = NamedSharding(mesh, spec)
    x = put(x, whole)
    if not mesh.is_multi_process:
        return x
    return _reassemble(x, whole, NamedSharding(local_mesh(mesh), spec))


def _reassemble(x: ConcreteArray, have: NamedSharding, wanted: NamedSharding) -> ConcreteArray:
    """Return the array over another mesh from the shards that its devices have of `x`."""
    part = have.shard_shape(x.shape)
    sizes = wanted.mesh.shape
    shape = [n * math.prod([sizes[a] for a in wanted.spec.axes(i)]) for i, n in enumerate(part)]
    return make_array_from_single_device_arrays(
        shape, wanted, [s.data for s in x.addressable_shards]
    )
