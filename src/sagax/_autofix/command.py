"""Implement the command `python -m sagax explain`."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tokenize
from typing import Any

import sagax._autofix.error_pages as error_pages
from sagax._autofix.search import Explanation, explain
from sagax._src.diagnostics import render
from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.hook import use_color
from sagax._src.diagnostics.model import Diagnostic, Edit, Suggestion, Trust


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to a parser."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--apply", action="store_true", help="ask which verified repair to make, and make it"
    )
    parser.add_argument(
        "--seconds", type=float, default=8.0, help="how long to try repairs (default: 8)"
    )
    parser.add_argument("script", metavar="SCRIPT.py or SXnnnn")
    parser.add_argument("args", nargs=argparse.REMAINDER)


def main(options: argparse.Namespace) -> int:
    """Explain a script or a code; return the exit status, 1 if there was something to explain."""
    if re.fullmatch(r"SX\d{4}", options.script):
        return error_pages.print_page(options.script)
    if not os.path.isfile(options.script):
        print(f"there is no file {options.script}", file=sys.stderr)
        return 2
    found = explain(options.script, options.args, options.seconds)
    diagnostic = found.diagnostic
    if diagnostic is None:
        if found.outcome.status in ("clean", "exit"):
            return found.outcome.code
        print(
            found.outcome.traceback or f"the program ended: {found.outcome.status}", file=sys.stderr
        )
        return 1
    if options.json:
        print(json.dumps(_as_json(diagnostic), default=str))
        return 1
    _show(found, diagnostic)
    if options.apply:
        apply_one(diagnostic)
    return 1


def _as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    data = render.as_json(diagnostic)
    data["suggestions"] = [s for s in data["suggestions"] if s["diff"]] or data["suggestions"]
    return data


def _show(found: Explanation, diagnostic: Diagnostic) -> None:
    print(f"{diagnostic.error}: ", end="")
    if use_color(sys.stdout):
        render.ansi(diagnostic, sys.stdout)
    else:
        print(render.plain(diagnostic))


def apply_one(diagnostic: Diagnostic) -> None:
    """Ask for a verified repair, and write it into the files."""
    choices = [s for s in diagnostic.suggestions if s.edits and s.trust is Trust.PROVEN]
    if not choices:
        print("no repair was verified, so there is none to apply")
        return
    for i, choice in enumerate(choices, 1):
        print(f"  {i}. {choice.title}")
    try:
        answer = input(f"apply which? [1-{len(choices)}, Enter for none] ").strip()
    except EOFError:  # not interactive
        answer = ""
    if answer.isdigit() and 1 <= int(answer) <= len(choices):
        for file in _write(choices[int(answer) - 1]):
            print(f"changed {file}")


def _write(choice: Suggestion) -> list[str]:
    by_file: dict[str, list[Edit]] = {}
    for edit in choice.edits:
        by_file.setdefault(edit.span.file, []).append(edit)
    for file, edits in by_file.items():
        with tokenize.open(file) as handle:
            text, ends, encoding = handle.read(), handle.newlines, handle.encoding
        newline = ends if isinstance(ends, str) else "\n"
        with open(file, "w", encoding=encoding, newline=newline) as handle:
            handle.write(apply(text, edits))
    return list(by_file)
