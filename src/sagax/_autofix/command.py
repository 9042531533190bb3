"""Implement the command `python -m sagax explain`."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Mapping
from typing import Any

import sagax._autofix.error_pages as error_pages
from sagax._autofix.other_findings import others_as_json, others_as_text
from sagax._autofix.rewrite_files import ChangedFileError, rewrite
from sagax._autofix.search import Explanation, Trials, explain
from sagax._src.diagnostics import render
from sagax._src.diagnostics.errors import ArgumentValueError
from sagax._src.diagnostics.hook import use_color
from sagax._src.diagnostics.model import Diagnostic, Trust
from sagax._src.diagnostics.wording import localized

# errors of a file that Python cannot read: its own message shows the place
_NOT_PYTHON = {"SyntaxError", "IndentationError", "TabError", "UnicodeDecodeError"}


def main(options: argparse.Namespace) -> int:
    """Explain a script or a code; return the exit status, 1 if there was something to explain."""
    if re.fullmatch(r"SX\d{4}", options.script):
        return error_pages.print_page(options.script)
    if not os.path.isfile(options.script):
        print(localized(f"there is no file {options.script}"), file=sys.stderr)
        return 2
    trials = Trials.HARMLESS
    for chosen, kind in (
        (options.yes, Trials.ALL), (options.sandbox, Trials.SANDBOXED), (options.once, Trials.NONE),
    ):  # fmt: skip
        trials = kind if chosen else trials
    if not options.json:
        again = ", and again for each repair that it tries (--once: never)"
        again = "" if options.once else again + (", then in a sandbox" if options.sandbox else "")
        notice = f"explain runs {options.script} once{again}, with its side effects"
        print(localized(notice), file=sys.stderr)
    try:
        found = explain(options.script, options.args, options.seconds, trials)
    except ArgumentValueError as error:  # a file that is not what it seems
        print(error, file=sys.stderr)
        return 2
    diagnostic = found.diagnostic
    if diagnostic is None:
        if found.outcome.status in ("clean", "exit"):
            return found.outcome.code
        print(
            found.outcome.traceback or localized(f"the program ended: {found.outcome.status}"),
            file=sys.stderr,
        )
        return 1
    if diagnostic.error in _NOT_PYTHON and not options.json:
        print(found.outcome.traceback.rstrip(), file=sys.stderr)
        return 1
    if options.json:
        data = {
            **_as_json(diagnostic),
            "not_tried": found.not_tried,
            "others": others_as_json(found.outcome),
        }
        print(json.dumps(data, default=str))
        return 1
    _show(found, diagnostic)
    others = others_as_text(found.outcome)
    if others:
        print(others)
    if found.not_tried:
        ways = "" if options.once else " (--yes tries them, --sandbox without its effects)"
        if options.sandbox:
            ways = " (--yes tries them nevertheless)"
        print(localized(f"  repairs were not tried: {found.not_tried}{ways}"))
    if options.apply:
        apply_one(diagnostic, found.texts)
    return 1


def _as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    data = render.as_json(diagnostic)
    data["suggestions"] = [s for s in data["suggestions"] if s["diff"]] or data["suggestions"]
    return data


def _show(found: Explanation, diagnostic: Diagnostic) -> None:
    if use_color(sys.stdout):
        render.ansi(diagnostic, sys.stdout)
    else:
        print(render.page(diagnostic))
    if diagnostic.code:
        print(localized(f"  more: sagax explain {diagnostic.code}"))


def apply_one(diagnostic: Diagnostic, texts: Mapping[str, str]) -> None:
    """Ask for a repair that was tried, and write it into the files, whose texts were `texts`."""
    tried = (Trust.PROVEN, Trust.RAN)
    choices = [s for s in diagnostic.suggestions if s.edits and s.trust in tried]
    if any(file.endswith(".ipynb") for file in texts):
        print(localized("a notebook is not rewritten: make the edit in its cell"))
        return
    if not choices:
        print(localized("no repair was tried with success, so there is none to apply"))
        return
    for i, choice in enumerate(choices, 1):
        print(f"  {i}. {localized(choice.title)} ({localized(choice.trust.value)})")
    try:
        question = f"apply which? [1-{len(choices)}, Enter for none] "
        answer = input(localized(question)).strip()
    except EOFError:  # not interactive
        answer = ""
    if answer.isdigit() and 1 <= int(answer) <= len(choices):
        try:
            files = rewrite(choices[int(answer) - 1].edits, texts)
        except (ChangedFileError, OSError) as error:
            print(localized(f"nothing was changed: {error}"), file=sys.stderr)
            return
        for file in files:
            print(localized(f"changed {file}"))
