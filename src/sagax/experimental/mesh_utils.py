"""Arrange devices for a mesh, so that neighbors in the mesh are near each other.

>>> import sagax
>>> from sagax.experimental import mesh_utils
>>> mesh_utils.create_device_mesh((sagax.device_count(), 1)).shape == (sagax.device_count(), 1)
True
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.runtime import devices as _devices

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Create an array of devices of the given shape, for `Mesh`.

    CPUs and GPUs are taken in their order, those of one process side by side along the last axes.
    `contiguous_submeshes` and `allow_split_physical_axes` concern grids of TPUs and change nothing.

    Raises ArgumentValueError if there are more or fewer devices than positions.

    >>> import sagax
    >>> from sagax.experimental import mesh_utils
    >>> mesh_utils.create_device_mesh((1, 1), sagax.devices()[:1]).shape
    (1, 1)
    """
    found = list(_devices.devices() if devices is None else devices)
    shape = tuple(mesh_shape)
    if math.prod(shape) != len(found):
        raise ArgumentValueError(
            f"Number of devices {len(found)} must equal the product of mesh_shape {shape}",
            function="create_device_mesh",
            fix=f"choose sizes whose product is {len(found)}, or pass devices=sagax.devices()"
            f"[:{math.prod(shape)}]"
            if math.prod(shape) < len(found)
            else f"choose sizes whose product is {len(found)}",
        )
    return _arrange(found, shape)


def _arrange(found: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    flat = np.empty(len(found), object)
    flat[:] = found
    return flat.reshape(shape)


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray:
    """Create an array of devices for machines whose network is slower than their device links.

    Each axis of the mesh has `mesh_shape[i]` devices within a group (the fast part), times
    `dcn_mesh_shape[i]` groups (the slow part).

    Args:
      mesh_shape: the shape of the mesh within a group.
      dcn_mesh_shape: the number of groups along each axis; as long as `mesh_shape`.
      devices: the devices; by default all.
      process_is_granule: group devices by process; by default they are grouped by `slice_index`.
      should_sort_granules_by_key: order the groups by number; otherwise by first occurrence.
      allow_split_physical_axes: for grids of TPUs; ignored.

    Raises ArgumentValueError if the groups do not fill the mesh.

    >>> import sagax
    >>> from sagax.experimental import mesh_utils
    >>> mesh_utils.create_hybrid_device_mesh(
    ...     (1, 1), (1, 1), sagax.devices()[:1], process_is_granule=True
    ... ).shape
    (1, 1)
    """
    found = list(_devices.devices() if devices is None else devices)
    inner, outer = tuple(mesh_shape), tuple(dcn_mesh_shape)
    if len(inner) != len(outer):
        raise ArgumentValueError(
            function="create_hybrid_device_mesh",
            argument="dcn_mesh_shape",
            expected=f"as many sizes as mesh_shape, {len(inner)}",
            got=outer,
        )
    attribute = "process_index" if process_is_granule else "slice_index"
    groups: dict[Any, list[Any]] = {}
    for device in found:
        if not hasattr(device, attribute):
            raise ArgumentValueError(
                f"Device {device} does not have attribute {attribute}. See `process_is_granule` option.",
                function="create_hybrid_device_mesh",
                fix="pass process_is_granule=True",
            )
        groups.setdefault(getattr(device, attribute), []).append(device)
    if len(groups) != math.prod(outer):
        raise ArgumentValueError(
            f"Number of slices {len(groups)} must equal the product of dcn_mesh_shape {outer}",
            function="create_hybrid_device_mesh",
            fix=f"choose sizes whose product is {len(groups)}",
        )
    keys = sorted(groups) if should_sort_granules_by_key else list(groups)
    result = np.empty(tuple(a * b for a, b in zip(outer, inner)), object)
    for key, at in zip(keys, np.ndindex(*outer)):
        block = tuple(slice(i * n, (i + 1) * n) for i, n in zip(at, inner))
        result[block] = create_device_mesh(inner, groups[key])
    return result
