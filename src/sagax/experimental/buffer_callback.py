"""Call Python functions that write their results into buffers of the running executable.

>>> from sagax.experimental.buffer_callback import buffer_callback
>>> def add_one(ctx, out, x):
...     np.asarray(out)[...] = np.asarray(x) + 1
>>> f = buffer_callback(add_one, sagax.ShapeDtypeStruct((), "int32"))
>>> f(snp.int32(41))
Array(42, dtype=int32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sagax._src.callbacks.buffer_callbacks import buffer_callback
from sagax._src.xla import bindings

__all__ = ["Buffer", "ExecutionContext", "ExecutionStage", "buffer_callback"]

if TYPE_CHECKING:
    Buffer: Any
    ExecutionContext: Any
    ExecutionStage: Any


def __getattr__(name: str) -> Any:
    if name in ("Buffer", "ExecutionContext", "ExecutionStage"):
        return getattr(bindings.buffer_types(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
