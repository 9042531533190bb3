"""Where libraries register the rules of their own primitives: how to differentiate, batch and compile them.

>>> from sagax.interpreters import ad, batching, mlir
>>> from sagax.extend.core.primitives import sin_p
>>> sin_p in ad.primitive_jvps
True
"""

from __future__ import annotations

from sagax._src.lazy_import import late_names as _late_names

_PARTS = ("ad", "batching", "mlir", "partial_eval", "pxla", "xla")

__getattr__, __dir__ = _late_names(globals(), parts=_PARTS)
