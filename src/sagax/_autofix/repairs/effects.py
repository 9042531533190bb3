"""Repair side effects of traced functions: prints, caches, stale values, recompilation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.control_flow import bound_before
from sagax._autofix.repairs.source_file import INDENT, Source, loads, parameters, target_names
from sagax._autofix.repairs.transform_options import JIT_FUNCTIONS
from sagax._src.diagnostics.model import Edit, Span

# --- print -----------------------------------------------------------------------------------


@at_expression
def use_debug_print(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `print(x)` and `debug.print(f"{x}")` in a traced function as `debug.print`."""
    statement = source.statement(node)
    for call in source.nodes(ast.Call, statement):
        debug = source.meaning(call.func) == "jax.debug.print"
        if debug and (
            len(call.args) != 1 or not isinstance(call.args[0], ast.JoinedStr | ast.BinOp)
        ):
            continue
        plain = isinstance(call.func, ast.Name) and call.func.id == "print" and not call.keywords
        if not plain and not debug:
            continue
        formatted = _FormatString(case, source)
        text = " ".join([formatted.part(arg) for arg in call.args])
        if formatted.static:  # an f-string, in which the braces of values are doubled
            formatted = _FormatString(case, source, doubled=True)
            text = " ".join([formatted.part(arg) for arg in call.args])
        function, imports = source.spell("jax.debug.print")
        quote = '"' if '"' not in text else "'"
        prefix = "f" if formatted.static else ""
        options = [f"{k.arg}={source.code(k.value)}" for k in call.keywords if k.arg]
        values = [prefix + quote + text + quote, *formatted.values]
        new = f"{function}({', '.join([*values, *options])})"
        title = "print when the compiled program runs, with the values"
        yield Candidate("debug_print", title, (source.replace(call, new), *imports), 1)


@at_expression
def log_in_callback(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Move `log.info("y is %s", y)` of a traced function into a callback."""
    statement = source.statement(node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    local = bound_before(source, statement)
    names = [n for n in loads(call.args) if n in local]
    if call.func.attr not in _LOG_METHODS or not names:
        return
    callback, imports = source.spell("jax.debug.callback")
    listed = ", ".join(names)
    text = f"{callback}(lambda {listed}: {source.code(call)}, {listed})"
    title = "log when the compiled program runs, with the values"
    yield Candidate("callback", title, (source.replace(call, text), *imports), 1)


_LOG_METHODS = ("debug", "info", "warning", "error", "critical", "exception", "log")


@at_expression
def write_in_callback(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Write `log.write(line)` of a traced function in a callback, in the order of the program."""
    statement = source.statement(node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    if call.func.attr not in ("write", "writelines"):
        return
    callback, imports = source.spell("jax.debug.callback")
    local = bound_before(source, statement)
    listed = ", ".join(n for n in dict.fromkeys(loads(call.args)) if n in local)
    given = f", {listed}" if listed else ""
    text = f"{callback}(lambda{' ' if listed else ''}{listed}: {source.code(call)}{given}, ordered=True)"
    edits = [source.replace(call, text), *imports]
    title = "write when the compiled program runs, in each iteration"
    yield Candidate("callback", title, tuple(edits), 2)
    barrier, more = source.spell("jax.effects_barrier")
    reads = _reading_statements(source, ast.unparse(call.func.value))
    if reads:
        waiting = source.insert_above(source.first_line(reads[0]), f"{barrier}()")
        title += ", and wait for it before the first reading"
        yield Candidate("callback", title, (*edits, waiting, *more), 1)


def _reading_statements(source: Source, name: str) -> list[ast.stmt]:
    """Return the statements of the module that read what functions write to."""
    body = [s for s in source.tree.body if not isinstance(s, (ast.FunctionDef, ast.ClassDef))]
    return [
        s
        for s in body
        if any(
            isinstance(n, ast.Attribute)
            and ast.unparse(n.value) == name
            and n.attr in ("getvalue", "read", "readlines", "close", "flush", "seek")
            for n in ast.walk(s)
        )
    ]


class _FormatString:
    """Build the format string of a call of print; strings are static and stay in it."""

    def __init__(self, case: Case, source: Source, doubled: bool = False) -> None:
        self.case, self.source = case, source
        self.open, self.close = ("{{", "}}") if doubled else ("{", "}")
        self.values: list[str] = []
        self.static = False

    def part(self, arg: ast.expr) -> str:
        parts = self._format_parts(arg)
        self.static = self.static or any(kind == "static" for kind, _, _ in parts)
        return "".join(
            text
            if kind == "text"
            else "{" + text + spec + "}"
            if kind == "static"
            else self.open + spec + self.close
            for kind, text, spec in parts
        )

    def _format_parts(self, arg: ast.expr) -> list[tuple[str, str, str]]:
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
            return [("text", _escape_format(arg.value), "")]
        if isinstance(arg, ast.JoinedStr):
            found: list[tuple[str, str, str]] = []
            for part in arg.values:
                if isinstance(part, ast.FormattedValue):
                    spec = ""
                    if isinstance(part.format_spec, ast.JoinedStr):
                        spec = ":" + "".join(
                            str(p.value)
                            for p in part.format_spec.values
                            if isinstance(p, ast.Constant)
                        )
                    found.append(self._value(part.value, spec))
                elif isinstance(part, ast.Constant):
                    found.append(("text", _escape_format(str(part.value)), ""))
            return found
        if isinstance(arg, ast.BinOp) and isinstance(arg.op, ast.Mod):
            return self._percent(arg) or [self._value(arg, "")]
        if isinstance(arg, ast.Call) and isinstance(arg.func, ast.Attribute):
            return self._format(arg) or [self._value(arg, "")]
        return [self._value(arg, "")]

    def _percent(self, arg: ast.BinOp) -> list[tuple[str, str, str]]:
        """Return the parts of `"norm: %s" % norm`."""
        if not isinstance(arg.left, ast.Constant) or not isinstance(arg.left.value, str):
            return []
        values = list(arg.right.elts) if isinstance(arg.right, ast.Tuple) else [arg.right]
        return self._filled(re.split(r"%([-+ 0-9.]*[a-z])", arg.left.value), values)

    def _format(self, arg: ast.Call) -> list[tuple[str, str, str]]:
        """Return the parts of `"norm: {}".format(norm)`."""
        assert isinstance(arg.func, ast.Attribute)
        text = arg.func.value
        if arg.func.attr != "format" or arg.keywords:
            return []
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            return []
        return self._filled(re.split(r"\{(?::([^{}]*))?\}", text.value), list(arg.args))

    def _filled(
        self, texts: list[str | None], values: list[ast.expr]
    ) -> list[tuple[str, str, str]]:
        """Return literal texts and conversions in turn, filled with values."""
        if len(texts) != 2 * len(values) + 1:
            return []
        found = [("text", _escape_format(texts[0] or ""), "")]
        for i, value in enumerate(values):
            spec = (texts[2 * i + 1] or "").rstrip("srdi")
            found.append(self._value(value, f":{spec}" if spec else ""))
            found.append(("text", _escape_format(texts[2 * i + 2] or ""), ""))
        return found

    def _value(self, value: ast.expr, spec: str) -> tuple[str, str, str]:
        kinds = {m.kind for m in self.case.measure(self.source, value)}
        if kinds == {"str"}:
            return "static", self.source.code(value), spec
        self.values.append(_without_conversion(self.source, value))
        return "value", "", spec


def _escape_format(text: str) -> str:
    return text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}").replace("\n", "\\n")


def _without_conversion(source: Source, value: ast.expr) -> str:
    """Return the text of a value without float(), int() or .item() around it."""
    if isinstance(value, ast.Call):
        function = value.func
        if getattr(function, "id", "") in ("float", "int") and len(value.args) == 1:
            return source.code(value.args[0])
        if isinstance(function, ast.Attribute) and function.attr in ("item", "tolist"):
            return source.code(value if value.args else function.value)
    return source.code(value)


# --- caches ----------------------------------------------------------------------------------


def fix_cached_function(case: Case) -> Iterator[Candidate]:
    """Compute the result of a cached function eagerly, or drop its cache."""
    names = re.findall(r" in ([\w.]+):", " ".join(case.facts.diagnostic.notes))
    names += [label.span.function for label in case.facts.diagnostic.labels]
    caches = ("functools.lru_cache", "functools.cache", "functools.cached_property")
    for name in dict.fromkeys(n for n in names if n):
        for source, function in case.definition(name):
            for decorator in function.decorator_list:
                cache = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(cache) not in caches:
                    continue
                block = [
                    s
                    for s in function.body
                    if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
                ]
                title = "compute the cached value at once, also while tracing"
                yield Candidate("concrete_constant", title, evaluate_eagerly(source, block), 1)
                row = decorator.lineno
                lines = tuple(source.lines[row - 1 : row + 1])
                edit = Edit(Span(source.file, row, 0, row + 1, 0, "", lines), "")
                title = "do not cache what is computed while tracing"
                yield Candidate("no_cache", title, (edit,), 2)


def evaluate_eagerly(source: Source, block: list[ast.stmt]) -> tuple[Edit, ...]:
    """Return the edits that put a block under `ensure_compile_time_eval`."""
    name, imports = source.spell("jax.ensure_compile_time_eval")
    indent = source.indent(block[0])
    text = f"{indent}with {name}():\n{source.block_text(block, indent + INDENT)}"
    return (source.replace_statements(block, text), *imports)


# --- recompilation -----------------------------------------------------------------------------


@at_expression
def hoist_jit(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Hoist `jit(f)` out of a loop or function."""
    statement = source.statement(node)
    calls = list(source.calls_of(*JIT_FUNCTIONS, within=statement))
    if not calls:
        return
    call = calls[0]
    yield from _hoist_out_of_partial(source, call, statement)
    loops = [n for n in source.above(call) if isinstance(n, (ast.For, ast.While))]
    around: ast.stmt | None = None
    bound: set[str] = set()
    for loop in loops:  # outwards, while the function has no free variable that the loop binds
        bound |= set(target_names(loop.target)) if isinstance(loop, ast.For) else set()
        bound |= {
            n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if bound & _free_names(call):
            break
        around = loop
    if around is None:
        function = source.function(call)
        if isinstance(function, ast.FunctionDef) and not (
            _free_names(call) & set(_local_names(source, function))
        ):
            around = function
    if around is None:
        return
    yield _hoist_above(source, call, call, around)


def _hoist_out_of_partial(
    source: Source, call: ast.Call, statement: ast.stmt
) -> Iterator[Candidate]:
    """Rewrite `jit(partial(f, x))` as `partial(jitted, x)`, with one jit of f."""
    partial = call.args[0] if call.args else call
    if not isinstance(partial, ast.Call) or source.meaning(partial.func) != "functools.partial":
        return
    inner = partial.args[0]
    function = source.function(call)
    around = function if isinstance(function, ast.FunctionDef) else statement
    while isinstance(parent := source.parents.get(around), (ast.stmt, ast.ClassDef)):
        around = parent
    local = (
        set(_local_names(source, function)) if isinstance(function, ast.FunctionDef) else set[str]()
    )
    if isinstance(inner, (ast.Name, ast.Attribute)) and not set(loads(inner)) & local:
        yield _hoist_above(source, call, inner, around, partial)


def _hoist_above(
    source: Source,
    call: ast.Call,
    function: ast.AST,
    around: ast.stmt,
    partial: ast.Call | None = None,
) -> Candidate:
    """Apply jit above a statement, to its operand or to the function of `partial`."""
    inner = function if partial is not None else call.args[0] if call.args else call
    base = getattr(inner, "id", getattr(inner, "attr", "function"))
    name = source.fresh(f"jitted_{base}" if base != "function" else "jitted", call)
    while isinstance(outer := source.parents.get(around), ast.ClassDef):
        around = outer  # a name in the body of a class is not seen in its methods
    if partial is None:
        jitted, here = source.code(call), name
    else:
        jitted = substitute(source, call, {partial: source.code(function)})
        here = substitute(source, partial, {function: name})
    line = f"{source.indent(around)}{name} = {jitted}"
    if isinstance(around, (ast.FunctionDef, ast.ClassDef)):
        line += "\n\n"
    edits = (source.insert_above(source.first_line(around), line), source.replace(call, here))
    return Candidate("hoist_jit", "apply jit once, outside of the loop", edits, 1)


def _free_names(call: ast.Call) -> set[str]:
    bound = {a.arg for n in ast.walk(call) if isinstance(n, ast.arguments) for a in n.args}
    return set(loads(call)) - bound


def _local_names(source: Source, function: ast.FunctionDef) -> list[str]:
    names = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return [*parameters(function), *names]
