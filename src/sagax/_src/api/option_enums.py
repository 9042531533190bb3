"""Define enums for options of `jit` and of the configuration: compiler effort, inlining."""

from __future__ import annotations

import enum

__all__ = ["CompilerEffortLevel", "Inline"]


class Inline(enum.Enum):
    """Choose how a jitted function is called inside of another one.

    JAX_EARLY puts its operations into the enclosing jaxpr while tracing; with all others the call
    stays a call there, and XLA inlines as it sees fit.
    """

    JAX_EARLY = "jax_early"
    JAX_LATE = "jax_late"
    XLA_EARLY = "xla_early"
    XLA_LATE = "xla_late"
    AUTO = "auto"

    def __bool__(self) -> bool:
        return self is Inline.JAX_EARLY


class CompilerEffortLevel(enum.IntEnum):
    """Set XLA's effort for speed or against memory use: options `optimization_level`, `memory_fitting_level`."""

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39
