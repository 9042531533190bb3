"""Register rules of custom primitives: differentiation, batching and lowering.

>>> from sagax.interpreters import ad, batching, mlir
>>> from sagax.extend.core.primitives import sin_p
>>> sin_p in ad.primitive_jvps
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names

if TYPE_CHECKING:
    from sagax.interpreters._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
