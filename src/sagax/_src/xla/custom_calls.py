"""Register targets of custom calls: native functions, their state types and their partitioners."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable
from typing import Any

import jaxlib.version
import numpy as np

from sagax._src.xla.engine import xla_client
from sagax._src.xla.load import load
from sagax._src.xla.shardings import REPLICATED, parse_sharding


def register_target(
    name: str, capsule: Any, platform: str = "cpu", api_version: int = 1, **more: Any
) -> None:
    """Make a native function callable by custom calls; registering it again is no error.

    `api_version` 1 is XLA's typed FFI, 0 the old untyped form.
    """
    xla_client.register_custom_call_target(
        name, capsule, platform=platform, api_version=api_version, **more
    )


def register_type(name: str, registration: dict, platform: str = "cpu") -> None:
    """Register the type of a native function's state: capsules by 'type_id', 'type_info'."""
    xla_client.register_custom_type(name, registration, platform=platform)


# A plugin has an XLA of its own: what shards calls is registered with each. Loaded plugins, and what was registered.
_plugins: list[Any] = []
_registered: list[Callable[[Any], None]] = []


def _register_with_all(register: Callable[[Any], None]) -> None:
    _registered.append(register)
    for c_api in (None, *_plugins):
        register(c_api)


def add_plugin(c_api: Any) -> None:
    """Let a plugin's XLA shard the calls that were registered, and those that will be."""
    _plugins.append(c_api)
    for register in _registered:
        register(c_api)


def register_batch_partitionable(name: str) -> None:
    """Let XLA shard calls of a native function along leading dimensions."""
    _register_with_all(
        lambda c_api: xla_client.register_custom_call_as_batch_partitionable(name, c_api)
    )


# The type of an operand or result as a partitioner sees it: shape, dtype, and the text of its sharding.
ShardedType = tuple[tuple[int, ...], np.dtype, str]
Partition = Callable[[str, list[ShardedType], list[ShardedType]], tuple[str, list[str], list[str]]]
# Exceptions of partitioners (XLA keeps their text only), by the `backend_config` of the call.
_partition_failures: dict[str, Exception] = {}


def register_partitioner(name: str, partition: Partition) -> None:
    """Let a Python function shard calls of the target `name`.

    `partition` gets the call's `backend_config`, operands and results. It returns the module that each
    device runs on its shards, and the shardings that operands and results then have.
    """

    def sharded_type(shape: Any, sharding: Any) -> ShardedType:
        return tuple(shape.dimensions()), shape.numpy_dtype(), str(sharding)

    def packed(shape: Any, found: list[Any]) -> Any:
        return xla_client.HloSharding.tuple_sharding(shape, found) if shape.is_tuple() else found[0]

    def on_partition(shapes: Any, given: Any, shape: Any, result: Any, key: bytes) -> Any:
        several = shape.is_tuple()
        outs = zip(shape.tuple_shapes(), result.tuple_elements()) if several else [(shape, result)]
        try:
            operands = list(map(sharded_type, shapes, given))
            results = [sharded_type(*out) for out in outs]
            text, in_texts, out_texts = partition(key.decode(), operands, results)
        except Exception as error:
            _partition_failures[key.decode()] = error
            raise
        out_shardings = list(map(parse_sharding, out_texts))
        return text.encode(), list(map(parse_sharding, in_texts)), packed(shape, out_shardings)

    def on_infer(shapes: Any, given: Any, shape: Any, key: bytes) -> Any:
        count = len(shape.tuple_shapes()) if shape.is_tuple() else 1
        return packed(shape, [REPLICATED] * count)  # the sdy dialect says how shardings propagate

    _register_with_all(
        lambda c_api: xla_client.register_custom_call_partitioner(
            name,
            lambda sharding, shape, key: sharding,
            on_partition,
            on_infer,
            can_side_effecting_have_replicated_sharding=True,
            c_api=c_api,
        )
    )


def raise_partition_failure(module: str) -> None:
    """Raise the exception of a partitioner that the module's text refers to, if one failed."""
    for key in list(_partition_failures):
        if key in module:
            raise _partition_failures.pop(key) from None


def include_dir() -> str:
    """Return the folder of the C++ headers for native functions."""
    return str(pathlib.Path(jaxlib.version.__file__).parent / "include")


def register_kernel_module(module: Any, platform: str) -> None:
    """Register all native functions of one of jaxlib's kernel modules."""
    for name, capsule, api_version in module.registrations()[platform]:
        register_target(name, capsule, platform, api_version)
    for name in getattr(module, "batch_partitionable_targets", list)():
        register_batch_partitionable(name)


@functools.cache
def register_sparse_kernels() -> None:
    """Register jaxlib's product of compressed rows for the CPU; once a process."""
    register_kernel_module(load("jaxlib.cpu_sparse"), "cpu")


@functools.cache
def register_cpu_kernels() -> None:
    """Register LAPACK and jaxlib's other native functions for the CPU; once a process.

    Call it before an executable that uses them runs, and not without need: it loads SciPy.
    """
    register_sparse_kernels()
    register_kernel_module(load("jaxlib.lapack"), "cpu")
    # Takes the routines from SciPy; before that the kernels are null pointers.
    load("jaxlib.cpu._lapack").initialize()
