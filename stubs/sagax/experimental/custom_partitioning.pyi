"""Provide `custom_partitioning`: functions with their own sharding rules."""

from sagax._src.api.custom_partitioning import BATCHING as BATCHING
from sagax._src.api.custom_partitioning import CompoundFactor as CompoundFactor
from sagax._src.api.custom_partitioning import SdyShardingRule as SdyShardingRule
from sagax._src.api.custom_partitioning import custom_partitioning as custom_partitioning
from sagax._src.api.custom_partitioning import custom_partitioning_p as custom_partitioning_p
