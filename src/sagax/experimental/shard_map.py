"""`shard_map` where it used to be; `sagax.shard_map` is the function to use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.api import shard_map as shard_map_transform


def shard_map(f: Callable, mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True) -> Any:
    """`sagax.shard_map` with the arguments it had at first: `check_rep` is `check_vma`.

    >>> import sagax, sagax.numpy as np
    >>> from sagax.experimental.shard_map import shard_map
    >>> from sagax.sharding import PartitionSpec as P
    >>> mesh = sagax.make_mesh((1,), ("x",))
    >>> shard_map(lambda x: x * 2, mesh, in_specs=P("x"), out_specs=P("x"))(np.arange(2))
    Array([0, 2], dtype=int32)
    """
    return shard_map_transform.shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )
