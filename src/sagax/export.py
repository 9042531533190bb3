"""Export jitted functions as StableHLO, with symbolic shapes.

>>> import sagax
>>> import sagax.numpy as snp
>>> from sagax import export
>>> rows, = export.symbolic_shape("rows")
>>> specification = sagax.ShapeDtypeStruct((rows, 2), "float32")
>>> exported = export.export(sagax.jit(lambda x: snp.sin(x).sum(axis=1)))(specification)
>>> blob = exported.serialize()
>>> export.deserialize(blob).call(snp.zeros((3, 2)))
Array([0., 0., 0.], dtype=float32)
"""

from sagax._src.api.export import (
    DisabledSafetyCheck,
    Exported,
    default_export_platform,
    deserialize,
    export,
    is_symbolic_dim,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
    symbolic_args_specs,
    symbolic_dim_bounds,
)
from sagax._src.api.export_format import (
    register_namedtuple_serialization,
    register_pytree_node_serialization,
)
from sagax._src.core.dims import SymbolicScope, symbolic_shape
