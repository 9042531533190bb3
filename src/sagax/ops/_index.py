"""The indexed updates of older programs: deprecated names for the methods of `x.at[index]`."""

from __future__ import annotations

import warnings
from typing import Any

from sagax._src.core.value import Array
from sagax.numpy._base import as_array
from sagax.numpy._indexing import IndexUpdateRef


class _Index:
    """`index[...]` gives what stands in the brackets, to be kept and used as an index later."""

    def __getitem__(self, index: Any) -> Any:
        return index

    def __repr__(self) -> str:
        return "index"


index = _Index()


def _updated(
    name: str, method: str, x: Any, idx: Any, y: Any, is_sorted: bool, is_unique: bool, mode: Any
) -> Array:
    warnings.warn(
        f"ops.{name}(x, idx, y) is deprecated: write x.at[idx].{method}(y)",
        DeprecationWarning,
        stacklevel=3,
    )
    ref = IndexUpdateRef(as_array(name, x), idx)
    return getattr(ref, method)(
        y, indices_are_sorted=is_sorted, unique_indices=is_unique, mode=mode
    )


def index_update(
    x: Any,
    idx: Any,
    y: Any,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """A copy of `x` in which `x[idx]` is `y`. Deprecated: write `x.at[idx].set(y)`.

    >>> import warnings
    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ops.index_update(snp.arange(4), ops.index[1:3], 7)
    Array([0, 7, 7, 3], dtype=int32)
    """
    return _updated("index_update", "set", x, idx, y, indices_are_sorted, unique_indices, mode)


def index_add(
    x: Any,
    idx: Any,
    y: Any,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """A copy of `x` in which `y` is added to `x[idx]`. Deprecated: write `x.at[idx].add(y)`.

    >>> import warnings
    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ops.index_add(snp.arange(4), 0, 7)
    Array([7, 1, 2, 3], dtype=int32)
    """
    return _updated("index_add", "add", x, idx, y, indices_are_sorted, unique_indices, mode)


def index_mul(
    x: Any,
    idx: Any,
    y: Any,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """A copy of `x` in which `x[idx]` is multiplied by `y`. Deprecated: write `x.at[idx].multiply(y)`.

    >>> import warnings
    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ops.index_mul(snp.arange(4), -1, 7)
    Array([ 0,  1,  2, 21], dtype=int32)
    """
    return _updated("index_mul", "multiply", x, idx, y, indices_are_sorted, unique_indices, mode)


def index_min(
    x: Any,
    idx: Any,
    y: Any,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """A copy of `x` where `x[idx]` is the lesser of itself and `y`. Deprecated: write `x.at[idx].min(y)`.

    >>> import warnings
    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ops.index_min(snp.arange(4), -1, 2)
    Array([0, 1, 2, 2], dtype=int32)
    """
    return _updated("index_min", "min", x, idx, y, indices_are_sorted, unique_indices, mode)


def index_max(
    x: Any,
    idx: Any,
    y: Any,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    mode: Any = None,
) -> Array:
    """A copy of `x` where `x[idx]` is the greater of itself and `y`. Deprecated: write `x.at[idx].max(y)`.

    >>> import warnings
    >>> import sagax.numpy as snp
    >>> from sagax import ops
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ops.index_max(snp.arange(4), 0, 2)
    Array([2, 1, 2, 3], dtype=int32)
    """
    return _updated("index_max", "max", x, idx, y, indices_are_sorted, unique_indices, mode)
