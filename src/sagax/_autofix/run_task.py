"""Define the task that a run of the user's script gets, and its outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sagax._autofix.repairs.case import Facts, Measured
from sagax._src.diagnostics.model import Span

__all__ = ["Outcome", "Task"]


@dataclass(frozen=True)
class Task:
    """One run of a script.

    Attributes:
      changed: texts to use in place of what is in these files.
      watch: whether all checks are on.
      plainly: whether jit, vmap and the control flow of lax run as plain Python.
      measure: expressions whose values are wanted.
    """

    script: str
    arguments: tuple[str, ...] = ()
    changed: Mapping[str, str] = field(default_factory=dict[str, str])
    watch: bool = False
    plainly: bool = False
    measure: tuple[Span, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a run went: "clean", "error" (uncaught), "exit" (a status), "timeout" or "crash"."""

    status: str
    error: Facts | None = None
    warnings: tuple[Facts, ...] = ()
    traceback: str = ""
    output: str = ""
    results: Mapping[str, Any] = field(default_factory=dict[str, Any])
    measured: Mapping[Span, list[Measured]] = field(default_factory=dict[Span, list[Measured]])
    files: tuple[str, ...] = ()
    seconds: float = 0.0
    code: int = 0
    derivatives_lost: bool = False  # numbers were taken out of values being differentiated

    @property
    def found(self) -> Facts | None:
        """What there is to explain: the error, or else the first warning."""
        return self.error or (self.warnings[0] if self.warnings else None)

    @property
    def clean(self) -> bool:
        return self.status in ("clean", "exit") and self.code == 0 and self.found is None
