"""Changes to the user's source: as a unified diff, and applied to a text."""

from __future__ import annotations

from collections.abc import Iterable

from sagax._src.diagnostics.model import Edit, Span
from sagax._src.diagnostics.spans import shown_path

__all__ = ["apply", "between", "diff"]


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
    for first, last in _runs(sorted(before)):
        old = [before[i] for i in range(first, last + 1)]
        new = _edited(old, first, [e for e in edits if first <= e.span.line <= last])
        hunks.append(f"@@ -{first},{len(old)} +{first + shift},{len(new)} @@")
        hunks += list(difflib.unified_diff(old, new, n=len(old), lineterm=""))[3:]
        shift += len(new) - len(old)
    name = shown_path(file)
    return "\n".join([f"--- {name}", f"+++ {name}", *hunks, ""])


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
