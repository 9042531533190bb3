"""Turn the counts of a step into seconds: a roofline with bounds.

The best case overlaps everything: the step takes as long as the busiest of the matrix units, the memory and
the links. The worst case overlaps nothing: every operation waits for the one before, and reaches the
attainable share of the peak rate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sagax._plan.counts import Collective, Counts, Event
from sagax._plan.groups import nodes_of
from sagax._plan.hardware import Hardware, dtype_name

COMPUTE, MEMORY, LINK, NETWORK = "compute", "memory", "links in a node", "links between nodes"


# How long steps took, as shares of the worst case, from the tables of docs/plan.md: steps measured, in all runs, on virtual
# devices and processes that share the cores of a CPU, and published runs of accelerators.
MEASURED = (0.91, 3.64)
PUBLISHED = (0.58, 0.91)


@dataclass(frozen=True)
class Span:
    """Hold the seconds of one event in the worst case, all its runs together."""

    event: Event
    compute: float
    memory: float
    link: float
    network: float
    launch: float

    @property
    def seconds(self) -> float:
        return max(self.compute, self.memory) + self.link + self.network + self.launch


@dataclass(frozen=True)
class Timing:
    """The time of a step: bounds, and what each resource is busy for, at its peak rate.

    `dominating` is the resource that the worst case waits for most.
    """

    best: float
    worst: float
    busy: dict[str, float]
    waits: dict[str, float]
    dominating: str
    utilization: tuple[float, float]  # in the worst and in the best case
    spans: Sequence[Span]


def estimate(counts: Counts, hardware: Hardware, compulsory_bytes: float) -> Timing:
    """Estimate the time of a step. `compulsory_bytes` must be moved however operations are fused."""
    spans = [_span(e, hardware) for e in counts.events]
    products: Counter[str] = Counter()
    for e in counts.events:
        for dtype, flops in e.dots.items():
            products[dtype] += flops * e.times
    ideal = sum(flops / _rate(hardware, dtype) for dtype, flops in products.items())
    busy = {
        COMPUTE: ideal,
        MEMORY: compulsory_bytes / hardware.bandwidth,
        LINK: sum(s.link for s in spans),
        NETWORK: sum(s.network for s in spans),
    }
    best = max(busy.values())
    waits = dict.fromkeys(busy, 0.0)
    for s in spans:
        waits[COMPUTE if s.compute >= s.memory else MEMORY] += max(s.compute, s.memory)
        waits[LINK] += s.link
        waits[NETWORK] += s.network
    worst = sum(s.seconds for s in spans)
    worst = max(worst, best)
    return Timing(
        best,
        worst,
        busy,
        waits,
        max(waits, key=lambda name: waits[name]),
        (ideal / worst if worst else 0.0, ideal / best if best else 0.0),
        spans,
    )


def _rate(hardware: Hardware, dtype: str) -> float:
    return hardware.rate(dtype_name(dtype))


def _span(event: Event, hardware: Hardware) -> Span:
    products = sum(
        flops / _rate(hardware, dtype) / hardware.attainable for dtype, flops in event.dots.items()
    )
    elementwise = (event.elementwise + 4 * event.transcendental) / hardware.vector
    if event.collective is not None:
        link, network = seconds_of(event.collective, hardware)
        return Span(
            event, 0, 0, link * event.times, network * event.times, hardware.launch * event.times
        )
    n = event.times
    return Span(
        event,
        (products + elementwise) * n,
        event.bytes / hardware.bandwidth * n,
        0,
        0,
        hardware.launch * n,
    )


def seconds_of(collective: Collective, hardware: Hardware) -> tuple[float, float]:
    """Return the seconds of one run within nodes and between them.

    A collective over several nodes first works within each node and then between the nodes, where each chip
    sends its share. Each part takes as long as the faster one of a ring and a tree.
    """
    size, nodes = nodes_of(collective.groups, hardware.chips_per_node)
    amount, kind = collective.bytes, collective.kind
    if size <= 1:
        return 0.0, 0.0
    if kind in ("collective-permute", "collective-broadcast"):
        if nodes > 1:
            return 0.0, amount / hardware.link_rate(True) + hardware.network_latency
        return amount / hardware.link_rate(False) + hardware.link_latency, 0.0
    inside = max(size // nodes, 1)
    if kind in ("all-to-all", "ragged-all-to-all"):
        link = network = 0.0
        if inside > 1:
            share = amount * (inside - 1) / size
            link = share / hardware.link_rate(False) + hardware.link_latency
        if nodes > 1:
            share = amount * (size - inside) / size
            network = share / hardware.link_rate(True) + hardware.network_latency
        return link, network
    rounds = 2 if kind == "all-reduce" and not collective.scattered else 1
    link = network = 0.0
    if inside > 1:
        link = rounds * _faster(
            amount, inside, hardware.link_rate(False), hardware.link_latency, rounds
        )
    if nodes > 1:
        network = rounds * _faster(
            amount / inside, nodes, hardware.link_rate(True), hardware.network_latency, rounds
        )
    return link, network


def _faster(amount: float, size: int, rate: float, latency: float, rounds: int) -> float:
    """Return the seconds of a gather or a scatter of `amount` bytes over `size` members."""
    share = amount * (size - 1) / size / rate
    ring = share + (size - 1) * latency
    steps = math.ceil(math.log2(size))
    # recursive halving sends as much in fewer steps; a tree of a sum sends everything each time
    return (
        min(ring, share + steps * latency)
        if rounds == 1
        else min(ring, 2 * share + steps * latency)
    )
