"""Create MLIR contexts: `JaxIrContext`, and `upstream_dialects`, the registry of dialects for it.

>>> from sagax.extend import lowering
>>> context = lowering.JaxIrContext()
>>> context.append_dialect_registry(lowering.upstream_dialects)
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from sagax._src.lowering.mlir_rules import LoweringRuleContext
from sagax._src.xla import bindings

__all__ = ["JaxIrContext", "LoweringRuleContext", "upstream_dialects"]

if TYPE_CHECKING:
    JaxIrContext: Any
    upstream_dialects: Any

_MADE = {
    "JaxIrContext": functools.cache(bindings.context_class),
    "upstream_dialects": functools.cache(bindings.dialects),
}


def __getattr__(name: str) -> Any:
    if name in _MADE:
        return _MADE[name]()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
