"""Where libraries register the rules of their own primitives: how to differentiate, batch and compile them.

>>> from sagax.interpreters import ad, batching, mlir
>>> from sagax.extend.core.primitives import sin_p
>>> sin_p in ad.primitive_jvps
True
"""

from __future__ import annotations

import importlib
from types import ModuleType

_PARTS = ("ad", "batching", "mlir", "partial_eval", "pxla", "xla")


def __getattr__(name: str) -> ModuleType:
    """The parts, which are imported when first used."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
