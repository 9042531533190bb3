"""Export jitted functions as StableHLO, with symbolic shapes."""

from collections.abc import Callable, Sequence
from typing import Any

from sagax._src.api.export import DisabledSafetyCheck as DisabledSafetyCheck
from sagax._src.api.export import Exported as Exported
from sagax._src.api.export import (
    maximum_supported_calling_convention_version as maximum_supported_calling_convention_version,
)
from sagax._src.api.export import (
    minimum_supported_calling_convention_version as minimum_supported_calling_convention_version,
)
from sagax._src.core.dims.scope import SymbolicScope as SymbolicScope

def default_export_platform() -> str: ...
def deserialize(blob: bytes | bytearray) -> Exported: ...
def export(
    fun_jit: Any,
    *,
    platforms: Sequence[str] | None = None,
    disabled_checks: Sequence[DisabledSafetyCheck] = (),
    strict: bool = False,
) -> Callable[..., Exported]: ...
def is_symbolic_dim(p: Any) -> bool: ...
def register_namedtuple_serialization(nodetype: type, *, serialized_name: str) -> type: ...
def register_pytree_node_serialization(
    nodetype: type,
    *,
    serialized_name: str,
    serialize_auxdata: Callable[[Any], bytes],
    deserialize_auxdata: Callable[[bytes], Any],
    from_children: Callable[[Any, Sequence[Any]], Any] | None = None,
) -> type: ...
def symbolic_args_specs(
    args: Any,
    shapes_specs: Any,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
) -> Any: ...
def symbolic_dim_bounds(dimension: Any) -> tuple[int | float, int | float]: ...
def symbolic_shape(
    shape_spec: str | None,
    *,
    constraints: Sequence[str] = (),
    scope: SymbolicScope | None = None,
    like: Sequence[Any] | None = None,
) -> tuple[int, ...]: ...
