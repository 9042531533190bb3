"""Define meshes of devices, and shardings of arrays over them.

>>> import sagax
>>> from sagax.sharding import NamedSharding, PartitionSpec as P
>>> mesh = sagax.make_mesh((1,), ("x",))
>>> NamedSharding(mesh, P("x"))
NamedSharding(mesh=Mesh('x': 1, axis_types=(Explicit,)), spec=P('x',))
"""

from sagax._src.api.resharding import auto_axes, explicit_axes, reshard
from sagax._src.config import no_collectives
from sagax._src.core.meshes import (
    AbstractDevice,
    AbstractMesh,
    AxisType,
    ManualAxisType,
    Mesh,
    PartitionSpec,
    UnreducedKind,
    get_abstract_mesh,
)
from sagax._src.core.shardings import NamedSharding, Sharding, SingleDeviceSharding
from sagax._src.runtime.shardings import (
    get_mesh,
    make_mesh,
    make_single_device_sharding,
    set_mesh,
    use_abstract_mesh,
)

P = PartitionSpec
use_mesh = set_mesh
