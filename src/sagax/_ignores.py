"""Read the comments that ignore findings: `# sagax: ignore[SX0102]`, or without codes all of a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

_IGNORE = re.compile(r"#\s*sagax:\s*ignore(?:\[([^\]]*)\])?", re.IGNORECASE)


def is_ignored(code: str, lines: Sequence[str]) -> bool:
    """Return whether a comment on the first or the last of the lines of a finding ignores its code."""
    for line in {*lines[:1], *lines[-1:]}:
        comment = _IGNORE.search(line)
        if comment is None:
            continue
        codes = comment.group(1)
        if codes is None or code in {listed.strip().upper() for listed in codes.split(",")}:
            return True
    return False
