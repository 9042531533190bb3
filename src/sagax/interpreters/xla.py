"""Evaluate primitives eagerly.

>>> from sagax.extend.core.primitives import neg_p
>>> from sagax.interpreters import xla
>>> xla.apply_primitive(neg_p, 2.0)
Array(-2., dtype=float32, weak_type=True)
"""

from __future__ import annotations

from typing import Any

from sagax._src.api.jit import jit
from sagax._src.core.primitive import Primitive

__all__ = ["apply_primitive"]


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Evaluate a primitive by its own executable.

    >>> from sagax.extend.core.primitives import add_p
    >>> xla.apply_primitive(add_p, 1.0, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return jit(lambda *xs: prim.bind(*xs, **params))(*args)
