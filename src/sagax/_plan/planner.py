"""Implement `sagax.plan`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sagax._plan import counts as counting
from sagax._plan import memory as memory_of
from sagax._plan import report, timing
from sagax._plan import warnings as warning_rules
from sagax._plan.costs import Costs
from sagax._plan.hardware import Hardware, resolve
from sagax._plan.partition import Partitioned, partition


class Plan(Costs):
    """The costs of a step on one device of a mesh.

    `seconds` is the time of the worst case, in which nothing overlaps; `timing` has both bounds. `memory`
    has the categories and the largest entries, `collectives` what is exchanged with other devices, and
    `warnings` what was hardly meant. `str` shows a table.
    """

    def __str__(self) -> str:
        return report.text(self)

    def json(self) -> str:
        """Return the plan as JSON."""
        return json.dumps(report.data(self), indent=1)

    def page(self, path: str) -> None:
        """Write the plan as an HTML page with a timeline."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(report.page(self))


def make_plan(
    step: Callable,
    args: tuple,
    mesh: Any,
    in_shardings: Any,
    out_shardings: Any,
    hardware: Any,
) -> Plan:
    """Return the plan of a step."""
    program = partition(step, args, mesh, in_shardings, out_shardings)
    return plan_of(program, resolve(hardware, program.mesh.size))


def plan_of(program: Partitioned, hardware: Hardware) -> Plan:
    """Return the plan of a partitioned program on some hardware."""
    mesh = program.mesh
    counts = counting.count(program.module, mesh.axis_names, mesh.axis_sizes)
    memory = memory_of.measure(program)
    stats = program.memory
    kept = memory.activations + memory.temporaries - (memory.peak - memory.without_widening)
    compulsory = stats.argument_size_in_bytes + stats.output_size_in_bytes + 2 * max(kept, 0)
    times = timing.estimate(counts, hardware, min(compulsory, counts.bytes))
    return Plan(
        program.name,
        mesh,
        hardware,
        counts.flops,
        counts.bytes,
        memory,
        counts.collectives,
        times,
        warning_rules.find(program, counts, memory, hardware),
        program,
        counts,
    )
