"""Hand out jaxlib's own modules and functions, for libraries that extend the compiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sagax._src.xla.engine import xla_client, xla_extension
from sagax._src.xla.load import load

portable: Any = xla_extension.mlir  # functions on modules as bytes


def module(name: str) -> Any:
    """Return a module of jaxlib: "mlir.ir", "mlir.dialects", "mlir.passmanager" or "_ifrt_proxy"."""
    return load(f"jaxlib.{name}")


def dialects() -> Any:
    """Return the registry of the dialects that modules use."""
    registry = module("mlir.ir").DialectRegistry()
    module("mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    return registry


def context_class() -> Any:
    """Return a class of MLIR contexts in which no dialect is loaded before it is asked for."""
    ir = module("mlir.ir")

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        super(ir.Context, self).__init__(*args, **kwargs)  # ir.Context loads all of them

    return type("JaxIrContext", (ir.Context,), {"__init__": start})


def register_pass(name: str, stage: int, callback: Callable[[bytes], bytes | None]) -> None:
    """Run a function on each HLO module that the CPU compiles, at a stage of the pipeline."""
    module("_xla").register_xla_transform(name, stage, callback)


def clear_pass(name: str, stage: int) -> bool:
    """Remove such a function; return whether it was there."""
    return bool(module("_xla").clear_xla_transform(name, stage))


def extension() -> Any:
    """Return jaxlib's extension module."""
    return xla_extension


def op_sharding(data: bytes) -> Any:
    """Read an `OpSharding` from bytes."""
    found = xla_client.OpSharding()
    found.ParseFromString(data)
    return found


def hlo_sharding(data: bytes) -> Any:
    """Read an `HloSharding` from bytes."""
    return xla_client.HloSharding.from_proto(op_sharding(data))


def serialized_topology(devices: list[Any]) -> bytes:
    """Write the topology of devices as bytes."""
    return xla_extension.get_topology_for_devices(devices).serialize()


def described_devices(data: bytes) -> list[Any]:
    """Return the devices of a topology in bytes; modules can be compiled for them, and not run."""
    return list(xla_extension.DeviceTopology.deserialize(data)._make_compile_only_devices())


def named_topology(platform: str, name: str, options: dict[str, Any]) -> list[Any]:
    """Return the devices of a topology that the plugin of a platform describes."""
    found = xla_extension.get_default_c_api_topology(platform, name, options)
    return list(found._make_compile_only_devices())


def buffer_types() -> Any:
    """Return jaxlib's types of the arguments of callbacks on buffers."""
    return xla_extension.ffi
