"""Send arrays from one process to another, without a common program.

A process offers arrays under a number, and another one that is connected to its server pulls them.

>>> import sagax
>>> from sagax.experimental import transfer
>>> device = sagax.devices()[0]
>>> server = transfer.start_transfer_server(device.client, "127.0.0.1:0", ["127.0.0.1:0"])
>>> server.await_pull(7, {"w": sagax.numpy.arange(3)})
>>> here = sagax.sharding.SingleDeviceSharding(device)
>>> wanted = {"w": sagax.ShapeDtypeStruct((3,), "int32", sharding=here)}
>>> server.connect(server.address()).pull(7, wanted)["w"]
Array([0, 1, 2], dtype=int32)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sagax._src import trees
from sagax._src.core.avals import ShapedArray
from sagax._src.core.shardings import sharding_of_struct
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.runtime.array import ConcreteArray, as_array
from sagax._src.xla import transfers

__all__ = ["TransferConnection", "TransferServer", "start_transfer_server"]


class TransferConnection:
    """A connection to the server of another process (or of this one)."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def pull(self, uuid: int, xs: Any, timeout: Any = None) -> Any:
        """Return the arrays that the server offers under a number.

        `xs` is a pytree of `ShapeDtypeStruct`s with the shapes and dtypes of the offered arrays, whose
        shardings tell the device here. Waits until they are offered.
        """
        leaves, tree = trees.flatten(xs)
        paths = [trees.argument_path("xs", path) for path in trees.key_paths(xs)]
        types = [_described(x, path) for x, path in zip(leaves, paths, strict=True)]
        found = transfers.pull(self._connection, uuid, types) if types else []
        arrays = [
            ConcreteArray(ShapedArray(shape, dtype), None, buffer, device)
            for (shape, dtype, device), buffer in zip(types, found, strict=True)
        ]
        for x in arrays:  # the data needs this connection, which the caller may drop
            x.block_until_ready()
        return tree.unflatten(arrays)


class TransferServer:
    """A server of arrays, created by `start_transfer_server`."""

    def __init__(self, server: Any) -> None:
        self._server = server

    def address(self) -> str:
        """Return the address at which other processes connect."""
        return self._server.address()

    def await_pull(self, uuid: int, arrays: Any, timeout: Any = None) -> None:
        """Offer a pytree of arrays under a number, until a process has pulled them."""
        buffers = []
        for path, x in zip(trees.key_paths(arrays), trees.leaves(arrays), strict=True):
            array = as_array(x)
            if len(array.sharding.device_set) > 1:
                raise UnsupportedError(
                    "an array on several devices is not offered as one",
                    function="await_pull",
                    argument=trees.argument_path("arrays", path),
                    fix="offer its shards: [s.data for s in x.addressable_shards]",
                )
            buffers.append(array.buffer())
        transfers.offer(self._server, uuid, buffers)

    def connect(self, address: str) -> TransferConnection:
        """Connect to the server of another process."""
        return TransferConnection(self._server.connect(address))


def _described(x: Any, path: str) -> tuple[tuple[int, ...], np.dtype, Any]:
    sharding = sharding_of_struct(x)
    if not hasattr(x, "shape") or sharding is None:
        raise ArgumentError.about(
            "pull", path, x, "a ShapeDtypeStruct with a sharding, which tells the device"
        )
    if sharding.num_devices != 1:
        raise ArgumentValueError.about("pull", path, sharding, "a sharding of one device")
    return tuple(x.shape), np.dtype(x.dtype), sharding._device_assignment[0]


def start_transfer_server(
    client: Any, address: str = "[::]:0", transport_addresses: Sequence[str] = (), **_: Any
) -> TransferServer:
    """Start a server, from which other processes pull arrays.

    Args:
      client: the client of the devices: `sagax.devices()[0].client`.
      address: where to listen, as `host:port`; port 0 takes a free one.
      transport_addresses: where data may be sent from, a connection for each.
    """
    return TransferServer(transfers.start_server(client, address, transport_addresses))
