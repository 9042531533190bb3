"""Turn the unified diff of a fix into edits of a text."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Replacement", "replacements"]

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


class Replacement(NamedTuple):
    """Replace the lines from `start` (from 0) up to `end` by a text."""

    start: int
    end: int
    text: str


def replacements(diff: str, text: str) -> list[Replacement] | None:
    """Return what a diff changes, or None if the text is not the one that it was made for."""
    lines = text.splitlines()
    found: list[Replacement] = []
    rows = diff.splitlines()
    at = 0
    while at < len(rows):
        head = _HUNK.match(rows[at])
        at += 1
        if head is None:
            continue
        count = int(head[2] or 1)
        start = int(head[1]) - (count > 0)  # a hunk that only adds names the line before it
        before: list[str] = []
        after: list[str] = []
        while at < len(rows) and rows[at][:1] in ("+", "-", " "):
            if rows[at].startswith(("--- ", "+++ ")) and len(before) == count:
                break
            if rows[at][0] != "+":
                before.append(rows[at][1:])
            if rows[at][0] != "-":
                after.append(rows[at][1:])
            at += 1
        if lines[start : start + count] != before:
            return None
        found.append(Replacement(start, start + count, "".join(f"{line}\n" for line in after)))
    return found
