"""Define meshes of devices, and shardings of arrays over them."""

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.config import no_collectives as no_collectives
from sagax._src.core.meshes import AbstractDevice as AbstractDevice
from sagax._src.core.meshes import AbstractMesh as AbstractMesh
from sagax._src.core.meshes import AxisType as AxisType
from sagax._src.core.meshes import ManualAxisType as ManualAxisType
from sagax._src.core.meshes import Mesh as Mesh
from sagax._src.core.meshes import PartitionSpec as PartitionSpec
from sagax._src.core.meshes import UnreducedKind as UnreducedKind
from sagax._src.core.shardings import NamedSharding as NamedSharding
from sagax._src.core.shardings import Sharding as Sharding
from sagax._src.core.shardings import SingleDeviceSharding as SingleDeviceSharding
from sagax._src.runtime.shardings import set_mesh as set_mesh

P = PartitionSpec

def auto_axes(
    f: Callable[..., Any] | None = None, *, axes: Any = None, out_sharding: Any = None
) -> Callable[..., Any]: ...
def explicit_axes(
    f: Callable[..., Any] | None = None, *, axes: Any = None, in_sharding: Any = None
) -> Callable[..., Any]: ...
def get_abstract_mesh() -> AbstractMesh: ...
def get_mesh() -> Mesh: ...
def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[Any],
    axis_types: Sequence[Any] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh: ...
def make_single_device_sharding(
    device: Any, *, memory_kind: str | None = None
) -> SingleDeviceSharding: ...
def reshard(x: Any, out_shardings: Any) -> Any: ...
def use_abstract_mesh(mesh: AbstractMesh) -> Any: ...

use_mesh = set_mesh
