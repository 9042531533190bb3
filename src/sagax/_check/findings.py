"""Define findings: a code, a message, and a range of a file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["INVALID", "NAMES", "UNREADABLE", "Finding", "is_warning"]

INVALID = "invalid-syntax"
UNREADABLE = "unreadable"

# The codes that can be told from source alone, with the classes that have them.
NAMES = {
    INVALID: "SyntaxError",
    UNREADABLE: "UnicodeError",
    "SX0003": "DtypeError",
    "SX0005": "ArgumentError",
    "SX0006": "ArgumentValueError",
    "SX0007": "NotAnArrayError",
    "SX0101": "ConcretizationTypeError",
    "SX0102": "TracerBoolConversionError",
    "SX0103": "TracerIntegerConversionError",
    "SX0104": "TracerArrayConversionError",
    "SX0105": "NonConcreteBooleanIndexError",
    "SX0107": "LeakedTraceError",
    "SX0108": "KeyReuseError",
    "SX0126": "ArrayIndexError",
    "SX0202": "DeletedArrayError",
    "SX0401": "SideEffectWarning",
    "SX0402": "StaleValueWarning",
    "SX0403": "RecompilationWarning",
    "SX0404": "UnrolledLoopWarning",
    "SX0410": "UnusedResultWarning",
    "SX0411": "ImpureTraceWarning",
    "SX0412": "AsyncTimingWarning",
    "SX0413": "HostSyncWarning",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Describe one mistake.

    Lines count from 1, columns from 0 in characters, and the end is exclusive. In a notebook the lines
    are those of the cell `cell`, which counts from 1. `source` holds the lines of the range.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    message: str
    help: str = ""
    cell: int | None = None
    source: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the class of this code."""
        return NAMES[self.code]

    @property
    def place(self) -> str:
        """Return `path:line:column`, with the cell in a notebook."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.file}:{cell}{self.line}:{self.column + 1}"


def is_warning(code: str) -> bool:
    """Return whether code of this kind runs, but does not do what its author means."""
    return code.startswith("SX04")
