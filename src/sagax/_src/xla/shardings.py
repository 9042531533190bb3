"""Describe arrays to jaxlib: types, devices and HLO shardings; compute the slice of each shard."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sagax._src.languages.choice import worded
from sagax._src.xla.engine import EngineError, xla_client


class EngineAval:
    """The attributes that jaxlib reads of an array's type. It never compares them with the data."""

    __slots__ = ("dtype", "shape", "sharding", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self.shape = shape
        self.dtype = dtype
        self.weak_type = False

    def __repr__(self) -> str:
        return describe_type(self.shape, self.dtype)


def describe_type(shape: Iterable[int], dtype: np.dtype) -> str:
    """Write an array's type for error messages: `float32[2,3]`."""
    return f"{dtype}[{','.join(map(str, shape))}]"


class EngineSharding:
    """The attributes that jaxlib reads of a sharding: devices, HLO sharding, memory kind.

    A plain class on purpose: jax patches properties onto jaxlib's own sharding classes, and so onto
    all that is derived from them.
    """

    __slots__ = ("__weakref__", "_internal_device_list", "devices", "hlo_sharding", "memory_kind")

    def __init__(
        self, devices: Iterable[Any], hlo_sharding: Any = None, memory_kind: str | None = None
    ) -> None:
        self.memory_kind = memory_kind
        self.devices = tuple(devices)
        self.hlo_sharding = REPLICATED if hlo_sharding is None else hlo_sharding
        self._internal_device_list = xla_client.DeviceList(self.devices)

    def _to_xla_hlo_sharding(self, ndim: int) -> Any:
        return self.hlo_sharding

    def __repr__(self) -> str:
        return f"EngineSharding({list(self.devices)}, {self.hlo_sharding})"


REPLICATED = xla_client.HloSharding.replicate()
_single_device_shardings: dict[Any, EngineSharding] = {}


def single_device_sharding(device: Any, memory_kind: str | None = None) -> EngineSharding:
    """Return the sharding of an array that lies whole on one device."""
    if memory_kind is not None:
        return EngineSharding([device], None, memory_kind)
    sharding = _single_device_shardings.get(device)
    if sharding is None:
        sharding = _single_device_shardings[device] = EngineSharding([device])
    return sharding


def parse_sharding(text: str | None) -> Any:
    """Parse XLA's notation of a sharding; None means replicated."""
    if text is None:
        return REPLICATED
    try:
        return xla_client.HloSharding.from_string(text)
    except EngineError as error:
        raise worded(ValueError(f"not the text of a sharding: {text!r} ({error})")) from None


def shard_indices(
    sharding_text: str | None, shape: Sequence[int], num_devices: int
) -> list[tuple[slice, ...]]:
    """Compute the slice of an array that each device holds, in the order of the devices.

    `sharding_text` is XLA's notation, such as `{devices=[8,1]<=[8]}`; None means replicated.
    """
    return hlo_shard_indices(parse_sharding(sharding_text), tuple(shape), num_devices)


def hlo_shard_indices(sharding: Any, shape: tuple[int, ...], num_devices: int) -> list[Any]:
    """Compute the slices as `shard_indices` does, from a parsed sharding."""
    whole = tuple(slice(0, size) for size in shape)
    if sharding.is_replicated() or num_devices == 1:
        return [whole] * num_devices
    # Dimensions of the tile assignment beyond the array's own are replicated: they cut nothing.
    tiles = tuple(sharding.tile_assignment_dimensions())
    positions = sharding.tile_assignment_devices()
    if len(positions) != num_devices or len(tiles) < len(shape):
        raise worded(
            ValueError(
                f"sharding {sharding} does not fit an array of shape {shape} on {num_devices} devices"
            )
        )
    for axis, (size, parts) in enumerate(zip(shape, tiles)):
        if size % parts:
            raise worded(
                ValueError(
                    f"sharding {sharding} cuts axis {axis} of shape {shape} into {parts} parts, "
                    f"which does not divide its size {size}"
                )
            )
    steps = [size // parts for size, parts in zip(shape, tiles)]
    indices = [whole] * num_devices
    for position, tile in zip(positions, np.ndindex(*tiles)):
        indices[position] = tuple(slice(i * step, (i + 1) * step) for i, step in zip(tile, steps))
    return indices


def sharding_tiles(text: str, num_devices: int, ndim: int) -> tuple[tuple, tuple]:
    """Compute the number of shards along each dimension, and the tile index of each device."""
    sharding = parse_sharding(text)
    if sharding.is_replicated() or num_devices == 1:
        return (1,) * ndim, ((0,) * ndim,) * num_devices
    counts = tuple(sharding.tile_assignment_dimensions())
    tiles = zip(sharding.tile_assignment_devices(), np.ndindex(*counts))
    return counts[:ndim], tuple([tile[:ndim] for _, tile in sorted(tiles)])
