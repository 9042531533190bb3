"""Apply edits of the user's source, and format them as unified diffs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sagax._src.diagnostics.model import Edit, Span
from sagax._src.diagnostics.spans import display_path


def apply(source: str, edits: Iterable[Edit]) -> str:
    """Return the text of a file with all edits applied; they must not overlap."""
    return "\n".join(_apply_to_lines(source.split("\n"), 1, edits))


def diff(edits: Iterable[Edit]) -> str:
    """Return a unified diff of the lines that the edits touch, without context.

    Line numbers are those of the files, as the command `patch` needs. Without edits return "".
    """
    by_file: dict[str, list[Edit]] = {}
    for edit in edits:
        by_file.setdefault(edit.span.file, []).append(edit)
    return "".join(_file_diff(file, found) for file, found in by_file.items())


def _file_diff(file: str, edits: list[Edit]) -> str:
    import difflib  # 2 ms, for errors only

    before: dict[int, str] = {}
    for edit in edits:
        before.update(enumerate(edit.span.source, edit.span.line))
    hunks: list[str] = []
    shift = 0
    open_end = _unterminated_line(file)
    for first, last in _consecutive_runs(sorted(before)):
        old = [before[i] for i in range(first, last + 1)]
        new = _apply_to_lines(old, first, [e for e in edits if first <= e.span.line <= last])
        if last == open_end:
            old[-1], new[-1] = old[-1] + _NO_NEWLINE, new[-1] + _NO_NEWLINE
        changes = list(difflib.unified_diff(old, new, n=len(old), lineterm=""))[3:]
        start = first
        surplus = _leading_context(changes) - _leading_context(changes[::-1])
        if surplus > 0:
            # `patch` takes less context below than above for the end of the file
            changes = changes[surplus:]
            start += surplus
        if changes:
            hunks += [_hunk_header(start, shift, changes), *changes]
        shift += len(new) - len(old)
    name = display_path(file)
    return "\n".join([f"--- {name}", f"+++ {name}", *hunks, ""])


_NO_NEWLINE = "\n\\ No newline at end of file"


def _unterminated_line(file: str) -> int:
    """Return the number of the last line if it lacks a line terminator; else 0."""
    try:
        with open(file, "rb") as handle:
            data = handle.read()
    except OSError:  # no file: the cell of a notebook
        return 0
    return 0 if not data or data.endswith((b"\n", b"\r")) else len(data.splitlines())


def _leading_context(changes: list[str]) -> int:
    """Return the number of unchanged lines at the beginning."""
    return next((i for i, line in enumerate(changes) if line[:1] != " "), len(changes))


def _hunk_header(start: int, shift: int, changes: list[str]) -> str:
    """Return the header of a hunk whose first line has the number `start` in the old file."""
    old = sum(line[:1] != "+" for line in changes)
    new = sum(line[:1] != "-" for line in changes)
    # a range without lines has the number of the line above
    old_start, new_start = start - (old == 0), start + shift - (new == 0)
    return f"@@ -{old_start},{old} +{new_start},{new} @@"


_HUNK_HEADER = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def patch(text: str, changes: str) -> str | None:
    """Apply a unified diff to one file as the command `patch` does; None if it does not apply.

    The result depends on the diff alone, so that a diff can be checked against its edits.
    """
    lines = (text if text.endswith("\n") else text + "\0").split("\n")
    patched_lines, taken = list[str](), 0
    end = len(lines) - (lines[-1] == "")
    rows = changes.replace(_NO_NEWLINE, "\0").split("\n")
    heads = [i for i, row in enumerate(rows) if _HUNK_HEADER.fullmatch(row)]
    if not heads:
        return None if changes else text
    for i, stop in zip(heads, [*heads[1:], len(rows) - (rows[-1] == "")], strict=True):
        first, count, _, new_count = (int(n) for n in _HUNK_HEADER.findall(rows[i])[0])
        body = rows[i + 1 : stop]
        old = [row[1:] for row in body if row[:1] in ("-", " ")]
        new = [row[1:] for row in body if row[:1] in ("+", " ")]
        at = first - (count > 0)
        if (len(old), len(new)) != (count, new_count) or any(row[:1] not in "-+ " for row in body):
            return None
        if at < taken or lines[at : at + count] != old:
            return None
        above, below = _leading_context(body), _leading_context(body[::-1])
        if above > below and at + count != end:
            return None
        patched_lines += [*lines[taken:at], *new]
        taken = at + count
    after = "\n".join([*patched_lines, *lines[taken:]])
    return None if "\0" in after[:-1] else after.removesuffix("\0")


def _consecutive_runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Return runs of consecutive numbers as (first, last)."""
    runs: list[tuple[int, int]] = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs


_MERGE_DISTANCE = 3  # lines


def line_edits(file: str, old: str, new: str) -> tuple[Edit, ...]:
    """Return the edits of whole lines that turn the old text into the new one."""
    import difflib  # as in _file_diff

    before, after = old.split("\n"), new.split("\n")
    found: list[Edit] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changes: list[tuple[int, int, int, int]] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        if changes and i - changes[-1][1] <= _MERGE_DISTANCE:  # merge with the change above
            i, k = changes[-1][0], changes.pop()[2]
        changes.append((i, j, k, m))
    for i, j, k, m in changes:
        text = "\n".join(after[k:m])
        if i == j:  # an insertion, above the next line or below the last one
            if i < len(before):
                span = Span(file, i + 1, 0, i + 1, 0, "", (before[i],))
                found.append(Edit(span, text + "\n"))
            else:
                end = len(before[-1])
                span = Span(file, i, end, i, end, "", (before[-1],))
                found.append(Edit(span, "\n" + text))
        elif k == m and j < len(before):
            span = Span(file, i + 1, 0, j + 1, 0, "", tuple(before[i : j + 1]))
            found.append(Edit(span, ""))
        else:
            span = Span(file, i + 1, 0, j, len(before[j - 1]), "", tuple(before[i:j]))
            found.append(Edit(span, text))
    return tuple(found)


def _edit_position(edit: Edit) -> tuple[int, int, bool]:
    span = edit.span
    empty = (span.line, span.column or 0) == (span.end_line, span.end_column)
    return span.line, span.column or 0, not empty


def _apply_to_lines(lines: list[str], first: int, edits: Iterable[Edit]) -> list[str]:
    """Apply edits to lines that are numbered from `first`."""
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    # from the end, so that earlier positions stay valid; an insertion at the start of a replaced text
    # comes last, and so stands before it
    for edit in sorted(edits, key=_edit_position, reverse=True):
        span = edit.span
        last = span.end_line - first
        start = starts[span.line - first] + (span.column or 0)
        end = starts[last] + (len(lines[last]) if span.end_column is None else span.end_column)
        text = text[:start] + edit.text + text[end:]
    return text.split("\n")
