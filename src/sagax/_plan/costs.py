"""Hold the costs of a step on one device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sagax._plan.counts import Collective, Counts, Flops
from sagax._plan.hardware import Hardware
from sagax._plan.memory import Memory
from sagax._plan.partition import Partitioned
from sagax._plan.timing import Timing
from sagax._plan.warnings import Warning
from sagax._src.core.meshes import Mesh


@dataclass(frozen=True)
class Costs:
    """The costs of a step on one device of a mesh: the data of a `Plan`."""

    name: str
    mesh: Mesh = field(repr=False)
    hardware: Hardware
    flops: Flops
    bytes: int
    memory: Memory = field(repr=False)
    collectives: Sequence[Collective] = field(repr=False)
    timing: Timing = field(repr=False)
    warnings: Sequence[Warning] = field(repr=False)
    program: Partitioned = field(repr=False)
    counts: Counts = field(repr=False)

    @property
    def devices(self) -> int:
        """The number of devices."""
        return self.mesh.size

    @property
    def seconds(self) -> float:
        """The seconds of a step if nothing overlaps."""
        return self.timing.worst

    @property
    def fits(self) -> bool:
        """Return whether the memory of a device suffices."""
        return self.memory.without_widening <= self.hardware.memory
