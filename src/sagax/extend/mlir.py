"""Read and write modules of StableHLO, and use MLIR's Python bindings: `ir`, `dialects`, `passmanager`.

>>> from sagax.extend import mlir
>>> hasattr(mlir.ir, "Module")
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sagax._src.xla import bindings

__all__ = [
    "deserialize_portable_artifact",
    "dialects",
    "hlo_to_stablehlo",
    "ir",
    "passmanager",
    "refine_polymorphic_shapes",
    "serialize_portable_artifact",
]

if TYPE_CHECKING:
    dialects: Any
    ir: Any
    passmanager: Any

_MODULES = {"dialects", "ir", "passmanager"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return bindings.module(f"mlir.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def serialize_portable_artifact(
    mlir_module: Any, target: str, use_mixed_serialization: bool = False
) -> bytes:
    """Write a module as a portable artifact, for a version of StableHLO such as "1.9.0".

    >>> lowered = sagax.jit(lambda x: x).lower(1.0)
    >>> isinstance(mlir.serialize_portable_artifact(lowered.compiler_ir(), "1.9.0"), bytes)
    True
    """
    return bindings.portable.serialize_portable_artifact(
        mlir_module, target, use_mixed_serialization
    )


def deserialize_portable_artifact(mlir_module: bytes, context: Any = None) -> Any:
    """Read a portable artifact as a module.

    >>> lowered = sagax.jit(lambda x: x).lower(1.0)
    >>> artifact = mlir.serialize_portable_artifact(lowered.compiler_ir(), "1.9.0")
    >>> "func.func" in str(mlir.deserialize_portable_artifact(artifact))
    True
    """
    if context is None:
        context = bindings.context_class()()
        context.append_dialect_registry(bindings.dialects())
    with context:
        return bindings.portable.deserialize_portable_artifact(mlir_module, context)


def refine_polymorphic_shapes(
    mlir_module: bytes,
    enable_shape_assertions: bool = True,
    validate_static_shapes: bool = True,
    enable_shardy: bool = False,
) -> bytes:
    """Infer the static shapes of a module, as bytes, from those of the arguments of @main.

    >>> refine = mlir.refine_polymorphic_shapes
    >>> callable(refine)
    True
    """
    return bindings.portable.refine_polymorphic_shapes(
        mlir_module,
        enable_shape_assertions=enable_shape_assertions,
        validate_static_shapes=validate_static_shapes,
        enable_shardy=enable_shardy,
    )


def hlo_to_stablehlo(computation: bytes) -> bytes:
    """Convert a serialized HLO module to StableHLO bytecode.

    >>> hlo = sagax.jit(lambda x: x).lower(1.0).compiler_ir("hlo")
    >>> isinstance(mlir.hlo_to_stablehlo(hlo.as_serialized_hlo_module_proto()), bytes)
    True
    """
    return bindings.portable.hlo_to_stablehlo(computation)
