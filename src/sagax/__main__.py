"""Run the commands of `python -m sagax`: run, report, explain, check, doctor, cache, lsp."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import runpy
import sys
import types
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sagax
import sagax._autofix.options as explain_options
import sagax._check.command as checking
from sagax import _completion as completion
from sagax._autofix.notebooks import notebook_text
from sagax._src.diagnostics.boundary import user_traceback
from sagax._src.languages.arguments import Parser, localize
from sagax._src.lazy_import import lazy_imports
from sagax._src.runtime import compilation_cache

if TYPE_CHECKING or lazy_imports():  # `run` needs none of them
    import sagax._autofix.command as explaining
    import sagax._doctor.command as doctoring
    import sagax._report.command as reporting
    import sagax._report.compare as comparing

_STATUSES = """\
exit status:
  0  done; nothing found
  1  explain: the script fails, or a warning is shown; check: findings; doctor: problems;
     run: the script raised an error
  2  wrong arguments, a file that is missing or cannot be read, an extra that is not installed
  run ends with the status of the script.
"""


def run(script: str, args: Sequence[str]) -> None:
    """Run a program, written for jax or for sagax, as `__main__`, with `jax` meaning sagax."""
    importlib.import_module("sagax.as_jax")  # here: only this command makes `jax` mean sagax
    sys.argv = [script, *args]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    shown = sys.excepthook

    def from_script_on(kind: Any, error: BaseException, _: Any) -> None:
        error.__traceback__ = user_traceback(error)  # as of a script that is run by itself
        shown(kind, error, error.__traceback__)

    sys.excepthook = from_script_on
    for file, text in notebook_text(script).items():
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(text, file, "exec"), vars(module))
        return
    runpy.run_path(script, run_name="__main__")


def serve() -> int:
    """Serve an editor over standard input and output; return the exit status."""
    try:
        server = importlib.import_module("sagax._lsp.server")
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        print(localize("sagax lsp needs pygls: pip install 'sagax[lsp]'"), file=sys.stderr)
        return 2
    server.create().start_io()
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and do what it asks; the exit status."""
    parser = Parser(
        prog="sagax", description="sagax: function transformations on XLA", raw_epilog=_STATUSES
    )
    parser.add_argument("--version", action="version", version=f"sagax {sagax.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    runner = commands.add_parser(
        "run", help=localize("run a program with `import jax` meaning sagax")
    )
    runner.add_argument(
        "--report", metavar="OUT.html", help="write a page about where time and memory go"
    )
    runner.add_argument(
        "script", metavar="SCRIPT.py or NOTEBOOK.ipynb", help="written for jax or for sagax"
    )
    runner.add_argument("args", nargs=argparse.REMAINDER, help="the arguments of the script")
    compared = commands.add_parser(
        "report", help=localize("compare two pages of `sagax run --report`")
    )
    compared.add_argument("old", metavar="OLD.html", help="the page of the run before")
    compared.add_argument("new", metavar="NEW.html", help="the page of the run after")
    explainer = commands.add_parser(
        "explain",
        help=localize("run a program with all checks on, find repairs, try them, show them"),
    )
    explain_options.add_options(explainer)
    checker = commands.add_parser(
        "check", help=localize("find mistakes in source files without running them")
    )
    checking.add_options(checker)
    commands.add_parser(
        "doctor",
        help=localize("find out why a device is missing or fails to start, and what to do"),
    )
    cached = commands.add_parser(
        "cache", help=localize("show where compiled programs are kept, and how many")
    )
    cached.add_argument("--clear", action="store_true", help="remove them")
    commands.add_parser(
        "lsp", help=localize("serve an editor: findings, explanations and fixes (needs sagax[lsp])")
    )
    completed = commands.add_parser(
        "completion",
        help=localize("print what a shell needs to complete commands, options and files"),
    )
    completed.add_argument(
        "shell",
        choices=completion.SHELLS,
        help='eval "$(sagax completion bash)" in its startup file',
    )
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    if options.command == "completion":
        print(completion.script(options.shell, parser), end="")
        return 0
    if options.command == "explain":
        return explaining.main(options)
    if options.command == "check":
        return checking.main(options)
    if options.command == "doctor":
        return doctoring.main()
    if options.command == "cache":
        for line in compilation_cache.report(clear_first=options.clear).splitlines():
            print(localize(line))
        return 0
    if options.command == "lsp":
        return serve()
    if options.command == "report":
        return comparing.main(options.old, options.new)
    if not os.path.isfile(options.script):
        parser.error(localize(f"there is no file {options.script}"))
    watched = contextlib.nullcontext()
    if options.report:
        watched = reporting.write_report(options.report, options.script)
    with watched:
        run(options.script, options.args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
