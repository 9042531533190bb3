"""For libraries that extend sagax: what programs are made of, primitives of one's own, backends, generators.

>>> from sagax.extend.core import Primitive
>>> Primitive("twice")
twice
"""

from __future__ import annotations

from sagax._src.lazy_import import late_names as _late_names

_PARTS = ("backend", "core", "linear_util", "random", "source_info_util")

__getattr__, __dir__ = _late_names(globals(), parts=_PARTS)
