"""Print findings: as text, concisely, as JSON, SARIF, or annotations of GitHub.

JSON and SARIF are for programs, and English in each language.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sagax._check.findings import INVALID, NAMES, UNREADABLE, Finding, is_warning
from sagax._src.languages.arguments import localize

__all__ = ["FORMATS"]


def full(findings: Sequence[Finding]) -> str:
    """Show each finding with the source and what to do."""
    return "\n".join(_full(finding) for finding in findings)


def _full(finding: Finding) -> str:
    gutter = len(str(finding.end_line))
    rows = [
        f"{finding.code} {finding.name}: {localize(finding.message)}",
        f"{' ' * gutter}--> {finding.place}",
    ]
    if finding.source:
        text = finding.source[0].expandtabs(1)
        end = finding.end_column if finding.end_line == finding.line else len(text)
        marks = " " * finding.column + "^" * max(end - finding.column, 1)
        rows += [
            f"{' ' * gutter} |",
            f"{finding.line:>{gutter}} | {text}",
            f"{' ' * gutter} | {marks}",
        ]
    if finding.help:
        rows.append(f"{' ' * gutter} = {localize('help')}{localize(': ')}{localize(finding.help)}")
    return "\n".join(rows) + "\n"


def concise(findings: Sequence[Finding]) -> str:
    """Show each finding on a line."""
    return "\n".join(f"{f.place}: {f.code} {localize(f.message)}" for f in findings)


def as_json(findings: Sequence[Finding]) -> str:
    """Write a JSON array; rows and columns count from 1, as in ruff."""
    rows: list[dict[str, Any]] = [
        {
            "cell": finding.cell,
            "code": finding.code,
            "name": finding.name,
            "filename": os.path.abspath(finding.file),
            "location": {"row": finding.line, "column": finding.column + 1},
            "end_location": {"row": finding.end_line, "column": finding.end_column + 1},
            "message": finding.message,
            "help": finding.help or None,
            "severity": "warning" if is_warning(finding.code) else "error",
            "fix": None,
            "noqa_row": finding.line,
            "url": None,
        }
        for finding in findings
    ]
    return json.dumps(rows, indent=2)


def sarif(findings: Sequence[Finding]) -> str:
    """Write a log in the format SARIF 2.1.0."""
    codes = sorted({finding.code for finding in findings})
    rules = [
        {
            "id": code,
            "name": NAMES[code],
            "shortDescription": {"text": NAMES[code]},
            "help": {"text": f"python -m sagax explain {code}"},
        }
        for code in codes
    ]
    results = [
        {
            "ruleId": finding.code,
            "ruleIndex": codes.index(finding.code),
            "level": "warning" if is_warning(finding.code) else "error",
            "message": {
                "text": f"{finding.message}; {finding.help}" if finding.help else finding.message
            },
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": Path(finding.file).as_posix()},
                        "region": {
                            "startLine": finding.line,
                            "startColumn": finding.column + 1,
                            "endLine": finding.end_line,
                            "endColumn": finding.end_column + 1,
                        },
                    }
                }
            ],
        }
        for finding in findings
    ]
    driver = {"name": "sagax check", "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        ],
    }
    return json.dumps(log, indent=2)


def github(findings: Sequence[Finding]) -> str:
    """Write commands of a GitHub workflow, which annotate the lines."""
    rows: list[str] = []
    for finding in findings:
        kind = "warning" if is_warning(finding.code) else "error"
        place = f"file={_property(finding.file)},line={finding.line},endLine={finding.end_line}"
        if finding.line == finding.end_line:
            place += f",col={finding.column + 1},endColumn={finding.end_column + 1}"
        title = "" if finding.code in (INVALID, UNREADABLE) else f",title=sagax ({finding.code})"
        text = f"{finding.place}: {finding.code} {localize(finding.message)}"
        rows.append(f"::{kind} {place}{title}::{_data(text)}")
    return "\n".join(rows)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: dict[str, Callable[[Sequence[Finding]], str]] = {
    "text": full,
    "full": full,
    "concise": concise,
    "json": as_json,
    "sarif": sarif,
    "github": github,
}
