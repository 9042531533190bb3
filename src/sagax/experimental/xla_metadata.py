"""Mark operations with attributes that XLA reads, to steer fusion and scheduling.

>>> from sagax.experimental import xla_metadata
>>> f = xla_metadata.xla_metadata_call(lambda x: snp.sin(x) * 2, group="a")
>>> 'group = "a"' in sagax.jit(f).lower(1.0).as_text()
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.higher_order.marked_calls import (
    MarkedBlock,
    set_xla_metadata,
    xla_metadata_call,
    xla_metadata_call2,
)

__all__ = [
    "fuse_limit",
    "must_fuse_call",
    "set_xla_metadata",
    "xla_metadata_call",
    "xla_metadata_call2",
]


def fuse_limit() -> MarkedBlock:
    """Context manager: XLA fuses operations inside with none outside.

    >>> def f(x):
    ...     with xla_metadata.fuse_limit():
    ...         return snp.sin(x)
    >>> "FUSE_LIMIT" in sagax.jit(f).lower(1.0).as_text()
    True
    """
    return set_xla_metadata(FUSE_LIMIT=True)


def must_fuse_call(identifier: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: XLA must fuse all operations of the function into one, or fail to compile.

    The CPU ignores it.

    Args:
      identifier: the number of the fusion, as a string.

    >>> f = xla_metadata.must_fuse_call("1")(lambda x: snp.square(x).sum())
    >>> float(sagax.jit(f)(snp.ones(3)))
    3.0
    """
    return xla_metadata_call(MUST_FUSE=identifier)
