"""Emit sharding constraints on values of the module."""

from __future__ import annotations

from typing import Any

from sagax._src.core.meshes import AxisType
from sagax._src.core.shardings import NamedSharding
from sagax._src.lowering.text import physical


def is_sum(aval: Any) -> bool:
    """Return whether values of a type are unreduced sums."""
    return aval.explicit_sharding is not None and bool(aval.explicit_sharding.spec.unreduced)


def constrained(b: Any, x: Any, sharding: NamedSharding) -> Any:
    """Constrain a value to a sharding.

    The axes of an abstract mesh that are not Explicit may shard it further. A module for one device needs
    no constraint.
    """
    if not b.module.devices:
        return x
    mesh, spec = sharding.mesh, sharding.spec
    manual = frozenset(mesh.manual_axes)
    if spec.unreduced & manual:  # what each device has of its own is part of no sharding
        spec = spec.update(unreduced=spec.unreduced - manual)
    if manual and manual.issuperset(mesh.explicit_axes) and not spec.used_axes():
        return x
    parts = (*spec, *[None] * (physical(x.aval).ndim - len(spec)))
    loose = AxisType.Auto in mesh.axis_types and AxisType.Explicit in mesh.axis_types
    text = b.module.sharding_text(mesh, spec.update(partitions=parts), len(parts), loose)
    return b.op("sdy.sharding_constraint", [x], x.aval, sharding=text)
