"""Provide `custom_partitioning`: functions with their own sharding rules."""

from sagax._src.api.custom_partitioning import (
    BATCHING,
    CompoundFactor,
    SdyShardingRule,
    custom_partitioning,
    custom_partitioning_p,
)
