"""Compute replica groups: which devices take part in a collective together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src.core.avals import intern_aval

_I32 = np.dtype(np.int32)
_U32 = np.dtype(np.uint32)


class DeviceGroups:
    """The devices of a mesh as collectives of a compiled program refer to them.

    Args:
      sizes: the size of each axis of the mesh, by name, in order.
      manual: the names of the axes along which the program is written for one device.
      positions: the place in the program's list of devices of each device of the mesh, in order.
      channels: numbers for the exchanges of the program.
      symbol: the program's name of the mesh.
    """

    __slots__ = ("channels", "key", "manual", "positions", "sizes", "symbol")

    def __init__(
        self,
        sizes: Mapping[Any, int],
        manual: frozenset,
        positions: tuple[int, ...],
        channels: itertools.count,
        symbol: str,
    ) -> None:
        self.symbol = symbol
        self.sizes = dict(sizes)
        self.manual = manual
        self.positions = positions
        self.channels = channels
        # programs for other groups of devices are other programs
        self.key = (tuple(self.sizes.items()), manual, positions, symbol)

    @classmethod
    def of(cls, mesh: Any) -> DeviceGroups:
        """Those of a program that is written for one device of the mesh."""
        names = frozenset(mesh.axis_names)
        return cls(mesh.shape, names, tuple(range(mesh.size)), itertools.count(1), "")

    def groups(self, axes: Sequence[Any], within: Sequence[Sequence[int]] | None = None) -> Any:
        """Rows of devices that differ in their places along `axes` only, major first.

        `within` divides the places along `axes` into smaller groups.
        """
        names = list(self.sizes)
        others = [names.index(n) for n in names if n not in axes]
        these = [names.index(n) for n in axes]
        ids = np.array(self.positions).reshape(tuple(self.sizes.values()))
        size = math.prod([self.sizes[n] for n in axes])
        rows = ids.transpose(*others, *these).reshape(-1, size)
        if within is None:
            return rows
        return np.concatenate([rows[:, list(g)] for g in within])

    def attributes(
        self, b: Any, axes: Sequence[Any], within: Sequence[Sequence[int]] | None = None
    ) -> dict[str, str]:
        """The attributes of a collective over `axes`."""
        return {
            "replica_groups": b.dense_ints(self.groups(axes, within)),
            "channel_handle": self._channel(),
        }

    def pairs(self, b: Any, axes: Sequence[Any], perm: Sequence[tuple[int, int]]) -> dict[str, str]:
        """The attributes of a permutation along `axes`."""
        rows = self.groups(axes)
        found = [(row[s], row[d]) for row in rows for s, d in perm]
        return {
            "source_target_pairs": b.dense_ints(np.array(found, int).reshape(-1, 2)),
            "channel_handle": self._channel(),
        }

    def _channel(self) -> str:
        return f"#stablehlo.channel_handle<handle = {next(self.channels)}, type = 1>"

    def index(self, b: Any, axis: Any) -> Any:
        """The place of the device along an axis, an int32 value."""
        rest = [n for n in self.sizes if n not in self.manual]
        if not rest:
            return self._index(b, axis)
        # the number of a device means something only where the program is written for one device
        scalar = intern_aval((), _I32)
        names = ", ".join([f'"{n}"' for n in rest])
        saved = b.constants
        b.constants = {}
        region = b.region([], lambda: [self._index(b, axis)], terminator="sdy.return")
        b.constants = saved
        (found,) = b.op(
            "sdy.manual_computation",
            [],
            [scalar],
            regions=[region],
            in_shardings="#sdy.sharding_per_value<[]>",
            out_shardings=f"#sdy.sharding_per_value<[<@{self.symbol}, [], replicated={{{names}}}>]>",
            manual_axes=f"#sdy<manual_axes{{{names}}}>",
        )
        return found

    def _index(self, b: Any, axis: Any) -> Any:
        count = len(self.positions)
        scalar, here = intern_aval((), _I32), intern_aval((), _U32)
        device = b.convert(b.op("partition_id", [], here), _I32)
        names = list(self.sizes)
        stride = math.prod([self.sizes[n] for n in names[names.index(axis) + 1 :]])
        if self.positions == tuple(range(count)):
            place = b.op("divide", [device, b.constant(stride, _I32)], scalar)
            return b.op("remainder", [place, b.constant(self.sizes[axis], _I32)], scalar)
        table = np.empty(count, np.int32)
        table[list(self.positions)] = np.arange(count) // stride % self.sizes[axis]
        one = intern_aval((1,), _I32)
        found = b.op("dynamic_slice", [b.constant(table), device], one, slice_sizes=b.ints((1,)))
        return b.reshape(found, ())
