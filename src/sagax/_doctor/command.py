"""`python -m sagax doctor`."""

from __future__ import annotations

import os

from sagax._doctor.facts import gather
from sagax._doctor.report import report
from sagax._doctor.rules import findings

__all__ = ["main"]


def main() -> int:
    """Print the report; the exit status: 1 if something is wrong."""
    facts = gather(os.environ)
    found = findings(facts)
    print(report(facts, found))
    return int(any(finding.grave for finding in found))
