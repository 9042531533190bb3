"""Implement the command `python -m sagax check`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sagax._check.check import check
from sagax._check.files import Source, find, read, read_text
from sagax._check.findings import INVALID, UNREADABLE, Finding
from sagax._check.formats import FORMATS
from sagax._src.languages.arguments import Parser, localize

__all__ = ["add_options", "main", "run"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command to a parser."""
    parser.add_argument("paths", nargs="*", metavar="FILE|DIR", default=["."], help="default: .")
    parser.add_argument(
        "--output-format", choices=list(FORMATS), default="text", help="default: text"
    )
    parser.add_argument(
        "--select", action="append", default=[], metavar="CODES",
        help="only codes with these beginnings, with commas between: SX01,SX0410",
    )  # fmt: skip
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="CODES",
        help="no codes with these beginnings",
    )
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 in spite of findings")
    parser.add_argument(
        "--stdin-filename",
        metavar="FILE",
        help="the name of the source that is read where FILE is -",
    )


def run(arguments: Sequence[str]) -> int:
    """Parse the arguments of `python -m sagax check`, and check; return the exit status."""
    parser = Parser(
        prog="python -m sagax check", description="Check source files without running them."
    )
    add_options(parser)
    return main(parser.parse_args(arguments))


def main(options: argparse.Namespace) -> int:
    """Check files; return the exit status: 0 clean, 1 findings, 2 errors."""
    findings: list[Finding] = []
    failed = False
    seen: set[str] = set()
    for path, named in find(options.paths):
        if path in seen:
            continue
        seen.add(path)
        try:
            source = _standard_input(options.stdin_filename) if path == "-" else read(path, named)
        except OSError as error:
            print(f"{path}: {error.strerror or error}", file=sys.stderr)
            failed = True
            continue
        if source is not None:
            findings += check(source)
    findings = [f for f in findings if _is_selected(f.code, options.select, options.ignore)]
    text = FORMATS[options.output_format](findings)
    if text:
        print(text)
    if options.output_format in ("text", "full", "concise"):
        _summarize(findings, len(seen))
    if failed:
        return 2
    return 1 if findings and not options.exit_zero else 0


def _standard_input(name: str | None) -> Source:
    return read_text(name or "-", sys.stdin.buffer.read())


def _is_selected(code: str, select: list[str], ignore: list[str]) -> bool:
    if code in (INVALID, UNREADABLE):
        return True
    chosen = _prefixes(select)
    if chosen and not code.startswith(chosen):
        return False
    refused = _prefixes(ignore)
    return not (refused and code.startswith(refused))


def _prefixes(options: list[str]) -> tuple[str, ...]:
    return tuple(
        code.strip().upper() for option in options for code in option.split(",") if code.strip()
    )


def _summarize(findings: list[Finding], files: int) -> None:
    if not findings:
        print(localize("no findings" if files else "no files"), file=sys.stderr)
        return
    count = len(findings)
    codes = sorted({f.code for f in findings if f.code.startswith("SX")})
    print(localize(f"{count} finding{'s' if count > 1 else ''}"), end="", file=sys.stderr)
    more = f"; python -m sagax explain {codes[0]} explains" if codes else ""
    print(localize(more), file=sys.stderr)
