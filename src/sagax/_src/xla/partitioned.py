"""Partition modules over more devices than there are, to read the program of one device."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from sagax._src.xla import bindings, mlir
from sagax._src.xla.compile_options import compile_options
from sagax._src.xla.engine import EngineError, xla_client


@functools.cache
def _described(device: Any) -> tuple[Any, ...]:
    """Return a description of a device, for which modules can be compiled, and not run."""
    return tuple(bindings.described_devices(bindings.serialized_topology([device])))


def compile_described(
    device: Any, module: str, targets: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """Compile a StableHLO module over as many partitions as `targets` has, each a machine like `device`.

    The targets need nothing but an `id`. The result has `hlo_modules()` and `get_compiled_memory_stats()`.
    Raises EngineError if XLA cannot partition or compile it.
    """
    described = _described(device)
    count = len(targets)
    parsed = compile_options(targets, options, 1, count, shardy=count > 1)
    try:
        return described[0].client.compile(
            mlir.parse_module(module), xla_client.DeviceList(described), parsed
        )
    except EngineError as error:
        failure = error
    mlir.verify_module(module)
    raise failure
