"""Evaluate SciPy's functions of arrays under tracing, jit and differentiation.

>>> from sagax.scipy import special
>>> special.expit(0.0)
Array(0.5, dtype=float32, weak_type=True)
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """Import the submodules on first use."""
    full = f"{__name__}.{name}"
    if not name.startswith("_") and importlib.util.find_spec(full) is not None:
        return importlib.import_module(full)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
