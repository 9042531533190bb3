"""Turn on the runtime checks of `explain`: stale values, recompilation, unrolled loops and more.

They hook into functions of sagax in a process that exists for this one run, so that ordinary runs
pay nothing for them.
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

import sagax._autofix.numeric_checks as numeric_checks
from sagax._autofix.collect_facts import warning_facts
from sagax._autofix.repairs.case import Facts, base_name
from sagax._autofix.repairs.source_file import Source
from sagax._src import config, source_stacks
from sagax._src.api import arguments
from sagax._src.api.jit import JitFunction, watch_calls
from sagax._src.core.dtypes import DtypeTruncationWarning
from sagax._src.core.trace import Tracer, evaluation, state
from sagax._src.diagnostics import cautions, events
from sagax._src.diagnostics.boundary import function_name
from sagax._src.diagnostics.model import Span
from sagax._src.diagnostics.source import function_code
from sagax._src.diagnostics.spans import Place, is_users, user_span, user_spans

__all__ = ["Watch"]

COMPILATIONS = 5
ITERATIONS = 100
CAPTURED = 1 << 20
_OURS = (DtypeTruncationWarning, *(getattr(cautions, name) for name in cautions.__all__))


class Watch:
    """Collects warnings while a program runs."""

    def __init__(self) -> None:
        self.found: list[Facts] = []
        self.seen: set[tuple[Any, ...]] = set()
        self.compiled: dict[Any, list[tuple[Any, Any]]] = {}
        self.made_at: weakref.WeakKeyDictionary[JitFunction, Any] = weakref.WeakKeyDictionary()
        self.made: Counter[tuple[Any, ...]] = Counter()
        self.checked: Counter[int] = Counter()
        self.busy = False
        self.sources: dict[str, Source | None] = {}

    def install(self, package: types.ModuleType) -> None:
        """Turn the checks on, for the rest of this process."""
        config.config.update("jax_debug_key_reuse", True)
        config.config.update("stale", "warn")
        warnings.simplefilter("always", UserWarning)
        self._watch_warnings()
        self._watch_print()
        self._watch_logging()
        self._watch_jit()
        numeric_checks.install(package, self.add, lambda: self.busy)

    def finish(self) -> list[Facts]:
        """What was found, in the order of time."""
        return self.found

    def add(self, category: type[Warning], message: str, traceback: Any, **facts: Any) -> None:
        """Record a warning; one of a kind at each place."""
        span = facts.get("span") or user_span(traceback)
        if span is None:
            return
        key = (category, span.file, span.line, span.column)
        if key in self.seen:
            return
        self.seen.add(key)
        code = getattr(category, "code", "")
        self.found.append(warning_facts(category, message, traceback, code=code, **facts))

    def source(self, file: str) -> Source | None:
        """The source of a file, None if it cannot be read."""
        if file not in self.sources:
            lines = span_lines(file)
            try:
                self.sources[file] = Source(file, lines) if lines else None
            except SyntaxError:
                self.sources[file] = None
        return self.sources[file]

    # -- warnings and prints --------------------------------------------------------------------

    def _watch_warnings(self) -> None:
        shown = warnings.showwarning

        def show(message: Any, category: Any, filename: str, lineno: int, *rest: Any) -> None:
            if isinstance(category, type) and issubclass(category, _OURS):
                function = getattr(message, "function", "")
                facts: dict[str, Any] = {"data": {"compiled": function} if function else None}
                if category is cautions.StaleValueWarning:
                    facts["span"] = self._reading(
                        message.code_read, message.line_read, message.read
                    )
                    facts["data"]["read"] = message.read
                self.add(
                    category,
                    str(message),
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
                if tracers or texts:
                    self.add(
                        cautions.SideEffectWarning,
                        "print in a traced function prints once, while it is traced, and shows no value",
                        source_stacks.stack(),
                        values=tracers or _tracers_around(),
                    )
            real(*args, **kwargs)

        builtins.print = watched

    def _watch_logging(self) -> None:
        make = logging.getLogRecordFactory()

        def watched(*args: Any, **kwargs: Any) -> logging.LogRecord:
            record = make(*args, **kwargs)
            if state.trace is not evaluation:
                given = record.args.values() if isinstance(record.args, dict) else record.args or ()
                tracers = tuple(a for a in given if isinstance(a, Tracer))
                if tracers or "Tracer(" in str(record.msg):
                    self.add(
                        cautions.SideEffectWarning,
                        "a traced function logs once, while it is traced, and no value",
                        source_stacks.stack(),
                        values=tracers or _tracers_around(),
                    )
            return record

        logging.setLogRecordFactory(watched)

    # -- jit ------------------------------------------------------------------------------------

    def _watch_jit(self) -> None:
        events.jit_made.function = self._note_where_made
        events.jit_traced.function = self._check_program
        events.jit_compiled.function = self._count_compilation
        watch_calls(self._check_call)

    def _note_where_made(self, jitted: JitFunction) -> None:
        self.made_at[jitted] = source_stacks.stack()

    def _check_call(self, jitted: JitFunction, args: tuple[Any, ...], kwargs: Any) -> Any:
        if self.busy or state.trace is not evaluation:
            return jitted._general(args, kwargs)
        self._count_wrapper(jitted)
        held = numeric_checks.held(jitted, args, kwargs)
        result = jitted._general(args, kwargs)
        if self.checked[id(jitted)] < 3:
            self.checked[id(jitted)] += 1
            self.busy = True
            try:
                numeric_checks.check_call(jitted, args, kwargs, held, result, self.add)
            finally:
                self.busy = False
        return result

    def _check_program(self, jitted: JitFunction, closed: Any) -> None:
        if self.busy:
            return
        name = function_name(jitted._fun)
        for const in closed.consts:
            size = getattr(const, "nbytes", 0)
            if isinstance(size, int) and size > CAPTURED and not isinstance(const, Tracer):
                read, span = self._captured(jitted, const)
                what = f"`{read}`, an array" if read else "an array"
                self.add(
                    cautions.CapturedConstantWarning,
                    f"`{name}` reads {what} of {size / 2**20:.1f} MiB, from outside: pass it as an argument",
                    source_stacks.stack(),
                    span=span or self._definition(jitted),
                    data={"read": read},
                )
        counts: dict[tuple[int, int], Counter[str]] = {}  # by instruction, its operations
        runs: Counter[tuple[int, int]] = Counter()  # how often another instruction went before
        first: dict[tuple[int, int], Any] = {}
        before = None
        for eqn in closed.jaxpr.eqns:
            if eqn.traceback is None:
                continue
            place = next(_places(eqn.traceback), None)
            if place is not None:
                key = id(place.code), place.offset
                counts.setdefault(key, Counter())[eqn.primitive.name] += 1
                runs[key] += key != before
                before = key
                first.setdefault(key, eqn)
        for key, names in counts.items():
            n = runs[key] if runs[key] > 1 else min(names.values())
            if n >= ITERATIONS and (loop := self._loop(first[key].traceback)) is not None:
                span, iterations = loop, n
                self.add(
                    cautions.UnrolledLoopWarning,
                    f"this loop puts {iterations} copies of its body into the program of `{name}`",
                    first[key].traceback,
                    span=span,
                )

    def _loop(self, traceback: Any) -> Span | None:
        """The `for` or `while` that an expression on a stack stands in, the innermost."""
        for span in reversed(user_spans(traceback, 20)):
            source = self.source(span.file)
            node = source.at(span) if source is not None else None
            if source is None or node is None:
                continue
            function = source.function(node)
            for found in source.above(node):
                if found is function:
                    break
                if isinstance(found, (ast.For, ast.While)):
                    whole = source.span(found)
                    head = source.span(found.iter if isinstance(found, ast.For) else found.test)
                    return Span(
                        span.file, head.line, head.column, head.end_line, head.end_column,
                        span.function, whole.source[: head.end_line - whole.line + 1][head.line - whole.line :],
                    )  # fmt: skip
        return None

    def _captured(self, jitted: JitFunction, const: Any) -> tuple[str, Span | None]:
        """The variable from which a function reads a constant, and where; "" if it is none of its own."""
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
        if code is None or not is_users(code.co_filename):
            return None
        source = self.source(code.co_filename)
        if source is None:
            return None
        line = code.co_firstlineno
        text = source.lines[line - 1]
        start = len(text) - len(text.lstrip())
        return Span(code.co_filename, line, start, line, len(text), code.co_qualname, (text,))

    def _count_wrapper(self, jitted: JitFunction) -> None:
        """The same function jitted anew again and again by the same line."""
        made = self.made_at.pop(jitted, None)  # once
        code = function_code(jitted._fun)
        if code is None or made is None:
            return
        place = next(_places(made), None)
        if place is None:
            return
        key = (id(code), id(place.code), place.offset)
        self.made[key] += 1
        if self.made[key] == COMPILATIONS:
            name = function_name(jitted._fun)
            self.add(
                cautions.RecompilationWarning,
                f"jit is applied to `{name}` anew each time this is reached: each is a new function, traced and compiled again",
                made,
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
        if self.busy:
            return
        code = function_code(jitted._fun)
        stack = source_stacks.stack()
        place = next(_places(stack), None)
        if code is None or place is None:
            return
        key = (id(code), id(place.code), place.offset)
        signature = (tree, statics, tuple(traced.closed.in_avals))
        known = self.compiled.setdefault(key, [])
        known.append((signature, None))
        if len(known) < COMPILATIONS:
            return
        name = function_name(jitted._fun)
        changing = _changing([s for s, _ in known], jitted, args, kwargs)
        said = f": {', '.join(f'`{c}`' for c in changing)} changes each time" if changing else ""
        self.add(
            cautions.RecompilationWarning,
            f"`{name}` was compiled {len(known)} times for this call{said}",
            stack,
            depends=tuple(changing),
            data={"compiled": name},
        )

    # -- stale values ---------------------------------------------------------------------------

    def _reading(self, code: types.CodeType, line: int, name: str) -> Span | None:
        """The expression that reads a name, in the line of the function that does it."""
        source = self.source(code.co_filename)
        if source is None:
            return None
        for node in ast.walk(source.tree):
            reads = isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
            if reads and node.lineno == line and isinstance(node.ctx, ast.Load):
                if ast.unparse(node) == name:
                    return source.span(node)
        return None


def span_lines(file: str) -> str:
    """The text of a file, as it is run."""
    return "".join(linecache.getlines(file)).rstrip("\n") + "\n"


def _places(traceback: Any) -> Iterator[Place]:
    codes, offsets = traceback.raw_frames()
    for code, offset in zip(codes, offsets, strict=True):
        if is_users(code.co_filename):
            yield Place(code, offset)


def _tracers_around() -> tuple[Any, ...]:
    """The traced values among the variables of the function that prints."""
    frame = sys._getframe(2)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return (
        () if frame is None else tuple(v for v in frame.f_locals.values() if isinstance(v, Tracer))
    )


def _changing(
    signatures: list[tuple[Any, Any, Any]], jitted: JitFunction, args: Any, kwargs: Any
) -> list[str]:
    """The arguments whose type or static value differs between compilations."""
    names: list[str] = []
    known = arguments.positional_names(jitted._fun, len(args))
    for where, _ in signatures[-1][1]:
        found = {dict(statics).get(where) for _, statics, _ in signatures}
        if len(found) > 1:
            names.append(known[where] if isinstance(where, int) else where)
    paths = jitted._paths(args, kwargs)
    for i, path in enumerate(paths):
        avals = {avals[i] for _, _, avals in signatures if i < len(avals)}
        if len(avals) > 1:
            names.append(base_name(path))
    if not names and len({tree for tree, _, _ in signatures}) > 1:
        names = list(known)
    return list(dict.fromkeys(names))
