"""Write and read portable artifacts of StableHLO, which other versions of XLA can load."""

from __future__ import annotations

from sagax._src.xla.engine import EngineError, xla_extension
from sagax._src.xla.load import load
from sagax._src.xla.mlir import (
    ModuleError,
    error_problems,
    format_module,
    is_artifact,
    parse_module,
)


def stablehlo_version(*, weeks_back: int = 0) -> str:
    """Return the version of StableHLO that this jaxlib writes; with `weeks_back` 4 or 12, one that old."""
    stablehlo = load("jaxlib.mlir.dialects.stablehlo")
    if weeks_back == 0:
        return stablehlo.get_current_version()
    requirement = getattr(stablehlo.StablehloCompatibilityRequirement, f"WEEK_{weeks_back}")
    return stablehlo.get_version_from_compatibility_requirement(requirement)


def serialize_artifact(module: str | bytes, target: str | None = None) -> bytes:
    """Write the module as a portable artifact.

    `target` is a version of StableHLO, by default one 12 weeks old, or the newest that it takes to
    express the module. Raises ModuleError if the module is not valid or cannot be expressed.
    """
    problems: list[tuple[str, str]] = []
    for version in [target] if target else [stablehlo_version(weeks_back=w) for w in (12, 4, 0)]:
        try:
            # Mixed: other dialects (sdy) keep their own form within the artifact.
            return xla_extension.mlir.serialize_portable_artifact(
                parse_module(module), version, use_mixed_serialization=True
            )
        except (EngineError, ValueError) as error:
            problems = error_problems(error)
    raise ModuleError(problems)


def artifact_to_text(artifact: bytes, *, locations: bool = False) -> str:
    """Print a portable artifact in MLIR's pretty form. Raises ModuleError if it is none."""
    if not is_artifact(artifact):
        raise ModuleError([("unknown", "these bytes are no portable artifact of StableHLO")])
    return format_module(artifact, locations=locations)
