"""Provide `shard_map` under its old name; use `sagax.shard_map`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.api import shard_map as shard_map_transform


def shard_map(
    f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Any:
    """Apply `sagax.shard_map` with its old arguments: `check_rep` is `check_vma`.

    >>> from sagax.experimental.shard_map import shard_map
    >>> from sagax.sharding import PartitionSpec as P
    >>> mesh = sagax.make_mesh((1,), ("x",))
    >>> shard_map(lambda x: x * 2, mesh, in_specs=P("x"), out_specs=P("x"))(snp.arange(2))
    Array([0, 2], dtype=int32)
    """
    return shard_map_transform.shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )
