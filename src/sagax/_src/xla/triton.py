"""Verify kernels in Triton IR, and write them as XLA's custom call for Triton takes them."""

from __future__ import annotations

import io
from typing import Any

from sagax._src.xla.engine import BEFORE_0_11, EngineError, engine_version_text
from sagax._src.xla.load import load

# The target of the custom call: XLA compiles the kernel in its configuration, and launches it.
TARGET = "__gpu$xla.gpu.triton"


class TritonMissingError(ImportError):
    """This jaxlib has no Triton that kernels can be lowered to."""


class TritonIRError(ValueError):
    """Triton's verifier refuses a kernel; the text has its messages."""


def _dialect() -> Any:
    if BEFORE_0_11:
        raise TritonMissingError(
            f"jaxlib {engine_version_text} is older than 0.11, the first whose Triton is supported"
        )
    try:
        return load("jaxlib.triton.dialect")
    except ImportError as error:
        raise TritonMissingError(
            f"jaxlib {engine_version_text} was built without the Triton dialect: {error}"
        ) from error


def parse(kernel: str | bytes) -> Any:
    """Parse and verify a kernel, text or bytecode, into an object of MLIR's Python bindings.

    Raises TritonMissingError, and TritonIRError with the verifier's messages.
    """
    dialect = _dialect()
    ir = load("jaxlib.mlir.ir")
    extension = load("jaxlib.mlir._mlir_libs._jax_mlir_ext")
    context, registry = ir.Context(), ir.DialectRegistry()
    extension.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.enable_multithreading(False)
    dialect.register_dialect(context)
    problems: list[str] = []

    def note(diagnostic: Any) -> bool:
        problems.append(diagnostic.message)
        return True  # and so it is not written on stderr

    with context, context.attach_diagnostic_handler(note):
        try:
            return ir.Module.parse(kernel)
        except (ir.MLIRError, ValueError, EngineError) as error:
            problems += [d.message for d in getattr(error, "error_diagnostics", ())]
            text = str(error)
    raise TritonIRError("; ".join(problems) or text)


def bytecode(kernel: str) -> bytes:
    """Verify a kernel, and return it as MLIR bytecode. Raises as `parse` does."""
    out = io.BytesIO()
    parse(kernel).operation.write_bytecode(out)
    return out.getvalue()
