"""Repair side effects of traced functions: prints, caches, stale values, recompilation."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import splice
from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.control_flow import before
from sagax._autofix.repairs.source_file import Source, loads, parameters, target_names
from sagax._autofix.repairs.transform_options import JITS
from sagax._src.diagnostics.model import Edit, Span

__all__ = [
    "debug_print",
    "hoisted_jit",
    "logged_later",
    "without_cache",
]


# --- print -----------------------------------------------------------------------------------


def debug_print(case: Case) -> Iterator[Candidate]:
    """`print(x)` in a traced function -> debug.print, which prints when the program runs."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    statement = source.statement(node)
    for call in source.nodes(ast.Call, statement):
        if not isinstance(call.func, ast.Name) or call.func.id != "print" or call.keywords:
            continue
        formatted = _Text(case, source)
        text = " ".join([formatted.part(arg) for arg in call.args])
        if formatted.static:  # an f-string, in which the places of values are doubled braces
            formatted = _Text(case, source, doubled=True)
            text = " ".join([formatted.part(arg) for arg in call.args])
        function, imports = source.spell("jax.debug.print")
        quote = '"' if '"' not in text else "'"
        prefix = "f" if formatted.static else ""
        made = f"{function}({', '.join([prefix + quote + text + quote, *formatted.values])})"
        title = "print when the compiled program runs, with the values"
        yield Candidate("debug_print", title, (source.replace(call, made), *imports), 1)


def logged_later(case: Case) -> Iterator[Candidate]:
    """`log.info("y is %s", y)` in a traced function -> in a callback, which runs with the program."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    statement = source.statement(node)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    local = before(source, statement)
    names = [n for a in call.args for n in loads(a) if n in local]
    names = list(dict.fromkeys(names))
    if call.func.attr not in _LEVELS or not names or not set(names) <= local:
        return
    callback, imports = source.spell("jax.debug.callback")
    listed = ", ".join(names)
    text = f"{callback}(lambda {listed}: {source.code(call)}, {listed})"
    title = "log when the compiled program runs, with the values"
    yield Candidate("callback", title, (source.replace(call, text), *imports), 1)


_LEVELS = ("debug", "info", "warning", "error", "critical", "exception", "log")


class _Text:
    """The format of what a call of print prints. Texts are known while tracing: they stay in it."""

    def __init__(self, case: Case, source: Source, doubled: bool = False) -> None:
        self.case, self.source = case, source
        self.open, self.close = ("{{", "}}") if doubled else ("{", "}")
        self.values: list[str] = []
        self.static = False

    def part(self, arg: ast.expr) -> str:
        pieces = self._pieces(arg)
        self.static = self.static or any(kind == "static" for kind, _, _ in pieces)
        return "".join(
            text
            if kind == "text"
            else "{" + text + spec + "}"
            if kind == "static"
            else self.open + spec + self.close
            for kind, text, spec in pieces
        )

    def _pieces(self, arg: ast.expr) -> list[tuple[str, str, str]]:
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
            return [("text", _escaped(arg.value), "")]
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
                    found.append(("text", _escaped(str(part.value)), ""))
            return found
        if isinstance(arg, ast.BinOp) and isinstance(arg.op, ast.Mod):
            return self._percent(arg) or [self._value(arg, "")]
        if isinstance(arg, ast.Call) and isinstance(arg.func, ast.Attribute):
            return self._format(arg) or [self._value(arg, "")]
        return [self._value(arg, "")]

    def _percent(self, arg: ast.BinOp) -> list[tuple[str, str, str]]:
        """The pieces of `"norm: %s" % norm`."""
        if not isinstance(arg.left, ast.Constant) or not isinstance(arg.left.value, str):
            return []
        values = list(arg.right.elts) if isinstance(arg.right, ast.Tuple) else [arg.right]
        return self._filled(re.split(r"%([-+ 0-9.]*[a-z])", arg.left.value), values)

    def _format(self, arg: ast.Call) -> list[tuple[str, str, str]]:
        """The pieces of `"norm: {}".format(norm)`."""
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
        """Texts, with what stands for a value between each two, filled with values."""
        if len(texts) != 2 * len(values) + 1:
            return []
        found = [("text", _escaped(texts[0] or ""), "")]
        for i, value in enumerate(values):
            spec = (texts[2 * i + 1] or "").rstrip("srdi")
            found.append(self._value(value, f":{spec}" if spec else ""))
            found.append(("text", _escaped(texts[2 * i + 2] or ""), ""))
        return found

    def _value(self, value: ast.expr, spec: str) -> tuple[str, str, str]:
        kinds = {m.kind for m in self.case.measure(self.source, value)}
        if kinds == {"str"}:
            return "static", self.source.code(value), spec
        self.values.append(_bare(self.source, value))
        return "value", "", spec


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}").replace("\n", "\\n")


def _bare(source: Source, value: ast.expr) -> str:
    """The value without float(), int() or .item() around it."""
    if isinstance(value, ast.Call):
        if (
            isinstance(value.func, ast.Name)
            and value.func.id in ("float", "int")
            and len(value.args) == 1
        ):
            return source.code(value.args[0])
        if (
            isinstance(value.func, ast.Attribute)
            and value.func.attr in ("item", "tolist")
            and not value.args
        ):
            return source.code(value.func.value)
    return source.code(value)


# --- caches ----------------------------------------------------------------------------------


def without_cache(case: Case) -> Iterator[Candidate]:
    """A cached function called while tracing: what it caches belongs to that trace."""
    names = re.findall(r" in ([\w.]+):", " ".join(case.facts.diagnostic.notes))
    names += [label.span.function for label in case.facts.diagnostic.labels]
    caches = ("functools.lru_cache", "functools.cache", "functools.cached_property")
    for name in dict.fromkeys(n for n in names if n):
        for source, function in case.definition(name):
            for decorator in function.decorator_list:
                what = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(what) not in caches:
                    continue
                now, imports = source.spell("jax.ensure_compile_time_eval")
                block = [
                    s
                    for s in function.body
                    if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
                ]
                indent = source.indent(block[0])
                text = f"{indent}with {now}():\n{source.block_text(block, indent + '    ')}"
                title = "compute the cached value at once, also while tracing"
                yield Candidate(
                    "concrete_constant",
                    title,
                    (source.replace_statements(block, text), *imports),
                    1,
                )
                line = source.lines[decorator.lineno - 1]
                following = source.lines[decorator.lineno]
                span = Span(
                    source.file, decorator.lineno, 0, decorator.lineno + 1, 0, "", (line, following)
                )
                yield Candidate(
                    "no_cache", "do not cache what is computed while tracing", (Edit(span, ""),), 2
                )


# --- new compilations --------------------------------------------------------------------------


def hoisted_jit(case: Case) -> Iterator[Candidate]:
    """`jit(f)` inside a loop or function -> once, outside."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    statement = source.statement(node)
    calls = list(source.calls_of(*JITS, within=statement))
    if not calls:
        return
    call = calls[0]
    yield from _without_partial(source, call, statement)
    loops = [n for n in source.above(call) if isinstance(n, (ast.For, ast.While))]
    around: ast.stmt | None = None
    bound: set[str] = set()
    for loop in loops:  # outwards, as long as the function needs nothing that the loop binds
        bound |= set(target_names(loop.target)) if isinstance(loop, ast.For) else set()
        bound |= {
            n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        if bound & _free(call):
            break
        around = loop
    if around is None:
        function = source.function(call)
        if isinstance(function, ast.FunctionDef) and not (
            _free(call) & set(_local(source, function))
        ):
            around = function
    if around is None:
        return
    yield _above(source, call, call, around)


def _without_partial(source: Source, call: ast.Call, statement: ast.stmt) -> Iterator[Candidate]:
    """`jit(partial(f, new_each_time))` -> jit of f once, and partial of that."""
    held = call.args[0] if call.args else call
    if not isinstance(held, ast.Call) or source.meaning(held.func) != "functools.partial":
        return
    inner = held.args[0]
    function = source.function(call)
    around = function if isinstance(function, ast.FunctionDef) else statement
    while isinstance(parent := source.parents.get(around), (ast.stmt, ast.ClassDef)):
        around = parent
    local = set(_local(source, function)) if isinstance(function, ast.FunctionDef) else set[str]()
    if isinstance(inner, (ast.Name, ast.Attribute)) and not set(loads(inner)) & local:
        yield _above(source, call, inner, around, held)


def _above(
    source: Source, call: ast.Call, what: ast.AST, around: ast.stmt, kept: ast.Call | None = None
) -> Candidate:
    """The edits that apply jit above a statement, to what it is applied to or to a part `what` of it."""
    inner = what if kept is not None else call.args[0] if call.args else call
    base = getattr(inner, "id", getattr(inner, "attr", "function"))
    name = source.fresh(f"jitted_{base}" if base != "function" else "jitted", call)
    while isinstance(outer := source.parents.get(around), ast.ClassDef):
        around = outer  # a name in the body of a class is not seen in its methods
    if kept is None:
        made, here = source.code(call), name
    else:
        made = splice(source, call, {kept: source.code(what)})
        here = splice(source, kept, {what: name})
    line = f"{source.indent(around)}{name} = {made}"
    if isinstance(around, (ast.FunctionDef, ast.ClassDef)):
        line += "\n\n"
    edits = (source.insert_above(source.first_line(around), line), source.replace(call, here))
    return Candidate("hoist_jit", "apply jit once, outside of the loop", edits, 1)


def _free(call: ast.Call) -> set[str]:
    bound = {a.arg for n in ast.walk(call) if isinstance(n, ast.arguments) for a in n.args}
    return set(loads(call)) - bound


def _local(source: Source, function: ast.FunctionDef) -> list[str]:
    names = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return [*parameters(function), *names]
