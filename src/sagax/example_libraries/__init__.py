"""Small libraries that show how one may be built: `optimizers` and `stax` (networks).

They are examples, and complete enough for small programs; for larger ones there are optax and flax.

>>> from sagax.example_libraries import optimizers
>>> init, update, get = optimizers.sgd(0.1)
>>> float(get(update(0, 2.0, init(1.0))))
0.8
"""

from __future__ import annotations

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """The parts, which are imported when first used."""
    if name in ("optimizers", "stax"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
