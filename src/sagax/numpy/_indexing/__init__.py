"""Index arrays by NumPy's rules: reads and functional updates.

`parse` reads what stands between the brackets, `plan` makes one gather or scatter of it, `get` and
`update` carry it out, `host` by NumPy where nothing is traced; `windows` are slices that start at a
traced position; `taking` and `grids` are the functions of NumPy that go with indexing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import lazy_names as _lazy_names
from sagax.numpy._indexing.get import array_getitem, getitem
from sagax.numpy._indexing.windows import Slice, ds

if TYPE_CHECKING:
    from sagax.numpy._indexing._lazy_names import *
else:
    __getattr__, __dir__ = _lazy_names(__name__)
