"""Create, read and write references: mutable arrays.

`sagax.new_ref` creates one. Inside of `jit`, control flow and transformations, its reads and writes keep the
order in which the function runs them.
"""

from sagax._src.core.references import AbstractRef, Ref
from sagax._src.primitives.references import empty_ref, free_ref, freeze, new_ref
from sagax._src.primitives.references import ref_addupdate as addupdate
from sagax._src.primitives.references import ref_get as get
from sagax._src.primitives.references import ref_set as set
from sagax._src.primitives.references import ref_swap as swap

__all__ = [
    "AbstractRef",
    "Ref",
    "addupdate",
    "empty_ref",
    "free_ref",
    "freeze",
    "get",
    "new_ref",
    "set",
    "swap",
]
