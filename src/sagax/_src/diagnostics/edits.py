"""Changes to the user's source: as a unified diff, and applied to a text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sagax._src.diagnostics.model import Edit, Span
from sagax._src.diagnostics.spans import shown_path

__all__ = ["apply", "between", "diff", "patched"]


def apply(source: str, edits: Iterable[Edit]) -> str:
    """The text of a file with all edits made; they must not overlap."""
    return "\n".join(_edited(source.split("\n"), 1, edits))


def diff(edits: Iterable[Edit]) -> str:
    """A unified diff of the lines that the edits touch, without context; "" without edits.

    Line numbers are those of the files, so that `patch` finds the place.
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
    open_end = _open_end(file)
    for first, last in _runs(sorted(before)):
        old = [before[i] for i in range(first, last + 1)]
        new = _edited(old, first, [e for e in edits if first <= e.span.line <= last])
        if last == open_end:
            old[-1], new[-1] = old[-1] + _OPEN, new[-1] + _OPEN
        changes = list(difflib.unified_diff(old, new, n=len(old), lineterm=""))[3:]
        start, before_it, after_it = first, _context(changes), _context(changes[::-1])
        if before_it > after_it:
            # `patch` takes less context below than above for the end of the file
            changes = changes[before_it - after_it :]
            start += before_it - after_it
        if changes:
            hunks += [_header(start, shift, changes), *changes]
        shift += len(new) - len(old)
    name = shown_path(file)
    return "\n".join([f"--- {name}", f"+++ {name}", *hunks, ""])


_OPEN = "\n\\ No newline at end of file"


def _open_end(file: str) -> int:
    """The number of the last line, if it does not end as lines do; else 0."""
    try:
        with open(file, "rb") as handle:
            data = handle.read()
    except OSError:  # no file: the cell of a notebook
        return 0
    return 0 if not data or data.endswith((b"\n", b"\r")) else len(data.splitlines())


def _context(changes: list[str]) -> int:
    """How many lines that stay are at the beginning."""
    return next((i for i, line in enumerate(changes) if line[:1] != " "), len(changes))


def _header(start: int, shift: int, changes: list[str]) -> str:
    """The head of a hunk whose first line has the number `start` in the old file."""
    old = sum(line[:1] != "+" for line in changes)
    new = sum(line[:1] != "-" for line in changes)
    # of no lines, the number is that of the line above
    at, there = start - (old == 0), start + shift - (new == 0)
    return f"@@ -{at},{old} +{there},{new} @@"


_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


def patched(text: str, changes: str) -> str | None:
    """The text of one file with a unified diff applied as `patch` does it; None if that does not go.

    It goes by the diff alone, so that a diff can be checked against the edits it was made of.
    """
    lines, made, taken = (text if text.endswith("\n") else text + "\0").split("\n"), list[str](), 0
    end = len(lines) - (lines[-1] == "")
    rows = changes.replace(_OPEN, "\0").split("\n")
    heads = [i for i, row in enumerate(rows) if _HUNK.fullmatch(row)]
    for i, stop in zip(heads, [*heads[1:], len(rows) - (rows[-1] == "")], strict=True):
        first, count, _, new_count = (int(n) for n in _HUNK.findall(rows[i])[0])
        body = rows[i + 1 : stop]
        old = [row[1:] for row in body if row[:1] in ("-", " ")]
        new = [row[1:] for row in body if row[:1] in ("+", " ")]
        at = first - (count > 0)
        if (len(old), len(new)) != (count, new_count) or any(row[:1] not in "-+ " for row in body):
            return None
        if at < taken or lines[at : at + count] != old:
            return None
        above, below = _context(body), _context(body[::-1])
        if above > below and at + count != end:
            return None
        made += [*lines[taken:at], *new]
        taken = at + count
    after = "\n".join([*made, *lines[taken:]])
    return None if "\0" in after[:-1] else after.removesuffix("\0")


def _runs(numbers: list[int]) -> list[tuple[int, int]]:
    """Stretches of successive numbers."""
    runs: list[tuple[int, int]] = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return runs


_NEAR = 3  # lines


def between(file: str, old: str, new: str) -> tuple[Edit, ...]:
    """The edits of whole lines that make one text of the other."""
    import difflib  # as above

    before, after = old.split("\n"), new.split("\n")
    found: list[Edit] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    changes: list[tuple[int, int, int, int]] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        if changes and i - changes[-1][1] <= _NEAR:  # one change, whose lines between are shown
            i, k = changes[-1][0], changes.pop()[2]
        changes.append((i, j, k, m))
    for i, j, k, m in changes:
        text = "\n".join(after[k:m])
        if i == j:  # an insertion, which stands above the next line or below the last one
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


def _place(edit: Edit) -> tuple[int, int, bool]:
    span = edit.span
    empty = (span.line, span.column or 0) == (span.end_line, span.end_column)
    return span.line, span.column or 0, not empty


def _edited(lines: list[str], first: int, edits: Iterable[Edit]) -> list[str]:
    """These lines, of which the first has the number `first`, with the edits made."""
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    # from the end, so that earlier positions stay right; what is inserted where something else is
    # replaced comes last, and so stands before it
    for edit in sorted(edits, key=_place, reverse=True):
        span = edit.span
        last = span.end_line - first
        start = starts[span.line - first] + (span.column or 0)
        end = starts[last] + (len(lines[last]) if span.end_column is None else span.end_column)
        text = text[:start] + edit.text + text[end:]
    return text.split("\n")
