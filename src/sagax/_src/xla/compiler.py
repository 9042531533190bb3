"""Compile modules to executables, and load serialized executables."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sagax._src.languages.choice import worded
from sagax._src.lazy_import import lazy_imports
from sagax._src.xla.callbacks import (
    CALLS_PYTHON,
    Callback,
    ResultType,
    check_callbacks,
    checked_callback,
)
from sagax._src.xla.compile_options import compile_options, with_barriers_until_fusion
from sagax._src.xla.engine import EngineError, xla_client, xla_extension
from sagax._src.xla.executable import DescribedExecutable, Executable

if TYPE_CHECKING or lazy_imports():
    from sagax._src.xla import custom_calls, mlir


# The sdy dialect. A source file called sdy.py is no such thing. The search for a word is quick if the
# pattern begins with it.
_USES_SDY = re.compile(r"sdy(?<!\wsdy)[.\0](?!py\b)")


def compile(
    client: Any,
    module: str | bytes,
    devices: Sequence[Any],
    *,
    options: Mapping[str, Any] = types.MappingProxyType({}),
    num_replicas: int = 1,
    num_partitions: int = 1,
    shardy: bool = False,
    callbacks: Sequence[Callback] = (),
    out_avals: Sequence[ResultType] | None = None,
) -> Executable:
    """Compile a module for the devices.

    `module` is StableHLO: text, MLIR bytecode or a portable artifact. `options` are flags of XLA by
    name, attributes of its build options, and on the CPU `unroll_threshold`. `shardy` says that the
    module uses the sdy dialect. The module's custom calls of Python refer to `callbacks` by index.
    `out_avals` are the types of the results; left out, they are read from the executable, unless it
    is partitioned.

    Raises ModuleError if the module is not valid, and EngineError if XLA cannot compile it.
    """
    devices = tuple(devices)
    options = with_barriers_until_fusion(module, client.platform, options)
    parsed_options = compile_options(devices, options, num_replicas, num_partitions, shardy)
    _check_module(module, shardy, bool(callbacks))
    arguments: list[Any] = [module, xla_client.DeviceList(devices), parsed_options]
    if callbacks:  # accepted with a parsed module only
        arguments[0] = mlir.parse_module(module)
        check_callbacks(arguments[0], callbacks)
        arguments.append([checked_callback(*c) for c in callbacks])
    described = is_described(client)
    if described and not callbacks:
        arguments[0] = mlir.parse_module(module)
    try:
        loaded = (client.compile if described else client.compile_and_load)(*arguments)
    except EngineError as error:
        failure = error
        if isinstance(module, str):
            custom_calls.raise_partition_failure(module)
    else:
        kind = DescribedExecutable if described else Executable
        return kind(loaded, devices, out_avals)
    # The parser, asked alone, says more precisely what is wrong and where.
    mlir.verify_module(module)
    raise failure


def is_described(client: Any) -> bool:
    """Tell whether a client compiles for devices that are only described."""
    return type(client) is xla_extension.CompileOnlyPyClient


def _check_module(module: str | bytes, shardy: bool, has_callbacks: bool) -> None:
    """Refuse a module that would end the process."""
    text = module if isinstance(module, str) else module.decode("latin-1")
    if CALLS_PYTHON.search(text) and not has_callbacks:
        raise worded(ValueError("compile: the module calls Python callbacks, but none are given"))
    if _USES_SDY.search(text) and not shardy:
        raise worded(
            ValueError("compile: the module uses the sdy dialect, which needs shardy=True")
        )


def deserialize(
    client: Any,
    blob: bytes,
    devices: Sequence[Any],
    out_avals: Sequence[ResultType] | None = None,
    callbacks: Sequence[Callback] = (),
    *,
    num_replicas: int = 1,
) -> Executable:
    """Load the bytes of `Executable.serialize` on the given devices.

    `out_avals` as in `compile`; `callbacks` must be declared as they were there. Only for bytes
    that this user wrote where `client.platform_fingerprint` was the same: XLA checks neither.
    """
    if not callbacks and CALLS_PYTHON.search(blob.decode("latin-1")):
        raise worded(
            ValueError("deserialize: the program calls Python callbacks, but none are given")
        )
    devices = tuple(devices)
    checked = [checked_callback(*c) for c in callbacks]
    # Without options it would run on the devices that it was compiled for.
    partitions = len(devices) // num_replicas
    options = compile_options(devices, {}, num_replicas, partitions, shardy=False)
    loaded = client.deserialize_executable(blob, xla_client.DeviceList(devices), options, checked)
    return Executable(loaded, devices, out_avals)
