"""For libraries that extend sagax: what programs are made of, primitives of one's own, backends, generators.

>>> from sagax.extend.core import Primitive
>>> Primitive("twice")
twice
"""

from __future__ import annotations

import importlib
from types import ModuleType

_PARTS = ("backend", "core", "linear_util", "random", "source_info_util")


def __getattr__(name: str) -> ModuleType:
    """The parts, which are imported when first used."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
