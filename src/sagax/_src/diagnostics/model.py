"""Define the data of an explanation: frozen classes to render, compare and pickle."""

from __future__ import annotations

import enum
from typing import Any, cast

from sagax._src.frozen_class import record


class Severity(enum.Enum):
    ERROR = "error"
    WARNING = "warning"


class Trust(enum.Enum):
    """Grade how far a suggestion was checked."""

    PROVEN = "proven"  # the changed program does what the original means, as far as runs can show
    RAN = "ran"  # the changed program runs clean; not everything could be compared
    SUGGESTED = "suggested"  # made for this program, not run
    ADVICE = "advice"  # general, for this kind of mistake


@record(slots=True)
class Span:
    """Identify a range of source text.

    Lines count from 1, columns from 0 in characters, the end is exclusive, as in `ast`. Columns are
    None when Python does not know them. `source` holds the whole lines `line` ... `end_line`; it is
    empty when they cannot be read, or are not those that were run.
    """

    file: str
    line: int
    column: int | None = None
    end_line: int = 0
    end_column: int | None = None
    function: str = ""
    source: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the exact expression (whole lines if columns are unknown), or "" without source."""
        if not self.source:
            return ""
        if self.column is None or self.end_column is None:
            return "\n".join(self.source).strip()
        if len(self.source) == 1:
            return self.source[0][self.column : self.end_column]
        first, *middle, last = self.source
        return "\n".join([first[self.column :], *middle, last[: self.end_column]])

    def contains(self, other: Span) -> bool:
        """Return whether `other` is the same range or a part of it."""
        if (self.file, self.function) != (other.file, other.function):
            return False
        start = (self.line, self.column or 0)
        end = (self.end_line, 1 << 30 if self.end_column is None else self.end_column)
        other_end = (other.end_line, 1 << 30 if other.end_column is None else other.end_column)
        return start <= (other.line, other.column or 0) and other_end <= end


@record(slots=True)
class Label:
    """Mark a span of the user's source with a text."""

    span: Span
    text: str = ""
    primary: bool = False


@record(slots=True)
class Step:
    """Describe one step of the computation of a value: the user's expression and its operations."""

    span: Span
    what: str  # the operations
    aval: str  # the type of the result
    times: int = 1  # the number of runs


@record(slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@record(slots=True)
class Suggestion:
    """Suggest a repair of the mistake; without edits, it is advice.

    `verified` says that the changed program ran and gives the wanted result: what the original gives
    without transformations, or, if that has none, what all repairs that run give. `allows` marks one
    that removes the alarm and keeps the fault. `held` lists the comparisons that hold, `missing` those
    that could not be made, `cost` the time or memory that the repair takes.
    """

    kind: str
    title: str
    edits: tuple[Edit, ...] = ()
    trust: Trust = Trust.ADVICE
    verified: bool = False
    allows: bool = False
    held: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    cost: str = ""


@record(slots=True)
class Diagnostic:
    """Explain one error or warning.

    `headline` says what happened in the names of the program; `message` holds the words to search for.
    `depends` names the arguments that the offending value depends on, `function` the traced function
    that has them. `chain` runs from the arguments to the offending expression. `context` names the
    transformations in progress, outermost first.
    """

    code: str
    error: str
    message: str
    severity: Severity = Severity.ERROR
    labels: tuple[Label, ...] = ()
    depends: tuple[str, ...] = ()
    function: str = ""
    chain: tuple[Step, ...] = ()
    context: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    headline: str = ""

    @property
    def primary(self) -> Span | None:
        """Return the span of the user's expression at fault."""
        return next((label.span for label in self.labels if label.primary), None)


def type_text(value: Any) -> str:
    """Return `float32[3,4]` for an aval or an array, "" for a value without shape and dtype."""
    aval = getattr(value, "aval", value)
    shape: Any = getattr(aval, "shape", None)
    dtype: Any = getattr(aval, "dtype", None)
    if type(shape) is not tuple or dtype is None:
        return ""
    if hasattr(aval, "str_short") and getattr(aval, "explicit_sharding", None) is not None:
        return aval.str_short(short_dtypes=False)  # it shows the sharding
    sizes = ",".join(map(str, cast("tuple[Any, ...]", shape)))
    return f"{getattr(dtype, 'name', dtype)}[{sizes}]"
