"""Turn options by name into XLA's compile options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sagax._src.languages.choice import worded
from sagax._src.xla.engine import BEFORE_0_11, xla_client

# The option, on the CPU: the size up to which LLVM unrolls a loop.
UNROLL_THRESHOLD = "unroll_threshold"

# Options that are attributes of XLA's build options; all others are flags of XLA.
_BUILD_OPTIONS = frozenset(
    {
        "allow_spmd_sharding_propagation_to_output",
        "allow_spmd_sharding_propagation_to_parameters",
        "fdo_profile",
        "memory_fitting_level",
        "optimization_level",
    }
)


def compile_options(
    devices: Sequence[Any],
    options: Mapping[str, Any],
    num_replicas: int,
    num_partitions: int,
    shardy: bool,
) -> Any:
    """Make XLA's compile options for the devices. Raises ValueError for a wrong number of them."""
    if len(devices) != num_replicas * num_partitions:
        raise worded(
            ValueError(
                f"compile: {num_replicas} replicas of {num_partitions} partitions need "
                f"{num_replicas * num_partitions} devices, got {len(devices)}"
            )
        )
    result = xla_client.CompileOptions()
    ids = np.array([device.id for device in devices], np.int32)
    result.device_assignment = xla_client.DeviceAssignment.create(
        ids.reshape(num_replicas, num_partitions)
    )
    build = result.executable_build_options
    for part in (result, build):
        part.num_replicas = num_replicas
        part.num_partitions = num_partitions
    build.use_spmd_partitioning = num_partitions > 1
    build.use_shardy_partitioner = shardy
    flags = []
    for name, value in options.items():
        if name in _BUILD_OPTIONS:
            setattr(build, name, value)
        elif name != UNROLL_THRESHOLD:  # a flag of XLA's; those that are bool do not accept text
            flags.append((name, {"true": True, "false": False}.get(str(value).lower(), value)))
    result.env_option_overrides = flags
    if UNROLL_THRESHOLD in options:
        size = str(options[UNROLL_THRESHOLD])
        # the parser of LLVM's options would end the process
        if not size.isdecimal() or int(size) >= 1 << 31:
            raise worded(
                ValueError(
                    f"compile: {UNROLL_THRESHOLD} must be an integer from 0 to 2**31 - 1, got {size}"
                )
            )
        return _with_backend_option(result, "-unroll-threshold", size)
    return result


def _with_backend_option(options: Any, key: str, value: str) -> Any:
    """Add an entry to the options that XLA_FLAGS calls xla_backend_extra_options.

    They are a map, which no setter of jaxlib reaches; but bytes that are appended to a serialized
    message set fields of it.
    """
    # From here on they hold the flags of the process: else appending would leave XLA's defaults out.
    debug = options.executable_build_options.debug_options
    debug.xla_detailed_logging = debug.xla_detailed_logging
    entry = _bytes_field(1, key.encode()) + _bytes_field(2, value.encode())
    # CompileOptionsProto.executable_build_options.debug_options.xla_backend_extra_options
    added = _bytes_field(3, _bytes_field(3, _bytes_field(500, entry)))
    return xla_client.CompileOptions.ParseFromString(options.SerializeAsString() + added)


def _bytes_field(number: int, content: bytes) -> bytes:
    """Serialize a length-delimited field of a protocol buffer."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def with_barriers_until_fusion(
    module: str | bytes, platform: str, options: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Add the options that let the module's optimization barriers last until fusion.

    Before jaxlib 0.11 the CPU compiler removed them before it fuses operations. The pass that makes one
    kernel of a small loop does not expect them there: it ends the process.
    """
    text = "optimization_barrier"
    if not BEFORE_0_11 or platform != "cpu":
        return options
    if not (text in module if isinstance(module, str) else text.encode() in module):
        return options
    given = str(options.get("xla_disable_hlo_passes", ""))
    passes = ",".join(
        [*([given] if given else []), "cse_barrier_expander", "small-while-loop-hoisting"]
    )
    return {**options, "xla_disable_hlo_passes": passes}
