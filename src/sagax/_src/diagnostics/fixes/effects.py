"""What a traced function does besides returning: prints, caches, stale values, new compilations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._src.diagnostics.fixes.case import Candidate, Case
from sagax._src.diagnostics.fixes.flow import before
from sagax._src.diagnostics.fixes.logic import splice
from sagax._src.diagnostics.fixes.options import JITS
from sagax._src.diagnostics.fixes.source import Source, declared, loads, parameters, target_names
from sagax._src.diagnostics.model import Edit, Span

__all__ = [
    "debug_print",
    "hoisted_jit",
    "logged_later",
    "passed_argument",
    "split_key",
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


# --- stale values ------------------------------------------------------------------------------


def passed_argument(case: Case) -> Iterator[Candidate]:
    """A value read from outside, that has changed since or is large -> passed as an argument."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    function = source.function(node)
    read = case.facts.data.get("read", "")
    if not isinstance(function, ast.FunctionDef) or not read:
        return
    if read.startswith("self."):
        yield from _method_argument(source, function, read)
        return
    reads: list[ast.expr] = []
    name, given = read, read
    if not read.isidentifier():  # an attribute or an item of something outside, under its last name
        words = re.findall(r"[A-Za-z_]\w*", read)
        reads = [
            n
            for n in source.nodes((ast.Attribute, ast.Subscript), function)  # type: ignore[arg-type]
            if isinstance(n.ctx, ast.Load) and ast.unparse(n) == read
        ]
        if not reads:
            return
        name, given = source.fresh(words[-1], function, *function.body), source.code(reads[0])
    edits = [source.replace(n, name) for n in reads]
    last = [*function.args.posonlyargs, *function.args.args]
    if last:
        edits.append(source.replace(last[-1], f"{source.code(last[-1])}, {name}"))
    else:
        text = splice(source, function, dict.fromkeys(reads, name))
        edits = [source.replace(function, text.replace("()", f"({name})", 1))]
    if declared(function):
        return
    called = False
    for place in case.sources.values():
        for call in place.nodes(ast.Call):
            if getattr(call.func, "id", getattr(call.func, "attr", "")) == function.name:
                text = place.code(call)
                inside = text[:-1].rstrip().rstrip(",")
                comma = "" if inside.endswith("(") else ", "
                edits.append(place.replace(call, f"{inside}{comma}{given})"))
                called = True
    if called:
        large = "CapturedConstantWarning" in case.facts.classes
        gain = "the program does not hold it" if large else "the function then sees each new value"
        yield Candidate("pass_argument", f"pass `{read}` as an argument: {gain}", tuple(edits), 1)


def _method_argument(source: Source, function: ast.FunctionDef, read: str) -> Iterator[Candidate]:
    attribute = read.partition(".")[2]
    if "." in attribute or not function.decorator_list:
        return
    indent = source.indent(function)
    name = attribute if attribute not in parameters(function) else f"{attribute}_value"
    inner = f"_{function.name}"
    uses = [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Attribute)
        and n.attr == attribute
        and isinstance(n.value, ast.Name)
        and n.value.id == "self"
        and isinstance(n.ctx, ast.Load)
    ]
    last = [*function.args.posonlyargs, *function.args.args][-1]
    texts: dict[ast.AST, str] = dict.fromkeys(uses, name)
    texts[last] = f"{source.code(last)}, {name}"
    # the node of a function begins at `def`, its decorators stand above
    changed = splice(source, function, texts)
    changed = re.sub(rf"\bdef {function.name}\b", f"def {inner}", changed, count=1)
    arguments = ", ".join(parameters(function)[1:] + [read])
    signature = ", ".join(source.code(a) for a in [*function.args.posonlyargs, *function.args.args])
    wrapper = (
        f"\n\n{indent}def {function.name}({signature}):\n"
        f"{indent}    return self.{inner}({arguments})"
    )
    title = f"pass `{read}` as an argument: the method then sees each new value"
    yield Candidate("pass_argument", title, (source.replace(function, changed + wrapper),), 1)


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
    inner = call.args[0] if call.args else call
    base = getattr(inner, "id", getattr(inner, "attr", "function"))
    name = source.fresh(f"jitted_{base}" if base != "function" else "jitted", call)
    while isinstance(outer := source.parents.get(around), ast.ClassDef):
        around = outer  # a name in the body of a class is not seen in its methods
    line = f"{source.indent(around)}{name} = {source.code(call)}"
    if isinstance(around, (ast.FunctionDef, ast.ClassDef)):
        line += "\n\n"
    edits = (source.insert_above(source.first_line(around), line), source.replace(call, name))
    yield Candidate("hoist_jit", "apply jit once, outside of the loop", edits, 1)


def _free(call: ast.Call) -> set[str]:
    bound = {a.arg for n in ast.walk(call) if isinstance(n, ast.arguments) for a in n.args}
    return set(loads(call)) - bound


def _local(source: Source, function: ast.FunctionDef) -> list[str]:
    names = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return [*parameters(function), *names]


# --- keys --------------------------------------------------------------------------------------


def split_key(case: Case) -> Iterator[Candidate]:
    """A key used twice -> split, each part used once."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    call = node if isinstance(node, ast.Call) else source.enclosing(node, ast.Call)
    key = _key_of(call) if call is not None else None
    if call is not None and key is not None:
        yield from _split_at(case, source, call, key)


def _split_at(
    case: Case, source: Source, call: ast.Call, key: ast.expr, depth: int = 0
) -> Iterator[Candidate]:
    """Splits of the key that a call gets: in the function around it, or in those that call that one."""
    name = source.code(key)
    bare = name.rpartition(".")[2].partition("[")[0]
    function = source.function(call)
    scope: ast.AST = function if function is not None else source.tree
    split, imports = source.spell("jax.random.split")
    statement = source.statement(call)
    yield from _split_in_comprehension(source, call, name, bare, split, imports)
    loop = source.enclosing(call, (ast.For, ast.While))  # type: ignore[arg-type]
    if loop is not None and source.function(loop) is function:
        sub = source.fresh(f"{bare}_now", call)
        edits = [source.replace(u, sub) for u in _reads(source, name, statement)]
        line = f"{source.indent(statement)}{name}, {sub} = {split}({name})"
        edits.append(source.insert_above(source.first_line(statement), line))
        yield Candidate("split_key", "split the key in each round", (*edits, *imports), 1)
    if function is not None and name in parameters(function) and depth < _FURTHEST:
        for there, outer, passed in case.calls(function):
            value = passed.get(name)
            if isinstance(value, _KEYS):
                yield from _split_at(case, there, outer, value, depth + 1)
    uses = [u for u in _reads(source, name, scope) if not _is_split(source, u)]
    stays = isinstance(
        key, ast.Attribute
    )  # it is used at the next call too: a part takes its place
    if len(uses) < 2 - stays:
        return
    parts = [source.fresh(f"{bare}_{i + 1}", call) for i in range(len(uses))]
    first = source.statement(uses[0])
    while source.parents.get(first) is not scope and isinstance(
        source.parents.get(first), ast.stmt
    ):
        parent = source.parents[first]
        if not isinstance(parent, ast.stmt) or parent is scope:
            break
        first = parent
    count = len(parts) + stays
    targets = ", ".join([name, *parts] if stays else parts)
    more = "" if count == 2 else f", {count}"
    line = f"{source.indent(first)}{targets} = {split}({name}{more})"
    edits = [source.replace(u, part) for u, part in zip(uses, parts, strict=True)]
    edits.append(source.insert_above(source.first_line(first), line))
    yield Candidate("split_key", "split the key, and use each part once", (*edits, *imports), 2)


_FURTHEST = 4  # calls to look back
_KEYS = (ast.Name, ast.Attribute, ast.Subscript)


def _key_of(call: ast.Call) -> ast.expr | None:
    """The argument of a call that is its key: a name, an attribute or an item with a known index."""
    named = [k.value for k in call.keywords if k.arg in ("key", "rng")]
    for found in (*named, *call.args):
        if isinstance(found, (ast.Name, ast.Attribute)):
            return found
        if isinstance(found, ast.Subscript) and isinstance(found.slice, ast.Constant):
            return found
    return None


def _reads(source: Source, text: str, within: ast.AST) -> list[ast.expr]:
    """Where a variable, or an attribute of one, is read."""
    return [
        n
        for n in source.nodes((ast.Name, ast.Attribute, ast.Subscript), within)  # type: ignore[arg-type]
        if isinstance(n.ctx, ast.Load) and source.code(n) == text
    ]


def _split_in_comprehension(
    source: Source, call: ast.Call, name: str, bare: str, split: str, imports: list[Edit]
) -> Iterator[Candidate]:
    """`[normal(key, n) for n in sizes]` -> a part of the key for each item."""
    kinds = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
    around = source.enclosing(call, kinds)  # type: ignore[arg-type]
    if around is None or len(around.generators) != 1 or around.generators[0].ifs:
        return
    over = around.generators[0]
    if name in target_names(over.target):
        return
    iterated = source.code(over.iter)
    counted = isinstance(over.iter, ast.Call) and getattr(over.iter.func, "id", "") == "range"
    if counted and isinstance(over.iter, ast.Call) and len(over.iter.args) == 1:
        count = source.code(over.iter.args[0])
    elif isinstance(over.iter, (ast.Name, ast.Attribute, ast.List, ast.Tuple)):
        count = f"len({iterated})"
    elif isinstance(over.iter, ast.Call) and isinstance(over.iter.func, ast.Attribute):
        if over.iter.func.attr not in ("items", "keys", "values"):
            return
        count = f"len({source.code(over.iter.func.value)})"
    elif getattr(getattr(over.iter, "func", None), "id", "") in ("zip", "enumerate"):
        count = f"len({source.code(over.iter.args[0])})"  # type: ignore[attr-defined]
    else:
        return
    sub = source.fresh(f"{bare}_now", call)
    edits = [
        source.replace(u, sub) for u in _reads(source, name, around) if not _is_split(source, u)
    ]
    target = source.code(over.target)
    if target == "_":
        edits += [
            source.replace(over.target, sub),
            source.replace(over.iter, f"{split}({name}, {count})"),
        ]
    else:
        if isinstance(over.target, ast.Tuple) and not target.startswith("("):
            target = f"({target})"
        edits += [
            source.replace(over.target, f"{sub}, {target}"),
            source.replace(over.iter, f"zip({split}({name}, {count}), {iterated})"),
        ]
    yield Candidate("split_key", "split the key into one for each item", (*edits, *imports), 1)


def _is_split(source: Source, use: ast.expr) -> bool:
    parent = source.parents.get(use)
    return isinstance(parent, ast.Call) and source.meaning(parent.func) == "jax.random.split"
