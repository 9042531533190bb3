"""Modules of the standard library that few programs need: loaded when something of them is first used.

`import sagax` would otherwise load what only programs of several processes use (asyncio brings TLS).
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

__all__ = ["later"]


def later(name: str) -> ModuleType:
    """The module of that name, whose code runs when its first attribute is asked for."""
    found = sys.modules.get(name)
    if found is not None:
        return found
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
