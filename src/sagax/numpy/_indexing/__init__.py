"""Index arrays by NumPy's rules: reads and functional updates.

`parse` reads what stands between the brackets, `plan` makes one gather or scatter of it, `get` and
`update` carry it out, `host` by NumPy where nothing is traced; `windows` are slices that start at a
traced position; `taking` and `grids` are the functions of NumPy that go with indexing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sagax._src.lazy_import import late_names as _late_names
from sagax.numpy._indexing.get import array_getitem, getitem
from sagax.numpy._indexing.windows import Slice, ds

if TYPE_CHECKING:
    from sagax.numpy._indexing.grids import c_, index_exp, ix_, mgrid, ogrid, r_, s_
    from sagax.numpy._indexing.taking import put, put_along_axis, take, take_along_axis
    from sagax.numpy._indexing.update import IndexUpdateHelper, IndexUpdateRef

__all__ = [
    "IndexUpdateHelper",
    "IndexUpdateRef",
    "Slice",
    "array_getitem",
    "c_",
    "ds",
    "getitem",
    "index_exp",
    "ix_",
    "mgrid",
    "ogrid",
    "put",
    "put_along_axis",
    "r_",
    "s_",
    "take",
    "take_along_axis",
]

_LAZY_FUNCTIONS = {
    "grids": "c_ index_exp ix_ mgrid ogrid r_ s_",
    "taking": "put put_along_axis take take_along_axis",
    "update": "IndexUpdateHelper IndexUpdateRef",
}
__getattr__, __dir__ = _late_names(globals(), _LAZY_FUNCTIONS)
