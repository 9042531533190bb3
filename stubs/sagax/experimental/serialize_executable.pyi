"""Serialize compiled functions to bytes, for processes on the same kind of machine."""

from collections.abc import Sequence
from typing import Any

from sagax._src.api.stages import CompiledStage

def deserialize_and_load(
    serialized: bytes,
    in_tree: Any,
    out_tree: Any,
    backend: str | None = None,
    execution_devices: Sequence[Any] | None = None,
) -> CompiledStage: ...
def serialize(compiled: Any) -> tuple[bytes, Any, Any]: ...
