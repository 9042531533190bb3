"""Run a script in this process, with changed sources and checks, and report the outcome.

Run once per process: checks and changed sources stay in force.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.machinery
import importlib.util
import linecache
import os
import sys
import time
import tokenize
import traceback
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import sagax._autofix.assumptions as assumptions
import sagax._autofix.derivative_checks as derivative_checks
import sagax._autofix.in_place_updates as in_place_updates
import sagax._autofix.probes as probes
import sagax._autofix.reference_run as reference_run
import sagax._autofix.repeatable as repeatable
import sagax._autofix.runtime_checks as runtime_checks
import sagax._autofix.side_effects as side_effects
from sagax._autofix.checks.instrument import compile_source
from sagax._autofix.checks.report import is_own_file
from sagax._autofix.collect_facts import collect_facts, collect_results, measure_value
from sagax._autofix.evaluate_edits import evaluate_edits
from sagax._autofix.repairs.case import Facts, Measurement
from sagax._autofix.run_task import Outcome, Task
from sagax._src.diagnostics.boundary import hide_frames, user_traceback
from sagax._src.diagnostics.edits import apply
from sagax._src.diagnostics.model import Edit, Span
from sagax._src.diagnostics.spans import is_installed, is_user_file

_MEASURE = "__sagax_measure__"


def run_task(task: Task) -> Outcome:
    """Run the script of a task as `__main__`."""
    importlib.import_module("sagax.as_jax")
    package = importlib.import_module("sagax")
    found: dict[Span, list[Measurement]] = {}
    changed = dict(task.changed)
    if task.measure:
        changed = _instrument(changed, task.measure, found)
    if task.in_place:
        changed = in_place_updates.instrument(changed, task.in_place)
    probe = task.probe
    if probe is not None:
        changed = {
            file: probes.instrument(file, _text_of(file, changed), probe)
            for file in {*changed, *(target.file for target in probe.functions)}
        }
    _use_sources(changed, task.watch)
    if task.trial:
        repeatable.install()
    if task.untransformed:
        reference_run.install(package, copies_arguments=bool(task.in_place))
    if task.assume:
        assumptions.assume(package)
    if probe is not None and probe.same_draws:
        repeatable.draw_by_shape()
    if probe is not None and probe.x64:
        package.__dict__["config"].update("jax_enable_x64", True)
    recorder = probes.start(probe) if probe is not None else None
    checks: list[derivative_checks.DerivativeCheck] = []
    if recorder is not None and recorder.probe.derivatives:
        checks = derivative_checks.install(package, recorder)
    watch = runtime_checks.RuntimeChecks() if task.watch else None
    if watch is not None:
        watch.install(package)
    sys.argv = [task.script, *task.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(task.script))
    module = types.ModuleType("__main__")
    module.__file__ = task.script
    sys.modules["__main__"] = module
    status, error, message, exit_code = "clean", None, "", 0
    failure: BaseException | None = None
    effects: list[str] = []
    if not task.trial:
        side_effects.watch(effects)
    start = time.perf_counter()
    try:
        file = os.path.abspath(task.script)
        text = _text_of(file, changed)
        code = compile_source(text, file) if task.watch else compile(text, file, "exec")
        exec(code, module.__dict__)
    except SystemExit as exit_:
        status = "exit"
        exit_code = exit_.code if isinstance(exit_.code, int) else int(exit_.code is not None)
    except BaseException as raised:
        status, error, failure = "error", _error_facts(raised), raised
        hide_frames(raised)
        message = _traceback_text(raised)
    sys.stdout.flush()
    seconds = time.perf_counter() - start
    warned: tuple[Facts, ...] = tuple(watch.finish()) if watch is not None else ()
    outcome = Outcome(
        status,
        error,
        warned,
        message,
        results={
            name: value
            for name, value in collect_results(vars(module)).items()
            if name.rpartition(".")[2] not in task.ignore
        },
        measured={span: list(values) for span, values in found.items()},
        files=_user_files(task.script),
        seconds=seconds,
        code=exit_code,
        derivatives_lost=reference_run.derivatives_lost(),
        assumed=assumptions.assumed(),
        records=recorder and recorder.records,
        derivatives=tuple(checks),
        peak_bytes=_peak_bytes(),
        effects=tuple(effects),
    )
    if failure is not None and task.evaluate:  # last, since it may change what the script keeps
        return replace(outcome, evaluated=evaluate_edits(failure, task.evaluate))
    return outcome


def _text_of(file: str, changed: Mapping[str, str]) -> str:
    if file in changed:
        return changed[file]
    with tokenize.open(file) as handle:
        return handle.read()


def _peak_bytes() -> int:
    """Return the most memory that this process has had; 0 where the system does not say."""
    if importlib.util.find_spec("resource") is None:  # Windows
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def _error_facts(error: BaseException) -> Facts | None:
    return None if isinstance(error, KeyboardInterrupt) else collect_facts(error)


def _traceback_text(error: BaseException) -> str:
    return "".join(traceback.format_exception(type(error), error, user_traceback(error)))


def _user_files(script: str) -> tuple[str, ...]:
    """Return the files of the script and of imported modules, except installed packages."""
    root = os.path.dirname(os.path.abspath(script)) + os.sep
    found = [os.path.abspath(script)]
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not is_user_file(file):
            continue
        if file.startswith(root) or not is_installed(file):
            found.append(os.path.abspath(file))
    return tuple(dict.fromkeys(found))


# --- changed sources -------------------------------------------------------------------------


def _use_sources(changed: Mapping[str, str], watch: bool) -> None:
    """Substitute the texts of files for imports, tracebacks and spans; add the calls of checks."""
    if not changed and not watch:
        return
    real = importlib.machinery.SourceFileLoader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        text = changed.get(os.path.abspath(self.path))
        if watch and is_own_file(self.path) and os.path.isfile(self.path):
            return compile_source(text or _text_of(self.path, {}), self.path)
        if text is None:
            return real(self, fullname)
        return compile(text, self.path, "exec", dont_inherit=True)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    for file, text in changed.items():
        # without a modification time, linecache does not read the file again
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def _instrument(
    changed: Mapping[str, str], wanted: tuple[Span, ...], found: dict[Span, list[Measurement]]
) -> dict[str, str]:
    """Wrap each wanted expression in a call that records its value."""

    def note(i: int, value: Any) -> Any:
        found.setdefault(wanted[i], []).append(measure_value(value))
        return value

    setattr(builtins, _MEASURE, note)
    texts = dict(changed)
    for file in {span.file for span in wanted}:
        if file not in texts:
            with tokenize.open(file) as handle:
                texts[file] = handle.read()
        spans = [(i, s) for i, s in enumerate(wanted) if s.file == file]
        spans.sort(key=lambda pair: (-pair[1].end_line, -(pair[1].end_column or 0)))
        inserted: dict[tuple[int, int], str] = {}  # of expressions that begin together, outer first
        for i, s in spans:
            start, end = (s.line, s.column or 0), (s.end_line, s.end_column or 0)
            inserted[start] = inserted.get(start, "") + f"{_MEASURE}({i}, "
            inserted[end] = inserted.get(end, "") + ")"
        lines = texts[file].split("\n")
        edits = [
            Edit(Span(file, line, column, line, column, "", (lines[line - 1],)), text)
            for (line, column), text in inserted.items()
        ]
        texts[file] = apply(texts[file], edits)
    return texts
