"""Collect the sources of a script, and list candidate fixes that were not tried."""

from __future__ import annotations

import linecache
import tokenize
from collections.abc import Mapping, Sequence

from sagax._autofix.repairs.case import Case, Facts
from sagax._autofix.repairs.locate import completed
from sagax._autofix.repairs.registry import propose
from sagax._autofix.repairs.source_file import Source
from sagax._src.diagnostics.model import Suggestion, Trust

__all__ = ["MOST_SHOWN", "read_sources", "suggestions_for"]

MOST_SHOWN = 4


def read_sources(
    files: Sequence[str], changed: Mapping[str, str] | None = None
) -> dict[str, Source]:
    """The files that can be read and parsed."""
    found: dict[str, Source] = {}
    for file in files:
        try:
            if changed is not None and file in changed:
                text = changed[file]
            else:
                text = _text(file)
            found[file] = Source(file, text)
        except (OSError, SyntaxError, ValueError):
            continue
    return found


def _text(file: str) -> str:
    if file.startswith("<"):  # the cell of a notebook
        return "".join(linecache.getlines(file))
    with tokenize.open(file) as handle:  # in the encoding that it says it has
        return handle.read()


def suggestions_for(facts: Facts, files: Sequence[str]) -> tuple[Suggestion, ...]:
    """Repairs that were not tried."""
    sources = read_sources(files)
    candidates = propose(Case(completed(facts, sources), sources))
    return tuple(
        Suggestion(c.kind, c.title, c.edits, Trust.PLAUSIBLE) for c in candidates[:MOST_SHOWN]
    )
