"""Update by index: deprecated names for the methods of `x.at[index]`."""

from __future__ import annotations

import warnings
from typing import Any

from sagax._src.core.value import Array
from sagax._src.diagnostics.wording import bilingual
from sagax.numpy._base import as_array
from sagax.numpy._indexing import IndexUpdateRef


class _Index:
    """`index[...]` returns its index, to be used later."""

    def __getitem__(self, index: Any) -> Any:
        return index

    def __repr__(self) -> str:
        return "index"


index = _Index()


def _deprecated_update(name: str, method: str, result: str, example: str):
    """Make a function that calls a method of `x.at[idx]`; `result` is `x[idx]` afterwards."""

    def update(
        x: Any,
        idx: Any,
        y: Any,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Array:
        text = f"ops.{name}(x, idx, y) is deprecated: write x.at[idx].{method}(y)"
        warnings.warn(bilingual(text), DeprecationWarning, stacklevel=2)
        ref = IndexUpdateRef(as_array(name, x), idx)
        return getattr(ref, method)(
            y, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode
        )

    call, _, shown = example.partition(" -> ")
    update.__name__ = update.__qualname__ = name
    update.__doc__ = f"""Return a copy of `x` in which `x[idx]` is {result}. Deprecated: write `x.at[idx].{method}(y)`.

    >>> import warnings
    >>> from sagax import ops
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ops.{name}({call})
    {shown}
    """
    return update


index_update = _deprecated_update(
    "index_update",
    "set",
    "`y`",
    "snp.arange(4), ops.index[1:3], 7 -> Array([0, 7, 7, 3], dtype=int32)",
)
index_add = _deprecated_update(
    "index_add",
    "add",
    "increased by `y`",
    "snp.arange(4), 0, 7 -> Array([7, 1, 2, 3], dtype=int32)",
)
index_mul = _deprecated_update(
    "index_mul",
    "multiply",
    "multiplied by `y`",
    "snp.arange(4), -1, 7 -> Array([ 0,  1,  2, 21], dtype=int32)",
)
index_min = _deprecated_update(
    "index_min",
    "min",
    "the lesser of itself and `y`",
    "snp.arange(4), -1, 2 -> Array([0, 1, 2, 2], dtype=int32)",
)
index_max = _deprecated_update(
    "index_max",
    "max",
    "the greater of itself and `y`",
    "snp.arange(4), 0, 2 -> Array([2, 1, 2, 3], dtype=int32)",
)
