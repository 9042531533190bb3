"""Evaluate primitives eagerly.

>>> from sagax.extend.core.primitives import neg_p
>>> from sagax.interpreters import xla
>>> xla.apply_primitive(neg_p, 2.0)
Array(-2., dtype=float32, weak_type=True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sagax.numpy as snp
from sagax._src.api.jit import jit
from sagax._src.core.primitive import Primitive

__all__ = ["apply_primitive", "canonicalize_dtype_handlers"]

# The functions that convert values of a class to arrays or numbers with a dtype that is allowed. Libraries add
# their own classes, with the function of `numpy.ndarray` for instance.
canonicalize_dtype_handlers: dict[type, Any] = dict.fromkeys(
    (np.ndarray, np.generic, bool, int, float, complex), snp.asarray
)


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """Evaluate a primitive by its own executable.

    >>> from sagax.extend.core.primitives import add_p
    >>> xla.apply_primitive(add_p, 1.0, 2.0)
    Array(3., dtype=float32, weak_type=True)
    """
    return jit(lambda *xs: prim.bind(*xs, **params))(*args)
