"""Transform HLO modules while XLA compiles them.

>>> from sagax.extend import xla
>>> xla.PipelineStage.PRE_SCHEDULER.value
0
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence

from sagax._src.diagnostics.errors import ArgumentError
from sagax._src.primitives.unsupported import UnsupportedError
from sagax._src.xla import bindings

__all__ = [
    "PipelineStage",
    "clear_hlo_module_transformation",
    "register_hlo_module_transformation",
]


class PipelineStage(enum.Enum):
    """Name the stages at which a transformation can run: before or after the scheduler.

    >>> [stage.name for stage in xla.PipelineStage]
    ['PRE_SCHEDULER', 'POST_SCHEDULER']
    """

    PRE_SCHEDULER = 0
    POST_SCHEDULER = 1


def _check(function: str, stage: PipelineStage, platforms: Sequence[str] | str | None) -> None:
    if not isinstance(stage, PipelineStage):
        raise ArgumentError.about(function, "stage", repr(stage), "a PipelineStage")
    named = [platforms] if isinstance(platforms, str) else list(platforms or ["cpu"])
    if named != ["cpu"]:
        raise UnsupportedError(
            f"transformations for {', '.join(named)}",
            function=function,
            argument="platforms",
            fix='pass platforms="cpu", or leave it out',
        )


def register_hlo_module_transformation(
    callback: Callable[[bytes], bytes | None],
    *,
    name: str,
    stage: PipelineStage = PipelineStage.PRE_SCHEDULER,
    platforms: Sequence[str] | str | None = None,
) -> None:
    """Call a function on each HLO module that is compiled for the CPU.

    `callback` takes a serialized module, and returns a changed one, or None. Executables that were compiled
    before, and those of the disk cache, stay as they are.

    >>> seen = []
    >>> xla.register_hlo_module_transformation(lambda module: seen.append(module), name="look")
    >>> xla.clear_hlo_module_transformation("look")
    True
    """
    _check("register_hlo_module_transformation", stage, platforms)
    bindings.register_pass(name, stage.value, callback)


def clear_hlo_module_transformation(
    name: str,
    stage: PipelineStage = PipelineStage.PRE_SCHEDULER,
    platforms: Sequence[str] | str | None = None,
) -> bool:
    """Remove a transformation; return whether it was registered.

    >>> xla.clear_hlo_module_transformation("unknown")
    False
    """
    _check("clear_hlo_module_transformation", stage, platforms)
    return bindings.clear_pass(name, stage.value)
