"""Run a script in this process, with changed sources and checks, and report what happened.

A process does this once: checks and changes stay for the rest of its life.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import linecache
import os
import sys
import time
import tokenize
import traceback
import types
from collections.abc import Mapping
from typing import Any

import sagax._autofix.reference_run as reference_run
import sagax._autofix.runtime_checks as runtime_checks
from sagax._autofix.collect_facts import facts_of, measured, results_of
from sagax._autofix.repairs.case import Facts, Measured
from sagax._autofix.run_task import Outcome, Task
from sagax._src.diagnostics.boundary import from_users, tidy
from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.model import Edit, Span
from sagax._src.diagnostics.spans import is_installed, is_users

__all__ = ["perform"]

_MEASURE = "__sagax_measure__"


def perform(task: Task) -> Outcome:
    """Run the script of a task as `__main__`."""
    importlib.import_module("sagax.as_jax")
    package = importlib.import_module("sagax")
    found: dict[Span, list[Measured]] = {}
    changed = dict(task.changed)
    if task.measure:
        changed = _instrumented(changed, task.measure, found)
    _use(changed)
    if task.plainly:
        reference_run.install(package)
    watch = runtime_checks.Watch() if task.watch else None
    if watch is not None:
        watch.install(package)
    sys.argv = [task.script, *task.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(task.script))
    module = types.ModuleType("__main__")
    module.__file__ = task.script
    sys.modules["__main__"] = module
    status, error, text, code = "clean", None, "", 0
    start = time.perf_counter()
    try:
        text_of = changed.get(os.path.abspath(task.script))
        if text_of is None:
            with tokenize.open(task.script) as file:
                text_of = file.read()
        exec(compile(text_of, os.path.abspath(task.script), "exec"), module.__dict__)
    except SystemExit as exit_:
        status = "exit"
        code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException as raised:
        status, error = "error", _facts(raised)
        tidy(raised)
        text = _traceback_text(raised)
    sys.stdout.flush()
    seconds = time.perf_counter() - start
    warned: tuple[Facts, ...] = tuple(watch.finish()) if watch is not None else ()
    return Outcome(
        status,
        error,
        warned,
        text,
        results=results_of(vars(module)),
        measured=found,
        files=_users_files(task.script),
        seconds=seconds,
        code=code,
        derivatives_lost=reference_run.derivatives_lost(),
    )


def _facts(error: BaseException) -> Facts | None:
    return None if isinstance(error, KeyboardInterrupt) else facts_of(error)


def _traceback_text(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, from_users(error)))


def _users_files(script: str) -> tuple[str, ...]:
    """The script and the modules that were imported, but for installed packages."""
    root = os.path.dirname(os.path.abspath(script)) + os.sep
    found = [os.path.abspath(script)]
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not is_users(file):
            continue
        if file.startswith(root) or not is_installed(file):
            found.append(os.path.abspath(file))
    return tuple(dict.fromkeys(found))


# --- changed sources -------------------------------------------------------------------------


def _use(changed: Mapping[str, str]) -> None:
    """Let imports, tracebacks and spans see these texts in place of the files' own."""
    if not changed:
        return
    real = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        text = changed.get(os.path.abspath(self.path))
        if text is None:
            return real(self, fullname)
        return compile(text, self.path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    for file, text in changed.items():
        # without a time of change: linecache does not look at the file again
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def _instrumented(
    changed: Mapping[str, str], wanted: tuple[Span, ...], found: dict[Span, list[Measured]]
) -> dict[str, str]:
    """The sources with each wanted expression handed to a function that notes its value."""

    def note(i: int, value: Any) -> Any:
        found.setdefault(wanted[i], []).append(measured(value))
        return value

    setattr(builtins, _MEASURE, note)
    texts = dict(changed)
    for file in {span.file for span in wanted}:
        if file not in texts:
            with tokenize.open(file) as handle:
                texts[file] = handle.read()
        spans = [(i, s) for i, s in enumerate(wanted) if s.file == file]
        outer = [
            (i, s)
            for i, s in spans
            if not any(o is not s and o.contains(s) and o != s for _, o in spans)
        ]
        edits = [Edit(s, f"{_MEASURE}({i}, {s.text})") for i, s in outer]
        texts[file] = apply(texts[file], edits)
    return texts
