"""List live arrays, and start host copies of the arrays of a pytree."""

from __future__ import annotations

from typing import Any

from sagax._src import trees
from sagax._src.core.value import Array
from sagax._src.runtime import devices
from sagax._src.runtime.array import existing_arrays


def live_arrays(platform: str | None = None) -> list[Array]:
    """List all arrays that are not deleted, on the devices of `platform` (default: the default
    one).

    Arrays that executables and libraries hold are included. It visits every object of the process,
    so use it only to debug memory use.

    >>> x = snp.arange(3)
    >>> any(y is x for y in sagax.live_arrays())
    True
    """
    selected = devices.backend(platform)
    return [
        x
        for x in existing_arrays()
        if not x.is_deleted() and next(iter(x.devices())).client is selected.client
    ]


def copy_to_host_async(x: Any) -> Any:
    """Start host copies of the arrays of `x`, so that `numpy.asarray` need not wait later. Returns
    `x`.

    >>> sagax.copy_to_host_async({"a": snp.arange(2)})
    {'a': Array([0, 1], dtype=int32)}
    """
    for leaf in trees.leaves(x):
        begin = getattr(leaf, "copy_to_host_async", None)
        if begin is not None:
            begin()
    return x
