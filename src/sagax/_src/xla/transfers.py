"""Send arrays between processes by the engine's transfer servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src.xla import engine
from sagax._src.xla.shardings import EngineAval, single_device_sharding


class _TypeOnDevice(EngineAval):
    """A type, with the device that is to have the array."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, device: Any) -> None:
        super().__init__(shape, dtype)
        self.sharding = single_device_sharding(device)


def start_server(client: Any, address: str, transports: Sequence[str]) -> Any:
    """Start a server at an address `host:port`; its attribute `address` tells the port that it got for 0."""
    return engine.xla_extension.start_transfer_server(client, address, list(transports))


def offer(server: Any, number: int, buffers: Sequence[Any]) -> None:
    """Keep buffers until a process pulls them by this number."""
    server._await_pull_flat(number, list(buffers))


def pull(
    connection: Any,
    number: int,
    types: Sequence[tuple[tuple[int, ...], np.dtype, Any]],
) -> list[Any]:
    """Pull the buffers of a number; `types` are their shapes, dtypes and devices here."""
    client = types[0][2].client
    return connection._pull_flat(number, client, [_TypeOnDevice(*t) for t in types])
