"""Convert shardings of XLA from and to bytes.

>>> from sagax.extend import sharding
>>> sharding.get_hlo_sharding_from_serialized_proto(bytes.fromhex("0800"))
{replicated}
"""

from __future__ import annotations

from typing import Any

from sagax._src.xla import bindings

__all__ = [
    "get_hlo_sharding_from_serialized_proto",
    "get_op_sharding_from_serialized_proto",
    "get_serialized_proto_from_hlo_sharding",
]


def get_op_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """Read XLA's `OpSharding` from bytes.

    >>> found = sharding.get_hlo_sharding_from_serialized_proto(bytes.fromhex("0800"))
    >>> data = sharding.get_serialized_proto_from_hlo_sharding(found)
    >>> str(sharding.get_op_sharding_from_serialized_proto(data).type)
    'Type.REPLICATED'
    """
    return bindings.op_sharding(sharding)


def get_hlo_sharding_from_serialized_proto(sharding: bytes) -> Any:
    """Read XLA's `HloSharding` from bytes.

    >>> sharding.get_hlo_sharding_from_serialized_proto(bytes.fromhex("0800")).is_replicated()
    True
    """
    return bindings.hlo_sharding(sharding)


def get_serialized_proto_from_hlo_sharding(sharding: Any) -> bytes:
    """Write XLA's `HloSharding` as bytes.

    >>> found = sharding.get_hlo_sharding_from_serialized_proto(bytes.fromhex("0800"))
    >>> isinstance(sharding.get_serialized_proto_from_hlo_sharding(found), bytes)
    True
    """
    return sharding.to_proto().SerializeToString()
