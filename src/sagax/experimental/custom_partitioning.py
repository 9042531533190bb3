"""Functions that tell themselves how devices share their work."""

from __future__ import annotations

from sagax._src.api.custom_partitioning import (
    BATCHING,
    CompoundFactor,
    SdyShardingRule,
    custom_partitioning,
    custom_partitioning_p,
)

__all__ = [
    "BATCHING",
    "CompoundFactor",
    "SdyShardingRule",
    "custom_partitioning",
    "custom_partitioning_p",
]
