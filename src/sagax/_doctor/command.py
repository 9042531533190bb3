"""Implement the command `python -m sagax doctor`."""

from __future__ import annotations

import os

from sagax._doctor.facts import collect_facts
from sagax._doctor.report import format_report
from sagax._doctor.rules import check_facts


def main() -> int:
    """Print the report; return the exit status, 1 if there is a problem."""
    facts = collect_facts(os.environ)
    found = check_facts(facts)
    print(format_report(facts, found))
    return int(any(finding.grave for finding in found))
