"""Describe chips and the links between them, with the sources of the figures."""

from __future__ import annotations

import dataclasses
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from sagax._src.api.jit import jit
from sagax._src.api.shard_map import shard_map
from sagax._src.core.meshes import Mesh, PartitionSpec
from sagax._src.core.shardings import NamedSharding
from sagax._src.diagnostics.errors import ArgumentError, ArgumentValueError
from sagax._src.runtime import device_put, devices
from sagax.lax import fori_loop, psum

_TERA, _GIGA = 1e12, 1e9
# Names of XLA: names of dtypes.
DTYPE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "bf16": "bfloat16",
        "f16": "float16",
        "f32": "float32",
        "f64": "float64",
        "s8": "int8",
        "u8": "int8",
        "s32": "int32",
        "c64": "float32",
        "c128": "float64",
    }
)


def dtype_name(name: str) -> str:
    """Return the name of a dtype that XLA calls `name`.

    >>> dtype_name("bf16"), dtype_name("f8e4m3fn")
    ('bfloat16', 'float8')
    """
    return "float8" if name.startswith("f8") else DTYPE_NAMES.get(name, name)


@dataclass(frozen=True)
class Hardware:
    """A kind of chip, and how many of them are connected how. All figures are for one chip.

    Args:
      name: shown in reports.
      flops: FLOP/s of matrix products by dtype.
      vector: FLOP/s of elementwise operations.
      memory: bytes.
      bandwidth: bytes/s of the memory.
      link: bytes/s that a chip sends to others in its node, in one direction; `link_latency` in seconds.
      network: bytes/s that a chip sends to other nodes; `network_latency` in seconds.
      chips_per_node, nodes: how many there are. A node is what the fast links connect: all chips of a
        TPU slice.
      attainable: the share of `flops` that large matrix products reach; the worst case uses it.
      launch: seconds that it takes to start an operation; the worst case counts them.
      sources: where the figures are from.

    >>> Hardware.named("h100-8x4").devices
    32
    """

    name: str
    flops: Mapping[str, float]
    vector: float
    memory: float
    bandwidth: float
    link: float | None = None
    network: float | None = None
    chips_per_node: int = 8
    nodes: int = 1
    link_latency: float = 2e-6
    network_latency: float = 1e-5
    attainable: float = 0.75
    launch: float = 0.0
    sources: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        figures = {f"flops[{name!r}]": rate for name, rate in self.flops.items()}
        needed = "vector memory bandwidth chips_per_node nodes attainable".split()
        figures |= {name: getattr(self, name) for name in needed}
        optional = {"link": self.link, "network": self.network}
        figures |= {name: rate for name, rate in optional.items() if rate is not None}
        for name, figure in figures.items():
            if not figure > 0:
                raise ArgumentValueError(
                    function="plan.Hardware",
                    argument=name,
                    got=figure,
                    expected="a positive number; None for links that are not there",
                )

    @property
    def devices(self) -> int:
        """The number of chips."""
        return self.chips_per_node * self.nodes

    def replace(self, **changes: Any) -> Hardware:
        """Return the same hardware with other figures."""
        return dataclasses.replace(self, **changes)

    def rate(self, dtype: str) -> float:
        """Return the FLOP/s of matrix products of a dtype; raises if the figure is not known."""
        found = self.flops.get(dtype)
        if found is None:
            known = ", ".join(self.flops)
            raise ArgumentValueError(
                f"{self.name} has no figure for matrix products of {dtype}, which the step computes",
                function="plan",
                argument="hardware",
                got=f"FLOP/s for {known}",
                fix=f"give it: hardware.replace(flops={{**hardware.flops, {dtype!r}: 1e14}}), or compute in {known}",
            )
        return found

    def link_rate(self, between_nodes: bool) -> float:
        """Return the bytes/s of the links; raises if the figure is not known."""
        found = self.network if between_nodes else self.link
        if found is None:
            name = "network" if between_nodes else "link"
            where = "between nodes" if between_nodes else "within a node"
            raise ArgumentValueError(
                f"{self.name} has no figure for the links {where}, which the step uses",
                function="plan",
                argument="hardware",
                got=f"{name}=None",
                fix=f"give bytes/s for one direction of one chip: hardware.replace({name}=50e9)",
            )
        return found

    @staticmethod
    def named(text: str) -> Hardware:
        """Return the hardware of a name: "h200-8x32" is 32 nodes of 8 chips, "h100-8" one node of 8.

        >>> Hardware.named("v5p-512").memory > 9e10
        True
        """
        found = re.fullmatch(r"(?:tpu-?)?([a-z]+\d*[a-z]*)-(\d+)(?:x(\d+))?", text.strip().lower())
        if found is None or found[1] not in CHIPS or not int(found[2]) or found[3] == "0":
            raise ArgumentValueError(
                function="plan",
                argument="hardware",
                got=text,
                expected="a chip, the chips in a node, and the number of nodes, such as 'h200-8x32'; "
                f"chips are {', '.join(CHIPS)}",
                fix="describe another chip by sagax.plan.Hardware(...), or measure this machine: "
                "sagax.plan.Hardware.measured()",
            )
        return CHIPS[found[1]].replace(
            chips_per_node=int(found[2]), nodes=int(found[3] or 1), name=text.strip().lower()
        )

    @staticmethod
    def measured(count: int | None = None) -> Hardware:
        """Measure the devices, all at work at the same time; takes a few seconds.

        `count` is how many of this process (default: all). On a CPU they share its cores. If there are several processes,
        all must call it without `count`; each counts as a node.
        """
        return _measured(devices.devices() if count is None else devices.local_devices()[:count])


def resolve(hardware: Any, count: int) -> Hardware:
    """Return the hardware that an argument means; it must have the `count` devices of the mesh."""
    found = Hardware.named(hardware) if isinstance(hardware, str) else hardware
    if not isinstance(found, Hardware):
        raise ArgumentError(
            function="plan",
            argument="hardware",
            got=hardware,
            expected="a name such as 'h200-8x32', or a sagax.plan.Hardware",
        )
    if found.devices != count:
        nodes = count // found.chips_per_node
        fits = count % found.chips_per_node == 0 and nodes > 0
        base = found.name.rpartition("-")[0] or found.name
        raise ArgumentValueError(
            f"the mesh has {count} devices, and {found.name} has {found.devices}",
            function="plan",
            argument="hardware",
            got=found.name,
            expected=f"{count} devices",
            fix=f"write {f'{base}-{found.chips_per_node}x{nodes}'!r}"
            if fits
            else f"give the mesh {found.devices} devices",
        )
    return found


# --- public figures -----------------------------------------------------------------------------------

# Matrix rates are those without sparsity. NVLink and ICI are given as sums of both directions: `link` is
# one of them. Every GPU of a DGX node has a network port of 400 Gbit/s (A100: 200).
_NVIDIA = "https://www.nvidia.com/en-us/data-center/{}/"
_TPU = "https://cloud.google.com/tpu/docs/{}"
_NOTE_TPU = "a collective along one mesh axis uses the two links of one axis of the torus"
_NOTE_32 = "float32 products of TPUs are six bfloat16 products at full precision, as XLA does them"
_NOTE_DCN = (
    "network: that of the host (https://jax-ml.github.io/scaling-book/tpus), divided by its chips"
)
_NOTE_VECTOR = (
    "vector: 8 x 128 lanes with two adders (v4) or four, times cores and clock "
    "(https://jax-ml.github.io/scaling-book/tpus, appendix); the clock is that of the matrix rate"
)
_MATMUL = (
    "attainable: best measured bfloat16 product, {} TFLOP/s "
    "(https://github.com/stas00/ml-engineering/tree/master/compute/accelerator, table of MAMF)"
)
_MAXTEXT = (
    "attainable: at least; MaxText's 16B model on 256 v5e computes at 61.1 % of the peak besides what it "
    "computes again, a third more (https://github.com/AI-Hypercomputer/maxtext, configs/v5e)"
)
_HOPPER = {
    "float8": 1979 * _TERA,
    "int8": 1979 * _TERA,
    "bfloat16": 989.4 * _TERA,
    "float16": 989.4 * _TERA,
    "float32": 494.7 * _TERA,  # TF32, XLA's default for GPUs
    "float64": 67 * _TERA,
}
_AMPERE = {
    "int8": 624 * _TERA,
    "bfloat16": 312 * _TERA,
    "float16": 312 * _TERA,
    "float32": 156 * _TERA,  # TF32
    "float64": 19.5 * _TERA,
}
_BLACKWELL = {
    "float8": 4500 * _TERA,
    "int8": 4500 * _TERA,
    "bfloat16": 2250 * _TERA,
    "float16": 2250 * _TERA,
    "float32": 1125 * _TERA,  # TF32
    "float64": 37 * _TERA,
}


def _gpu(
    name: str,
    flops: dict,
    vector: float,
    memory: float,
    bandwidth: float,
    link: float,
    matmul: float,
    page: str,
    network: float = 50e9,
) -> Hardware:
    """Describe a GPU: `matmul` is the best bfloat16 rate that was measured, TFLOP/s."""
    return Hardware(
        name,
        MappingProxyType(flops),
        vector,
        memory,
        bandwidth,
        link=link,
        network=network,
        attainable=round(matmul * _TERA / flops["bfloat16"], 3),
        sources=(_NVIDIA.format(page) + " (SXM)", _MATMUL.format(matmul)),
    )


def _tpu(
    name: str,
    bf16: float,
    vector: float,
    memory: float,
    bandwidth: float,
    links: int,
    ici: float,
    **rest: Any,
) -> Hardware:
    """Describe a TPU: `ici` is the sum of all links in both directions, bytes/s."""
    flops = {"bfloat16": bf16, "float32": bf16 / 6, **rest.pop("flops", {})}
    return Hardware(
        name,
        MappingProxyType(flops),
        vector,
        memory,
        bandwidth,
        link=ici / 2 / links * 2,
        link_latency=1e-6,
        attainable=0.815,
        sources=(_TPU.format(name), _NOTE_TPU, _NOTE_32, _NOTE_DCN, _NOTE_VECTOR, _MAXTEXT),
        **rest,
    )


def _vector(cores: int, adders: int, clock: float) -> float:
    return cores * 8 * 128 * adders * clock


CHIPS: Mapping[str, Hardware] = MappingProxyType(
    {
        "a100": _gpu("a100", _AMPERE, 19.5e12, 80e9, 2.039e12, 300e9, 267.9, "a100", network=25e9),
        "h100": _gpu("h100", _HOPPER, 67e12, 80e9, 3.35e12, 450e9, 794.5, "h100"),
        "h200": _gpu("h200", _HOPPER, 67e12, 141e9, 4.8e12, 450e9, 794.5, "h200"),
        "b200": _gpu("b200", _BLACKWELL, 75e12, 180e9, 8e12, 900e9, 1745.0, "dgx-b200"),
        "v4": _tpu(
            "v4", 275e12, _vector(2, 2, 1.05e9), 32 * 2**30, 1.2e12, 6, 600e9, network=6.25e9
        ),
        "v5e": _tpu(
            "v5e",
            197e12,
            _vector(1, 4, 1.5e9),
            16e9,
            819e9,
            4,
            400e9,
            network=3.125e9,
            flops={"int8": 393e12},
        ),
        "v5p": _tpu(
            "v5p",
            459e12,
            _vector(2, 4, 1.75e9),
            95 * 2**30,
            2.765e12,
            6,
            1200e9,
            network=6.25e9,
            flops={"int8": 918e12},
        ),
        # the lanes of v5 with the clock of v5p: not published
        "v6e": _tpu(
            "v6e",
            918e12,
            _vector(1, 4, 1.75e9),
            32e9,
            1.6e12,
            4,
            800e9,
            network=12.5e9,
            flops={"int8": 1836e12},
        ),
    }
)


# --- measuring ------------------------------------------------------------------------------------------


def _seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """Return the median duration of a call, after a first one."""
    run()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return float(np.median(found))


def _measured(chosen: list[Any]) -> Hardware:
    nodes = len({d.process_index for d in chosen})
    count = len(chosen) // nodes
    ordered = sorted(chosen, key=lambda d: (d.process_index, d.id))
    mesh = Mesh(np.array(ordered).reshape(nodes, count), ("node", "chip"))
    spec = PartitionSpec(("node", "chip"))

    def put(shape: tuple[int, ...], dtype: str = "float32") -> Any:
        sharding = NamedSharding(mesh, spec)
        part = np.full(shape, 0.01, dtype)
        whole = (len(chosen) * shape[0], *shape[1:])
        return device_put.make_array_from_callback(whole, sharding, lambda _: part)

    def timed(f: Callable, x: Any) -> float:
        compiled = jit(shard_map(f, mesh=mesh, in_specs=spec, out_specs=spec))
        return _seconds(lambda: compiled(x).block_until_ready())

    nothing = timed(lambda x: x + 1, put((8,)))
    size = 1024
    product = max(timed(lambda x: x @ x, put((size, size))) - nothing, 1e-6)
    wide, rounds = put((1 << 22,)), 16  # 16 MiB, more than caches hold

    def passes(x: Any) -> Any:
        return fori_loop(0, rounds, lambda _, x: x * 0.999 + 0.001, x)

    moved = max(timed(passes, wide) - nothing, 1e-6)
    vector = put((1 << 14,))

    def many(x: Any) -> Any:
        for _ in range(200):
            x = x * 0.999 + 0.001
        return x

    def links(axis: str, members: int) -> tuple[float | None, float]:
        """Return the bytes/s and the latency of sums along an axis."""
        if members == 1:
            return None, 0.0
        small = timed(lambda x: psum(x, axis), put((8,)))
        large = timed(lambda x: psum(x, axis), put((1 << 21,)))
        sent = 2 * (members - 1) / members * (4 << 21)
        latency = max(small - nothing, 0.0) / (2 * (members - 1))
        return sent / max(large - small, 1e-7), latency

    elementwise = max(timed(many, vector) - nothing, 1e-7)
    link, link_latency = links("chip", count)
    network, network_latency = links("node", nodes)
    shape = f"{count}x{nodes}" if nodes > 1 else f"{count}"
    return Hardware(
        name=f"{chosen[0].device_kind}-{shape}",
        flops=MappingProxyType({"float32": 2 * size**3 / product}),
        vector=2 * 200 * (1 << 14) / elementwise,
        memory=_memory_of(devices.local_devices()[0], count),
        bandwidth=2 * 4 * (1 << 22) * rounds / moved,
        link=link,
        network=network,
        chips_per_node=count,
        nodes=nodes,
        link_latency=link_latency,
        network_latency=network_latency,
        attainable=1.0,
        launch=nothing / 4,
        sources=("measured on this machine",),
    )


def _memory_of(device: Any, count: int) -> float:
    stats = device.memory_stats() if hasattr(device, "memory_stats") else None
    if stats and "bytes_limit" in stats:
        return float(stats["bytes_limit"])

    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / count
