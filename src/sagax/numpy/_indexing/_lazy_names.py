"""Name what indexing imports on first use."""

from sagax.numpy._indexing.grids import c_, index_exp, ix_, mgrid, ogrid, r_, s_
from sagax.numpy._indexing.taking import put, put_along_axis, take, take_along_axis
from sagax.numpy._indexing.update import IndexUpdateHelper, IndexUpdateRef
