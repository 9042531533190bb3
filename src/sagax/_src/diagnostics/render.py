"""Render diagnostics as text, ANSI color, HTML and JSON, in one layout.

headline
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

import dataclasses
import html as html_module
from collections.abc import Iterator
from typing import Any, NamedTuple

from sagax._src import config
from sagax._src.diagnostics.edits import diff
from sagax._src.diagnostics.model import Diagnostic, Label, Severity, Span, Step, Suggestion, Trust
from sagax._src.diagnostics.spans import display_line, excerpt, line_in_cell
from sagax._src.diagnostics.wording import in_users_language, localized
from sagax._src.languages.choice import word_lines
from sagax._src.languages.widths import columns, wrap


class _StyledText(NamedTuple):
    """Hold a text and its role, which selects its color."""

    text: str
    role: str = ""


_Line = list[_StyledText]

_WIDTH = 79
_MAX_EXPRESSION = 40


def plain(diagnostic: Diagnostic) -> str:
    """Render a diagnostic as the deterministic text of `str(error)`, its message as it was raised."""
    return "\n".join("".join(p.text for p in line).rstrip() for line in _layout(diagnostic))


def page(diagnostic: Diagnostic) -> str:
    """Render a diagnostic as a page for a terminal of 80 columns, which begins with its code."""
    lines = _layout(diagnostic, wrapped=True)
    return "\n".join("".join(p.text for p in line).rstrip() for line in lines)


# --- layout --------------------------------------------------------------------------------------


_MAX_LINES = 25


def _layout(d: Diagnostic, wrapped: bool = False) -> Iterator[_Line]:
    """Yield all lines; of the suggestions the first, and those that fit on a screen."""
    d = _worded(d)
    lines = list(_message_lines(d, wrapped))
    for i, suggestion in enumerate(d.suggestions):
        found = list(_suggestion_lines(suggestion))
        if i and len(lines) + len(found) > _MAX_LINES:
            break
        lines += found
    yield from lines


def _worded(d: Diagnostic) -> Diagnostic:
    """Return a diagnostic in the language of the settings; its message stays, to be searched for."""
    if config.current().lang == "en":
        return d
    head, *rest = d.message.split("\n")
    first = localized(d.headline) if d.headline else _worded_line(head)
    lines = [first, *[worded for line in rest if (worded := _worded_line(line)) != line]]
    return dataclasses.replace(
        d,
        headline="" if lines == [head] else "\n".join(lines),
        labels=tuple(dataclasses.replace(x, text=localized(x.text)) for x in d.labels),
        context=tuple(localized(phrase) for phrase in d.context),
        notes=tuple(localized(note) for note in d.notes),
        suggestions=tuple(
            dataclasses.replace(
                s,
                title=localized(s.title),
                held=tuple(map(localized, s.held)),
                missing=tuple(map(localized, s.missing)),
                cost=localized(s.cost),
            )
            for s in d.suggestions
        ),
    )


def _worded_line(line: str) -> str:
    """Return a line of a message in the language of the settings; what was got, and by which argument, stays."""
    name, _, fact = line.strip().partition(": ")
    if line.startswith("  ") and name in ("argument", "got", "expected"):
        worded = localized(fact) if name == "expected" else fact
        return line if worded == fact else f"  {localized(name)}{_colon()}{worded}"
    return word_lines(line, config.current().lang)


def _message_lines(d: Diagnostic, wrapped: bool) -> Iterator[_Line]:
    facts = d.message.split("\n")
    if wrapped:
        yield from _head_lines(d)
    else:
        yield [_StyledText(d.headline or facts.pop(0), d.severity.value)]
        for fact in facts:
            yield [_StyledText(fact)]
    for label in sorted(d.labels, key=lambda label: not label.primary):
        yield from _label_lines(label)
    yield from _provenance_lines(d, wrapped)
    if d.context:
        between = localized(", ")
        phrases = in_users_language("while {phrases}", phrases=between.join(d.context))
        for line in _wrap(phrases, _WIDTH - 2):
            yield [_StyledText("  " + line, "context")]
    for note in d.notes:
        yield from _paragraph("note", note)


def _head_lines(d: Diagnostic) -> Iterator[_Line]:
    """Yield `error[SX0102] TracerBoolConversionError: headline`, then jax's words, wrapped."""
    head, *facts = d.message.split("\n")
    first, *more = (d.headline or head).split("\n")
    for line in _wrap(f"{_title(d)}: {first}", _WIDTH):
        yield [_StyledText(line, d.severity.value)]
    for text in more:
        for line in _wrap(text, _WIDTH - 2):
            yield [_StyledText("  " + line)]
    for fact in [head, *facts] if d.headline else facts:
        indent = " " * max(len(fact) - len(fact.lstrip()), 2)
        for line in _wrap(fact, _WIDTH - len(indent)):
            yield [_StyledText(indent + line)]


def _title(d: Diagnostic) -> str:
    return f"{d.severity.value}[{d.code}] {d.error}" if d.code else d.error


def _wrap(text: str, width: int) -> list[str]:
    """Break a text into lines; the lines after the first are to be indented by 2."""
    return wrap(" ".join(text.split()), width, "  ")


def _paragraph(title: str, text: str) -> Iterator[_Line]:
    first, *rest = text.split("\n")
    role = title.strip()
    title = title.replace(role, localized(role))
    head, *more = wrap(first, _WIDTH - columns(title) - 4) or [""]
    yield [_StyledText(f"  {title}{_colon()}", role), _StyledText(head)]
    for line in more:
        yield [_StyledText("    " + line)]
    for line in rest:
        yield [_StyledText("    " + line)]


def _colon() -> str:
    return localized(": ")


def _location(span: Span) -> str:
    column = "" if span.column is None else f":{span.column + 1}"
    return f"{display_line(span.file, span.line)}{column}"


def _label_lines(label: Label) -> Iterator[_Line]:
    span = label.span
    inside = f" in {span.function}" if span.function and span.function != "<module>" else ""
    yield [_StyledText("  --> ", "frame"), _StyledText(f"{_location(span)}{inside}", "location")]
    lines = excerpt(span)
    if not lines:
        known = ""
        if not span.file.startswith("<"):
            known = localized(" (this source is missing or has changed)")
        if label.text or known:
            yield [_StyledText(f"      {label.text}{known}".rstrip(), "frame")]
        return
    numbers = [_shown_number(span, line.number) for line in lines]
    gutter = max(map(len, numbers))
    mark = "primary" if label.primary else "secondary"
    for i, line in enumerate(lines):
        yield [_StyledText(f"{numbers[i]:>{gutter}} | ", "frame"), _StyledText(line.text, "source")]
        if line.marks.strip():
            text = f" {label.text}" if label.text and i == len(lines) - 1 else ""
            yield [_StyledText(" " * gutter + " | ", "frame"), _StyledText(line.marks + text, mark)]


def _shown_number(span: Span, number: int | None) -> str:
    """Return the number of a line, in a notebook that in its cell; "" for omitted lines."""
    if number is None:
        return ""
    cell = line_in_cell(span.file, number)
    return str(number if cell is None else cell[1])


def _provenance_lines(d: Diagnostic, wrapped: bool) -> Iterator[_Line]:
    if d.depends:
        one = len(d.depends) == 1
        names = _join_names(d.depends)
        if d.function:
            noun = "argument" if one else "arguments"
            template = f"{{names}} ({noun} of {{function}})"
            names = in_users_language(template, names=names, function=d.function)
        yield from _paragraph("depends on", names)
    # the last step is often the offending expression itself, which an excerpt shows already
    excerpts = [label.span for label in d.labels]
    chain = [step for step in d.chain if step.span not in excerpts]
    if not chain:
        return
    yield [_StyledText(f"  {localized('through')}{_colon().rstrip()}", "note")]
    rows = [
        (_line_location(step), _expression(step), _operations(step), step.aval) for step in chain
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    if wrapped and 4 + sum(widths) + 6 + max(len(row[3]) for row in rows) > _WIDTH:
        for line, text, operations, aval in rows:
            yield [
                _StyledText(f"    {line.ljust(widths[0])}  ", "location"),
                _StyledText(text, "source"),
            ]
            yield [_StyledText(f"      {operations}  {aval}", "frame")]
        return
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
    if len(names) <= most:
        return shown
    template = "{names} and {count} more"
    return in_users_language(template, names=shown, count=len(names) - most)


def _line_location(step: Step) -> str:
    return display_line(step.span.file, step.span.line)


def _expression(step: Step) -> str:
    text = " ".join(step.span.text.split()) or f"in {step.span.function}"
    return text if len(text) <= _MAX_EXPRESSION else text[: _MAX_EXPRESSION - 3] + "..."


def _operations(step: Step) -> str:
    names = step.what.split(", ")
    what = step.what if len(names) <= 3 else f"{names[0]}, ..., {names[-1]}"
    if step.times < 3:
        return what
    return in_users_language("{names} ({count} times)", names=what, count=step.times)


def _suggestion_lines(suggestion: Suggestion) -> Iterator[_Line]:
    s = suggestion
    name = "allow" if s.allows else "fix"
    grade = {Trust.ADVICE: "", Trust.SUGGESTED: "not tried"}.get(s.trust, s.trust.value)
    graded = in_users_language("{title} ({grade})", title=s.title, grade=localized(grade))
    yield from _paragraph(name, graded if grade else s.title)
    if s.held:
        yield from _paragraph("  compared", localized("; ").join(s.held))
    if s.missing and s.trust is Trust.RAN:
        yield from _paragraph("  not compared", localized("; ").join(s.missing))
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
    "note": "bold", "depends on": "bold", "fix": "bold green", "added": "green", "removed": "red",
}  # fmt: skip


def ansi(diagnostic: Diagnostic, file: Any) -> None:
    """Print a diagnostic to `file` in color, if it is a terminal and NO_COLOR is not set."""
    from rich.console import Console  # it loads slowly, and only terminals need it
    from rich.text import Text

    console = Console(file=file, highlight=False, soft_wrap=True)
    for line in _layout(diagnostic, wrapped=True):
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
    "context": "color:#a05fc4", "note": "font-weight:600",
    "depends on": "font-weight:600", "fix": "color:#2e9e52;font-weight:600",
    "added": "color:#2e9e52", "removed": "color:#d33",
}  # fmt: skip


def html(diagnostic: Diagnostic) -> str:
    """Render a diagnostic as self-contained HTML for notebooks."""
    title = html_module.escape(_title(diagnostic))
    head = f'<span style="font-weight:600">{title}</span>: '
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
        "headline": d.headline,
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
