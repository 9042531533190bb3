"""Evaluate SciPy's functions of arrays under tracing, jit and differentiation.

>>> from sagax.scipy import special
>>> special.expit(0.0)
Array(0.5, dtype=float32, weak_type=True)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names

if TYPE_CHECKING:
    from sagax.scipy._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
