"""Emit sharding constraints on values of the module."""

from __future__ import annotations

from typing import Any

from sagax._src.core.meshes import AxisType
from sagax._src.core.shardings import NamedSharding
from sagax._src.lowering.text import physical


def constrained(b: Any, x: Any, sharding: NamedSharding) -> Any:
    """Constrain a value to a sharding.

    The axes of an abstract mesh that are not Explicit may shard it further. A module for one device needs
    no constraint.
    """
    if not b.module.devices:
        return x
    mesh, spec = sharding.mesh, sharding.spec
    parts = (*spec, *[None] * (physical(x.aval).ndim - len(spec)))
    loose = AxisType.Auto in mesh.axis_types and AxisType.Explicit in mesh.axis_types
    text = b.module.sharding_text(mesh, spec.update(partitions=parts), len(parts), loose)
    return b.op("sdy.sharding_constraint", [x], x.aval, sharding=text)
