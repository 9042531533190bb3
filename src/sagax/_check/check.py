"""Check one source: parse it, interpret it, leave out what comments ignore."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys

from sagax._check.files import Source
from sagax._check.findings import INVALID, UNREADABLE, Finding
from sagax._check.interpreter import interpret
from sagax._ignores import is_ignored

__all__ = ["check"]

_LINE = re.compile(r"\bline (\d+)\b")
_RECURSION = 5000


def check(source: Source) -> list[Finding]:
    """Return the findings of a source."""
    found = [
        Finding(source.path, problem.line, problem.column, problem.line, problem.column + 1,
                UNREADABLE if problem.unreadable else INVALID, problem.message, "", cell)
        for problem, cell in source.problems
    ]  # fmt: skip
    if not source.text:
        return found
    lines = source.text.split("\n")
    try:
        tree = ast.parse(source.text)
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        column = max((error.offset or 1) - 1, 0)
        shown = tuple(lines[line - 1 : line])
        found.append(
            Finding(
                source.path, line, column, line, column + 1, INVALID, error.msg, "", None, shown
            )
        )
        return found
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes, expressions too deep
        found.append(Finding(source.path, 1, 0, 1, 1, INVALID, str(error)))
        return found
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        findings = interpret(source.path, tree, lines, source.displayed)
    except RecursionError:
        found.append(
            Finding(source.path, 1, 0, 1, 1, UNREADABLE, "expressions are nested too deeply")
        )
        return found
    finally:
        sys.setrecursionlimit(limit)
    for finding in findings:
        if not is_ignored(finding.code, lines[finding.line - 1 : finding.end_line]):
            found.append(_in_cell(source, finding))
    return found


def _in_cell(source: Source, finding: Finding) -> Finding:
    cell = source.cell_of(finding.line)
    if cell is None:
        return finding
    offset = cell.start - 1

    def renumbered(match: re.Match[str]) -> str:
        line = int(match[1])
        other = source.cell_of(line) or cell
        within = "" if other is cell else f" of cell {other.number}"
        return f"line {line - other.start + 1}{within}"

    return dataclasses.replace(
        finding,
        line=finding.line - offset,
        end_line=finding.end_line - offset,
        message=_LINE.sub(renumbered, finding.message),
        cell=cell.number,
    )
