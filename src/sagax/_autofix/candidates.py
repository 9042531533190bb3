"""Collect the sources of a script, and list candidate fixes that were not tried."""

from __future__ import annotations

import linecache
import tokenize
from collections.abc import Mapping, Sequence

from sagax._autofix.repairs.case import Case, Facts
from sagax._autofix.repairs.locate import complete_facts
from sagax._autofix.repairs.registry import propose
from sagax._autofix.repairs.source_file import Source
from sagax._src.diagnostics.model import Suggestion, Trust

MAX_SHOWN = 4


def read_sources(
    files: Sequence[str], changed: Mapping[str, str] | None = None
) -> dict[str, Source]:
    """Read and parse files; skip those that cannot be read or parsed."""
    found: dict[str, Source] = {}
    changed = changed or {}
    for file in files:
        try:
            found[file] = Source(file, changed[file] if file in changed else _text(file))
        except (OSError, SyntaxError, ValueError):
            continue
    return found


def _text(file: str) -> str:
    if file.startswith("<"):  # the cell of a notebook
        return "".join(linecache.getlines(file))
    with tokenize.open(file) as handle:  # in its declared encoding
        return handle.read()


def suggest_fixes(facts: Facts, sources: Mapping[str, Source]) -> tuple[Suggestion, ...]:
    """Suggest repairs without trying them."""
    candidates = propose(Case(complete_facts(facts, sources), sources))
    return tuple(
        Suggestion(c.kind, c.title, c.edits, Trust.SUGGESTED) for c in candidates[:MAX_SHOWN]
    )
