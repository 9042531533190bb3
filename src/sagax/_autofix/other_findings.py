"""List the findings of a run besides the one that is explained in full."""

from __future__ import annotations

from typing import Any

from sagax._autofix.repairs.case import Facts
from sagax._autofix.run_task import Outcome
from sagax._src.diagnostics.spans import display_line
from sagax._src.diagnostics.wording import localized

__all__ = ["others_as_json", "other_findings", "others_as_text"]


def other_findings(outcome: Outcome) -> list[Facts]:
    """Return the findings of a run in the order of time, without the one that is explained."""
    found = [*outcome.warnings, *([outcome.error] if outcome.error is not None else [])]
    return [facts for facts in found if facts is not outcome.found]


def others_as_text(outcome: Outcome) -> str:
    """Return a line for each other finding; "" if there is none."""
    lines: list[str] = []
    for facts in other_findings(outcome):
        diagnostic, at = facts.diagnostic, facts.diagnostic.primary
        place = f"{display_line(at.file, at.line)}: " if at is not None else ""
        message = " ".join(diagnostic.message.split())
        lines.append(localized(f"also {place}{diagnostic.error}: {message}"))
    return "\n".join(lines)


def others_as_json(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the other findings as plain data, for the list "others" of `explain --json`."""
    found: list[dict[str, Any]] = []
    for facts in other_findings(outcome):
        diagnostic, at = facts.diagnostic, facts.diagnostic.primary
        found.append(
            {
                "code": diagnostic.code,
                "error": diagnostic.error,
                "message": diagnostic.message,
                "depends": list(facts.depends),
                "primary": None
                if at is None
                else {
                    "file": at.file,
                    "line": at.line,
                    "column": at.column,
                    "end_column": at.end_column,
                },
            }
        )
    return found
