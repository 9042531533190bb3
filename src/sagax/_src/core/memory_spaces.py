"""Infer the memory that results of operations are in, and name it as the engine does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sagax._src.core.avals import Space
from sagax._src.diagnostics.errors import ArgumentValueError

HOST_KIND = "pinned_host"


def space_of_kind(kind: str | None) -> Space:
    """Return the memory space of a memory kind; None is the default of the devices."""
    return Space.Host if kind == HOST_KIND else Space.Device


def common(primitive: Any, in_avals: Sequence[Any]) -> Space:
    """Return the memory space of results: that of all operands but scalars, which must agree."""
    one = primitive.keeps_memory_space or len(in_avals) == 1
    first = in_avals[0] if one else None
    for aval in () if first is not None else in_avals:
        if not aval.ndim:
            continue
        if first is not None and aval.memory_space is not first.memory_space:
            raise ArgumentValueError(
                f"memory_space of all inputs passed to `{primitive.name}` must be the same",
                function=primitive.name,
                got=f"{first.str_short(short_dtypes=False)} and {aval.str_short(short_dtypes=False)}",
                expected="operands in one memory",
                fix="move one of them: sagax.device_put(x, sagax.memory.Space.Device)",
            )
        first = aval
    return Space.Device if first is None else first.memory_space
