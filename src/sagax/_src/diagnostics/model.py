"""What an explanation is made of: plain frozen data that can be rendered, compared and pickled."""

from __future__ import annotations

import enum
from typing import Any, cast

from sagax._src.frozen_class import record

__all__ = [
    "Diagnostic",
    "Edit",
    "Label",
    "Severity",
    "Span",
    "Step",
    "Suggestion",
    "Trust",
    "type_text",
]


class Severity(enum.Enum):
    ERROR = "error"
    WARNING = "warning"


class Trust(enum.Enum):
    """How far a suggestion may be believed."""

    VERIFIED = "verified"  # sagax ran the changed program
    PLAUSIBLE = "plausible"  # made for this program, not run
    TEMPLATE = "template"  # general advice for this kind of mistake


@record(slots=True)
class Span:
    """A piece of source text.

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
        """The exact expression (whole lines when columns are unknown), or "" without source."""
        if not self.source:
            return ""
        if self.column is None or self.end_column is None:
            return "\n".join(self.source).strip()
        if len(self.source) == 1:
            return self.source[0][self.column : self.end_column]
        first, *middle, last = self.source
        return "\n".join([first[self.column :], *middle, last[: self.end_column]])

    def contains(self, other: Span) -> bool:
        """Whether `other` is the same piece of text or a part of it."""
        if (self.file, self.function) != (other.file, other.function):
            return False
        start = (self.line, self.column or 0)
        end = (self.end_line, 1 << 30 if self.end_column is None else self.end_column)
        other_end = (other.end_line, 1 << 30 if other.end_column is None else other.end_column)
        return start <= (other.line, other.column or 0) and other_end <= end


@record(slots=True)
class Label:
    """A place in the user's source and what is to be said about it."""

    span: Span
    text: str = ""
    primary: bool = False


@record(slots=True)
class Step:
    """One step by which a value came about: an expression of the user's, and what it did."""

    span: Span
    what: str  # the operations
    aval: str  # the type of what came out
    times: int = 1  # how often it ran


@record(slots=True)
class Edit:
    """Replace the text of `span` by `text`."""

    span: Span
    text: str


@record(slots=True)
class Suggestion:
    """A way to repair the mistake. Without edits it is advice in words."""

    kind: str
    title: str
    edits: tuple[Edit, ...] = ()
    trust: Trust = Trust.TEMPLATE
    checked: str = ""  # what was tried


@record(slots=True)
class Diagnostic:
    """One error or warning, explained.

    `depends` names the arguments that the offending value comes from, `function` the traced
    function whose arguments they are; `chain` runs from the arguments to the offending expression;
    `context` says what was going on, outermost first.
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

    @property
    def primary(self) -> Span | None:
        """Where the user's own expression is at fault."""
        return next((label.span for label in self.labels if label.primary), None)


def type_text(value: Any) -> str:
    """`float32[3,4]` for an aval or whatever has one, "" for what has no shape and dtype."""
    aval = getattr(value, "aval", value)
    shape: Any = getattr(aval, "shape", None)
    dtype: Any = getattr(aval, "dtype", None)
    if type(shape) is not tuple or dtype is None:
        return ""
    if hasattr(aval, "str_short") and getattr(aval, "sharding", None) is not None:
        return aval.str_short(short_dtypes=False)  # which shows how it is divided among devices
    sizes = ",".join(map(str, cast("tuple[Any, ...]", shape)))
    return f"{getattr(dtype, 'name', dtype)}[{sizes}]"
