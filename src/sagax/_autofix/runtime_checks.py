"""Turn on the runtime checks of `explain`: stale values, recompilation, unrolled loops and more.

They replace functions of sagax in a process for this one run, so that ordinary runs pay nothing.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import logging
import sys
import types
import warnings
import weakref
from collections import Counter
from collections.abc import Iterator
from typing import Any

import sagax._autofix.checks.impure as impure
import sagax._autofix.checks.instrument as instrument
import sagax._autofix.checks.keys as keys
import sagax._autofix.checks.structure as structure
import sagax._autofix.numeric_checks as numeric_checks
from sagax._autofix.checks.conversions import SCATTER_CAST, watch_conversions
from sagax._autofix.checks.dataflow import check_broadcasts
from sagax._autofix.checks.effects import Effects
from sagax._autofix.checks.gradients import watch_gradients
from sagax._autofix.checks.host import HostChecks
from sagax._autofix.checks.report import is_own_file, is_written_in_each_iteration, own_span
from sagax._autofix.checks.static_objects import StaticObjects
from sagax._autofix.checks.traced_inputs import TracedInputs
from sagax._autofix.collect_facts import warning_facts
from sagax._autofix.repairs.case import Facts, base_name
from sagax._autofix.repairs.source_file import Source
from sagax._ignores import is_ignored
from sagax._src import config, source_stacks
from sagax._src.api import arguments
from sagax._src.api.jit import JitFunction, watch_calls
from sagax._src.core.dtypes import DtypeTruncationWarning
from sagax._src.core.trace import Tracer, evaluation, state
from sagax._src.diagnostics import cautions, events
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.errors import SagaxError
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.source import function_code
from sagax._src.diagnostics.spans import (
    CodePosition,
    is_installed,
    is_user_file,
    user_span,
    user_spans,
)
from sagax._src.diagnostics.wording import english_of

MAX_COMPILATIONS = 5
MAX_ITERATIONS = 100
MAX_CAPTURED_BYTES = 1 << 20
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
_WARNING_CLASSES = (DtypeTruncationWarning, *(getattr(cautions, name) for name in cautions.__all__))


class RuntimeChecks:
    """Collect warnings while a script runs."""

    def __init__(self) -> None:
        self.found: list[Facts] = []
        self.seen: set[tuple[Any, ...]] = set()
        self.compiled: dict[Any, list[tuple[Any, Any, Any]]] = {}
        self.created_at: weakref.WeakKeyDictionary[JitFunction, Any] = weakref.WeakKeyDictionary()
        self.wrappers: Counter[tuple[Any, ...]] = Counter()
        self.checked: Counter[int] = Counter()
        self.busy = False
        self.sources: dict[str, Source | None] = {}
        self.effects = Effects(self.add)
        self.host = HostChecks(self.add)
        self.statics = StaticObjects(self.add)
        self.inputs = TracedInputs(self.add, self.effects.is_outside)

    def install(self, package: types.ModuleType) -> None:
        """Turn the checks on, for the rest of this process."""
        config.config.update("jax_debug_key_reuse", True)
        config.config.update("stale", "warn")
        warnings.simplefilter("always", UserWarning)
        self._watch_warnings()
        self._watch_print()
        events.debug_printed.function = self._check_debug_print
        self._watch_logging()
        self._watch_jit()
        self._watch_kernels()
        numeric_checks.install(package, self.add, lambda: self.busy)
        watch_gradients(package, self)
        instrument.install(self.effects.hooks())
        self.host.install(package)
        impure.install(self.add)  # its clocks call those of `host`
        self.inputs.install()
        keys.watch_vmap(self.add)
        keys.excuse_common_numbers()
        structure.watch_x64(self.add)
        watch_conversions(package, self.add)

    def finish(self) -> list[Facts]:
        """Return the warnings in the order of time."""
        self.effects.settle()
        return self.found

    def add(self, category: type[Warning], message: str, traceback: Any, **facts: Any) -> None:
        """Record a warning, once for each category and position, in the user's own files."""
        span = facts.get("span") or user_span(traceback)
        if span is not None and is_installed(span.file):  # the user's call of the library
            span = facts["span"] = own_span(traceback)
        if span is None:
            return
        key = (category, span.file, span.line, span.column)
        if key in self.seen:
            return
        self.seen.add(key)
        code = getattr(category, "code", "")
        if is_ignored(code, span.source):
            return
        self.found.append(warning_facts(category, message, traceback, code=code, **facts))

    def source(self, file: str) -> Source | None:
        """Return the source of a file, None if it cannot be parsed."""
        if file not in self.sources:
            lines = file_text(file)
            try:
                self.sources[file] = Source(file, lines) if lines else None
            except SyntaxError:
                self.sources[file] = None
        return self.sources[file]

    def _watch_kernels(self) -> None:
        def called(check: Any) -> None:
            try:
                check()
            except SagaxError as error:
                if error.code != "SX0132":
                    raise
                category = type(f"{type(error).__name__}", (UserWarning,), {"code": error.code})
                self.add(category, str(error.args[0]), error.facts.get("traceback") or error._stack)

        events.kernel_called.function = called

    # -- warnings and prints --------------------------------------------------------------------

    def _watch_warnings(self) -> None:
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, *rest: Any) -> None:
            if category is FutureWarning and str(message).startswith(SCATTER_CAST):
                text = english_of(message)
                if " to int" in text or " to uint" in text:
                    self.add(DtypeTruncationWarning, text, source_stacks.stack())
            elif isinstance(category, type) and issubclass(category, _WARNING_CLASSES):
                function = getattr(message, "function", "")
                facts: dict[str, Any] = {"data": {"compiled": function} if function else None}
                if category is cautions.StaleValueWarning:
                    facts["span"] = self._reading(
                        message.code_read, message.line_read, message.read
                    )
                    facts["data"]["read"] = message.read
                self.add(
                    category,
                    english_of(message),
                    source_stacks.stack(),
                    depends=getattr(message, "arguments", ()),
                    **facts,
                )
            else:
                shown(message, category, filename, lineno, *rest)

        warnings.showwarning = show

    def _watch_print(self) -> None:
        real = builtins.print

        def watched(*args: Any, **kwargs: Any) -> None:
            if state.trace is not evaluation and kwargs.get("file") in (None, sys.stdout):
                tracers = tuple(a for a in args if isinstance(a, Tracer))
                texts = any(isinstance(a, str) and "Tracer(" in a for a in args)
                repeated = is_written_in_each_iteration(*args)
                if tracers or texts or repeated:
                    shows = ", and shows no value" if tracers or texts else ""
                    self.add(
                        cautions.SideEffectWarning,
                        f"print in a traced function prints once, while it is traced{shows}",
                        source_stacks.stack(),
                        values=tracers or _local_tracers(),
                    )
            real(*args, **kwargs)

        builtins.print = watched

    def _check_debug_print(self, text: str) -> None:
        if "Tracer(" in text:
            self.add(
                cautions.SideEffectWarning,
                "the text of debug.print is made once, while the function is traced, and shows no value",
                source_stacks.stack(),
                values=_local_tracers(),
            )

    def _watch_logging(self) -> None:
        make = logging.getLogRecordFactory()

        def watched(*args: Any, **kwargs: Any) -> logging.LogRecord:
            record = make(*args, **kwargs)
            if state.trace is not evaluation:
                given = record.args.values() if isinstance(record.args, dict) else record.args or ()
                tracers = tuple(a for a in given if isinstance(a, Tracer))
                valued = tracers or "Tracer(" in str(record.msg)
                if valued or is_written_in_each_iteration(record.msg):
                    shows = ", and no value" if valued else ""
                    self.add(
                        cautions.SideEffectWarning,
                        f"a traced function logs once, while it is traced{shows}",
                        source_stacks.stack(),
                        values=tracers or _local_tracers(),
                    )
            return record

        logging.setLogRecordFactory(watched)

    # -- jit ------------------------------------------------------------------------------------

    def _watch_jit(self) -> None:
        events.jit_created.function = self._record_creation
        events.jit_traced.function = self._check_program
        events.jit_compiled.function = self._count_compilation
        watch_calls(self._check_call)

    def _record_creation(self, jitted: JitFunction) -> None:
        self.created_at[jitted] = source_stacks.stack()

    def _check_call(self, jitted: JitFunction, args: tuple[Any, ...], kwargs: Any) -> Any:
        if self.busy or state.trace is not evaluation:
            return jitted._general(args, kwargs)
        self._count_wrapper(jitted)
        operands = numeric_checks.snapshot_operands(jitted, args, kwargs)
        self.statics.called(jitted, args, kwargs)
        with self.inputs.of(jitted):
            result = jitted._general(args, kwargs)
        self.host.called(result)
        if self.checked[id(jitted)] < 3 or numeric_checks.has_time():
            self.checked[id(jitted)] += 1
            self.busy = True
            try:
                numeric_checks.check_call(jitted, operands, result, self.add)
            finally:
                self.busy = False
        return result

    def _check_program(self, jitted: JitFunction, closed: Any) -> None:
        if self.busy:
            return
        self.effects.settle()
        check_broadcasts(closed.jaxpr, self.add)
        if not _is_own(jitted):
            return
        name = function_name(jitted._fun)
        for const in closed.consts:
            size = getattr(const, "nbytes", 0)
            if (
                isinstance(size, int)
                and size > MAX_CAPTURED_BYTES
                and not isinstance(const, Tracer)
            ):
                read, span = self._captured(jitted, const)
                constant = f"`{read}`, an array" if read else "an array"
                self.add(
                    cautions.CapturedConstantWarning,
                    f"`{name}` reads {constant} of {size / 2**20:.1f} MiB, from outside: pass it as an argument",
                    source_stacks.stack(),
                    span=span or self._definition(jitted),
                    data={"read": read},
                )
        counts: dict[tuple[int, int], Counter[str]] = {}  # operations by instruction
        runs: Counter[tuple[int, int]] = Counter()  # runs of equations by instruction
        first: dict[tuple[int, int], Any] = {}
        before = None
        for eqn in closed.jaxpr.eqns:
            if eqn.traceback is None:
                continue
            position = next(_user_positions(eqn.traceback), None)
            if position is not None:
                key = id(position.code), position.offset
                counts.setdefault(key, Counter())[eqn.primitive.name] += 1
                runs[key] += key != before
                before = key
                first.setdefault(key, eqn)
        for key, names in counts.items():
            n = runs[key] if runs[key] > 1 else min(names.values())
            if n >= MAX_ITERATIONS and (loop := self._loop(first[key].traceback)) is not None:
                span, iterations = loop, n
                self.add(
                    cautions.UnrolledLoopWarning,
                    f"this loop puts {iterations} copies of its body into the program of `{name}`",
                    first[key].traceback,
                    span=span,
                )

    def _loop(self, traceback: Any) -> Span | None:
        """Return the span of the innermost loop around an expression on a stack."""
        for span in reversed(user_spans(traceback, 20)):
            source = self.source(span.file)
            node = source.at(span) if source is not None else None
            if source is None or node is None:
                continue
            function = source.function(node)
            for found in source.above(node):
                if found is function:
                    break
                if isinstance(found, (ast.For, ast.While, *_COMPREHENSIONS)):
                    whole = source.span(found)
                    if isinstance(found, (ast.For, ast.While)):
                        head = found.iter if isinstance(found, ast.For) else found.test
                    else:
                        head = found.generators[0].iter
                    head = source.span(head)
                    return Span(
                        span.file, head.line, head.column, head.end_line, head.end_column,
                        span.function, whole.source[: head.end_line - whole.line + 1][head.line - whole.line :],
                    )  # fmt: skip
        return None

    def _captured(self, jitted: JitFunction, const: Any) -> tuple[str, Span | None]:
        """Return the captured variable that holds a constant, and the span that reads it."""
        try:
            outside = inspect.getclosurevars(jitted._fun)
        except TypeError:  # no function of Python
            return "", None
        variables = {**outside.globals, **outside.nonlocals}
        read = next((name for name, value in variables.items() if value is const), "")
        code = jitted._fun.__code__
        for *_, line in code.co_lines() if read else ():
            if line is not None and (span := self._reading(code, line, read)) is not None:
                return read, span
        return read, None

    def _definition(self, jitted: JitFunction) -> Span | None:
        code = getattr(jitted._fun, "__code__", None)
        if code is None or not is_user_file(code.co_filename):
            return None
        source = self.source(code.co_filename)
        if source is None:
            return None
        line = code.co_firstlineno
        text = source.lines[line - 1]
        start = len(text) - len(text.lstrip())
        return Span(code.co_filename, line, start, line, len(text), code.co_qualname, (text,))

    def _count_wrapper(self, jitted: JitFunction) -> None:
        """Count how often the same line jits the same function."""
        created = self.created_at.pop(jitted, None)  # once
        code = function_code(jitted._fun)
        if code is None or created is None or not _is_own(jitted):
            return
        position = next(_user_positions(created), None)
        if position is None:
            return
        key = (id(code), id(position.code), position.offset)
        self.wrappers[key] += 1
        if self.wrappers[key] == MAX_COMPILATIONS:
            name = function_name(jitted._fun)
            self.add(
                cautions.RecompilationWarning,
                f"jit is applied to `{name}` anew each time this is reached: each is a new function, traced and compiled again",
                created,
                data={"compiled": name},
            )

    def _count_compilation(
        self,
        jitted: JitFunction,
        traced: Any,
        tree: Any,
        statics: tuple[Any, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        if self.busy or not _is_own(jitted):
            return
        code = function_code(jitted._fun)
        stack = source_stacks.stack()
        position = next(_user_positions(stack), None)
        if code is None or position is None:
            return
        key = (id(code), id(position.code), position.offset)
        signature = (tree, statics, tuple(traced.closed.in_avals))
        signatures = self.compiled.setdefault(key, [])
        signatures.append(signature)
        if len(signatures) < MAX_COMPILATIONS:
            return
        name = function_name(jitted._fun)
        changing = _changing_arguments(signatures, jitted, args, kwargs)
        cause = f": {', '.join(f'`{c}`' for c in changing)} changes each time" if changing else ""
        self.add(
            cautions.RecompilationWarning,
            f"`{name}` was compiled {len(signatures)} times for this call{cause}",
            stack,
            depends=tuple(changing),
            data={"compiled": name},
        )

    # -- stale values ---------------------------------------------------------------------------

    def _reading(self, code: types.CodeType, line: int, name: str) -> Span | None:
        """Return the span of the expression that reads a name in a line."""
        source = self.source(code.co_filename)
        if source is None:
            return None
        for node in ast.walk(source.tree):
            reads = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
            if reads and node.lineno == line and isinstance(node.ctx, ast.Load):
                if ast.unparse(node) == name:
                    return source.span(node)
        return None


def _is_own(jitted: JitFunction) -> bool:
    """Return whether the user wrote a jitted function, and not sagax or a library."""
    code = function_code(jitted._fun)
    return code is not None and is_own_file(code.co_filename)


def file_text(file: str) -> str:
    """Return the text of a file, as it is run."""
    return "".join(linecache.getlines(file)).rstrip("\n") + "\n"


def _user_positions(traceback: Any) -> Iterator[CodePosition]:
    codes, offsets = traceback.raw_frames()
    for code, offset in zip(codes, offsets, strict=True):
        if is_user_file(code.co_filename):
            yield CodePosition(code, offset)


def _local_tracers() -> tuple[Any, ...]:
    """Return the tracers among the variables of the function that prints."""
    frame = sys._getframe(2)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return (
        () if frame is None else tuple(v for v in frame.f_locals.values() if isinstance(v, Tracer))
    )


def _changing_arguments(
    signatures: list[tuple[Any, Any, Any]], jitted: JitFunction, args: Any, kwargs: Any
) -> list[str]:
    """Return the arguments whose type or static value differs between compilations."""
    names: list[str] = []
    known = arguments.positional_names(jitted._fun, len(args))
    for key, _ in signatures[-1][1]:
        found = {dict(statics).get(key) for _, statics, _ in signatures}
        if len(found) > 1:
            names.append(known[key] if isinstance(key, int) else key)
    paths = jitted._paths(args, kwargs)
    for i, path in enumerate(paths):
        avals = {avals[i] for _, _, avals in signatures if i < len(avals)}
        if len(avals) > 1:
            names.append(base_name(path))
    if not names and len({tree for tree, _, _ in signatures}) > 1:
        names = list(known)
    return list(dict.fromkeys(names))
