"""Describe machines to compile for: their devices, and meshes of them.

>>> from sagax.experimental import topologies
>>> topology = topologies.get_attached_topology()
>>> mesh = topologies.make_mesh(topology, (len(topology.devices),), ("x",))
>>> mesh.axis_names
('x',)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.core.meshes import AxisType, Mesh
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.runtime import devices
from sagax._src.xla import bindings
from sagax.experimental import mesh_utils

__all__ = ["TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]


class TopologyDescription:
    """The devices of a machine, attached or only described.

    >>> data = topologies.get_attached_topology().serialize()
    >>> isinstance(data, bytes)
    True
    """

    def __init__(self, devices: list[Any]) -> None:
        self.devices = devices

    def serialize(self) -> bytes:
        """Write the description as bytes."""
        return bindings.serialized_topology(self.devices)

    @classmethod
    def deserialize(cls, serialized: bytes) -> TopologyDescription:
        """Read a description: devices that can be compiled for, but hold no arrays."""
        return cls(bindings.described_devices(serialized))


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """Describe the devices of this process's machine.

    >>> topologies.get_attached_topology().devices == sagax.devices()
    True
    """
    return TopologyDescription(devices.devices(platform))


def get_topology_desc(
    topology_name: str = "", platform: str | None = None, **kwargs: Any
) -> TopologyDescription:
    """Describe a machine with NVIDIA's GPUs, to compile for it where there is none.

    Args:
      topology_name: "a100", "h100" or "h200"; or empty, with `target_config` or on a machine with GPUs.
      platform: "cuda" or "gpu".
      topology: "1x1x8" for eight devices of one process: slices x processes x devices.
      target_config: a GPU as text of XLA's `GpuTargetConfigProto`, in place of the name.

    The plugin must be installed, a driver need not be: compile with `in_shardings` over a mesh of the devices. XLA
    cannot measure kernels on a machine without that GPU, so it takes its default ones. Raises UnsupportedError, a
    NotImplementedError, for other platforms, and BackendError without a plugin that fits.

    >>> try:
    ...     topologies.get_topology_desc("", "cpu")
    ... except NotImplementedError:
    ...     print("not supported")
    not supported
    """
    name = "tpu" if platform is None else platform
    if name in ("cuda", "gpu"):
        return TopologyDescription(devices.described_gpus(topology_name, kwargs))
    raise UnsupportedError(
        f"a topology by name for the platform {name!r}",
        function="get_topology_desc",
        argument="platform",
        fix="use get_attached_topology(), or TopologyDescription.deserialize of bytes from such a machine",
    )


def make_mesh(
    topo: TopologyDescription,
    mesh_shape: Sequence[int],
    axis_names: tuple[str, ...],
    *,
    contiguous_submeshes: bool = False,
) -> Mesh:
    """Return a mesh of the devices of a machine; its axes are Auto.

    >>> topologies.make_mesh(topologies.get_attached_topology("cpu"), (1,), ("x",)).shape["x"]
    1
    """
    found = mesh_utils.create_device_mesh(
        mesh_shape, list(topo.devices), contiguous_submeshes=contiguous_submeshes
    )
    return Mesh(found, axis_names, axis_types=(AxisType.Auto,) * len(axis_names))
