"""Render diagnostics as text, ANSI color, HTML and JSON, in one layout.

message
  --> file.py:14:8 in function
14 | if size < delta:
   |    ^^^^^^^^^^^^
  depends on: weights, batch['x'] (arguments of loss)
  through:
    file.py:22  batch["x"] @ weights   dot_general   float32[3]
  while tracing `loss` for jit
  note: ...
  fix: ...
"""

from __future__ import annotations

import html as html_module
import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

from sagax._src.diagnostics.edits import diff
from sagax._src.diagnostics.model import Diagnostic, Label, Severity, Span, Step, Suggestion, Trust
from sagax._src.diagnostics.spans import display_path, excerpt


class _StyledText(NamedTuple):
    """Hold a text and its role, which selects its color."""

    text: str
    role: str = ""


_Line = list[_StyledText]

_WIDTH = 96
_WRAP_OPTIONS: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
_MAX_EXPRESSION = 56


def plain(diagnostic: Diagnostic) -> str:
    """Render a diagnostic as the deterministic text of `str(error)`."""
    return "\n".join("".join(p.text for p in line).rstrip() for line in _layout(diagnostic))


# --- layout --------------------------------------------------------------------------------------


_MAX_LINES = 25


def _layout(d: Diagnostic) -> Iterator[_Line]:
    """Yield all lines; of the suggestions those that fit on a screen, at least one."""
    lines = list(_message_lines(d))
    for i, suggestion in enumerate(d.suggestions):
        found = list(_suggestion_lines(suggestion))
        room = _MAX_LINES - len(lines)
        if len(found) > room:
            if i:
                break
            shown = max(room - 1, 3)
            more = f"    ... {len(found) - shown} more lines"
            found = [*found[:shown], [_StyledText(more)]] if len(found) > shown + 1 else found
        lines += found
    yield from lines


def _message_lines(d: Diagnostic) -> Iterator[_Line]:
    head, *facts = d.message.split("\n")
    yield [_StyledText(head, d.severity.value)]
    for fact in facts:
        yield [_StyledText(fact)]
    for label in sorted(d.labels, key=lambda label: not label.primary):
        yield from _label_lines(label)
    yield from _provenance_lines(d)
    if d.context:
        yield [_StyledText("  while " + ", ".join(d.context), "context")]
    for note in d.notes:
        yield from _paragraph("note", note)


def _paragraph(title: str, text: str) -> Iterator[_Line]:
    first, *rest = text.split("\n")
    head, *more = textwrap.wrap(first, _WIDTH - len(title), **_WRAP_OPTIONS) or [""]
    yield [_StyledText(f"  {title}: ", title), _StyledText(head)]
    for line in more:
        yield [_StyledText("    " + line)]
    for line in rest:
        yield [_StyledText("    " + line)]


def _location(span: Span) -> str:
    column = "" if span.column is None else f":{span.column + 1}"
    return f"{display_path(span.file)}:{span.line}{column}"


def _label_lines(label: Label) -> Iterator[_Line]:
    span = label.span
    inside = f" in {span.function}" if span.function and span.function != "<module>" else ""
    yield [_StyledText("  --> ", "frame"), _StyledText(f"{_location(span)}{inside}", "location")]
    lines = excerpt(span)
    if not lines:
        known = "" if span.file.startswith("<") else " (this source is missing or has changed)"
        if label.text or known:
            yield [_StyledText(f"      {label.text}{known}".rstrip(), "frame")]
        return
    gutter = len(str(max(line.number or 0 for line in lines)))
    mark = "primary" if label.primary else "secondary"
    for i, line in enumerate(lines):
        number = "" if line.number is None else str(line.number)
        yield [_StyledText(f"{number:>{gutter}} | ", "frame"), _StyledText(line.text, "source")]
        if line.marks.strip():
            text = f" {label.text}" if label.text and i == len(lines) - 1 else ""
            yield [_StyledText(" " * gutter + " | ", "frame"), _StyledText(line.marks + text, mark)]


def _provenance_lines(d: Diagnostic) -> Iterator[_Line]:
    if d.depends:
        noun = "argument" if len(d.depends) == 1 else "arguments"
        of = f" ({noun} of {d.function})" if d.function else ""
        yield [_StyledText("  depends on: ", "note"), _StyledText(_join_names(d.depends) + of)]
    # the last step is often the offending expression itself, which an excerpt shows already
    excerpts = [label.span for label in d.labels]
    chain = [step for step in d.chain if step.span not in excerpts]
    if not chain:
        return
    yield [_StyledText("  through:", "note")]
    rows = [
        (_line_location(step), _expression(step), _operations(step), step.aval) for step in chain
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        line, text, operations = (
            cell.ljust(width) for cell, width in zip(row, widths, strict=False)
        )
        yield [
            _StyledText(f"    {line}  ", "location"),
            _StyledText(f"{text}  ", "source"),
            _StyledText(f"{operations}  {row[3]}", "frame"),
        ]


def _join_names(names: tuple[str, ...], most: int = 8) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _line_location(step: Step) -> str:
    return f"{display_path(step.span.file)}:{step.span.line}"


def _expression(step: Step) -> str:
    text = " ".join(step.span.text.split()) or f"in {step.span.function}"
    return text if len(text) <= _MAX_EXPRESSION else text[: _MAX_EXPRESSION - 3] + "..."


def _operations(step: Step) -> str:
    names = step.what.split(", ")
    what = step.what if len(names) <= 3 else f"{names[0]}, ..., {names[-1]}"
    return what if step.times < 3 else f"{what} ({step.times} times)"


def _suggestion_lines(suggestion: Suggestion) -> Iterator[_Line]:
    s = suggestion
    name = "allow" if s.allows else "fix"
    grade = {Trust.ADVICE: "", Trust.SUGGESTED: " (not tried)"}.get(s.trust, f" ({s.trust.value})")
    yield from _paragraph(name, s.title + grade)
    if s.held:
        yield from _paragraph("  compared", "; ".join(s.held))
    if s.missing and s.trust is Trust.RAN:
        yield from _paragraph("  not compared", "; ".join(s.missing))
    if s.cost:
        yield from _paragraph("  cost", s.cost)
    for line in diff(suggestion.edits).splitlines():
        if not line.startswith(("---", "+++", "@@", "\\ No newline")):
            role = {"+": "added", "-": "removed"}.get(line[:1], "source")
            yield [_StyledText("    " + line, role)]


# --- color ---------------------------------------------------------------------------------------

_STYLES = {
    Severity.ERROR.value: "bold red", Severity.WARNING.value: "bold yellow", "frame": "dim",
    "location": "cyan", "primary": "bold red", "secondary": "yellow", "context": "magenta",
    "note": "bold", "fix": "bold green", "added": "green", "removed": "red",
}  # fmt: skip


def ansi(diagnostic: Diagnostic, file: Any) -> None:
    """Print a diagnostic to `file` in color, if it is a terminal and NO_COLOR is not set."""
    from rich.console import Console  # it loads slowly, and only terminals need it
    from rich.text import Text

    console = Console(file=file, highlight=False, soft_wrap=True)
    for line in _layout(diagnostic):
        text = Text()
        for piece in line:
            text.append(piece.text, _STYLES.get(piece.role, ""))
        text.rstrip()
        console.print(text)


# --- HTML ----------------------------------------------------------------------------------------

# Middle tones, readable in light and in dark notebooks.
_CSS = {
    Severity.ERROR.value: "color:#d33;font-weight:600;white-space:pre-wrap",
    Severity.WARNING.value: "color:#b7791f;font-weight:600;white-space:pre-wrap",
    "frame": "opacity:.6", "location": "color:#2a8fa8", "primary": "color:#d33", "secondary": "color:#b7791f",
    "context": "color:#a05fc4", "note": "font-weight:600", "fix": "color:#2e9e52;font-weight:600",
    "added": "color:#2e9e52", "removed": "color:#d33",
}  # fmt: skip


def html(diagnostic: Diagnostic) -> str:
    """Render a diagnostic as self-contained HTML for notebooks."""
    head = f'<span style="font-weight:600">{html_module.escape(diagnostic.error)}</span>: '
    lines = ["".join([_styled(p) for p in line]).rstrip() for line in _layout(diagnostic)]
    style = "margin:0;line-height:1.35;white-space:pre;overflow-x:auto"  # aligns marks with text
    return f'<pre class="sagax-diagnostic" style="{style}">{head}' + "\n".join(lines) + "</pre>"


def _styled(piece: _StyledText) -> str:
    text = html_module.escape(piece.text)
    css = _CSS.get(piece.role)
    return text if css is None else f'<span style="{css}">{text}</span>'


# --- JSON ----------------------------------------------------------------------------------------


def as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """Render a diagnostic as a JSON object. Lines count from 1, columns from 0 in characters."""
    d = diagnostic
    return {
        "error": d.error,
        "code": d.code,
        "severity": d.severity.value,
        "message": d.message,
        "primary": None if d.primary is None else _span_json(d.primary),
        "labels": [
            {**_span_json(label.span), "text": label.text}
            for label in d.labels
            if not label.primary
        ],
        "depends": list(d.depends),
        "function": d.function,
        "chain": [
            {"op": s.what, "file": s.span.file, "line": s.span.line, "column": s.span.column,
             "text": s.span.text, "aval": s.aval, "times": s.times}
            for s in d.chain
        ],
        "context": list(d.context),
        "notes": list(d.notes),
        "suggestions": [
            {"kind": s.kind, "title": s.title, "diff": diff(s.edits), "grade": s.trust.value,
             "verified": s.verified, "allows": s.allows, "held": list(s.held), "missing": list(s.missing),
             "cost": s.cost}
            for s in d.suggestions
        ],
    }  # fmt: skip


def _span_json(span: Span) -> dict[str, Any]:
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "function": span.function,
    }
