"""Extend sagax from libraries: jaxprs, custom primitives, backends, random generators.

>>> from sagax.extend.core import Primitive
>>> Primitive("twice")
twice
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names

if TYPE_CHECKING:
    from sagax.extend._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
