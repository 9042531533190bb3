"""List live arrays, and start host copies of the arrays of a pytree."""

from __future__ import annotations

import gc
from typing import Any

from sagax._src import trees
from sagax._src.core.value import Array
from sagax._src.runtime import devices
from sagax._src.runtime.array import ConcreteArray


def live_arrays(platform: str | None = None) -> list[Array]:
    """All arrays that exist and are not deleted, on the devices of `platform` (default: the default one).

    Those that compiled programs and libraries hold are among them. It looks at every object of the
    process: for finding out what fills the memory, not for programs in earnest.

    >>> x = snp.arange(3)
    >>> any(y is x for y in sagax.live_arrays())
    True
    """
    wanted = devices.backend(platform)
    found = [x for x in gc.get_objects() if type(x) is ConcreteArray and not x.is_deleted()]
    return [x for x in found if next(iter(x.devices())).client is wanted.client]


def copy_to_host_async(x: Any) -> Any:
    """`x`, with the copies of its arrays to the host begun, so that `numpy.asarray` finds them done later.

    >>> sagax.copy_to_host_async({"a": snp.arange(2)})
    {'a': Array([0, 1], dtype=int32)}
    """
    for leaf in trees.leaves(x):
        begin = getattr(leaf, "copy_to_host_async", None)
        if begin is not None:
            begin()
    return x
