"""Define the task and the outcome of a run of the user's script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sagax._autofix.derivative_checks import DerivativeCheck
from sagax._autofix.probes import Probe, Records
from sagax._autofix.repairs.case import Facts, Measurement, Question
from sagax._src.diagnostics.model import Span


@dataclass(frozen=True)
class Task:
    """Describe one run of a script.

    Attributes:
      changed: texts that replace the contents of files.
      watch: whether all checks are on.
      untransformed: whether jit, vmap and the control flow of lax run as Python.
      assume: whether what no rule of the library allows has its only meaning there, if it has one.
      measure: expressions to record the values of.
      evaluate: texts to evaluate in place of expressions, if the run fails there.
      in_place: calls whose result is thrown away, to update their arguments in place.
      probe: what to change and record in functions of the script.
      ignore: variables and attributes that are not among the results.
      stdin: what the script reads from standard input.
      sandbox: whether what it writes is forgotten, and it has no network.
      trial: whether clocks and unseeded generators are the same in each run, to compare runs.
    """

    script: str
    arguments: tuple[str, ...] = ()
    changed: Mapping[str, str] = field(default_factory=dict[str, str])
    watch: bool = False
    untransformed: bool = False
    assume: bool = False
    measure: tuple[Span, ...] = ()
    evaluate: tuple[Question, ...] = ()
    in_place: tuple[Span, ...] = ()
    probe: Probe | None = None
    trial: bool = False
    ignore: tuple[str, ...] = ()
    stdin: bytes = b""
    sandbox: bool = False


@dataclass(frozen=True)
class Outcome:
    """Hold the outcome of a run: "clean", "error" (uncaught), "exit", "timeout" or "crash"."""

    status: str
    error: Facts | None = None
    warnings: tuple[Facts, ...] = ()
    traceback: str = ""
    output: str = ""
    results: Mapping[str, Any] = field(default_factory=dict[str, Any])
    measured: Mapping[Span, list[Measurement]] = field(
        default_factory=dict[Span, list[Measurement]]
    )
    evaluated: Mapping[Question, Measurement] = field(default_factory=dict[Question, Measurement])
    files: tuple[str, ...] = ()
    seconds: float = 0.0
    code: int = 0
    derivatives_lost: bool = False  # differentiated values were converted to numbers
    records: Records | None = None
    derivatives: tuple[DerivativeCheck, ...] = ()
    assumed: tuple[str, ...] = ()  # what gave this run its result
    peak_bytes: int = 0
    effects: tuple[str, ...] = ()  # on files, sockets and processes
    stdin: bytes = b""  # what it could read

    @property
    def found(self) -> Facts | None:
        """Return the facts to explain: those of the error, or else of the first warning."""
        if self.error is not None and self.error.diagnostic.error == "KeyReuseError":
            for warning in self.warnings:  # a split that was thrown away is the cause
                if warning.data.get("called", "").startswith("jax.random."):
                    return warning
        return self.error or (self.warnings[0] if self.warnings else None)

    @property
    def completed(self) -> bool:
        """Return whether the script ran to its end."""
        return self.status in ("clean", "exit") and self.code == 0

    @property
    def clean(self) -> bool:
        return self.completed and self.found is None
