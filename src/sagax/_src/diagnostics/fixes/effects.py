"""What a traced function does besides returning: prints, leaks, stale values, new compilations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._src.diagnostics.fixes.case import Candidate, Case
from sagax._src.diagnostics.fixes.flow import before
from sagax._src.diagnostics.fixes.logic import splice
from sagax._src.diagnostics.fixes.options import JITS, applications
from sagax._src.diagnostics.fixes.source import Source, loads, parameters, target_names
from sagax._src.diagnostics.model import Edit, Span

__all__ = [
    "debug_print",
    "hoisted_jit",
    "leaks",
    "passed_argument",
    "returned",
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
        return [self._value(arg, "")]

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


# --- leaks -----------------------------------------------------------------------------------


def returned(case: Case) -> Iterator[Candidate]:
    """A traced value kept in a list, dict, attribute or global -> returned, and kept by the caller."""
    for source, store in leaks(case):
        made = _moved_out(case, source, store)
        if made:
            title = "return the value, and keep it where the function is called"
            yield Candidate("return_value", title, tuple(made), 1)


class Store:
    """A statement that keeps a value outside of its function."""

    def __init__(self, statement: ast.stmt, value: ast.expr, text: str, base: str) -> None:
        self.statement = statement
        self.value = value
        self.text = text  # how to keep a value: "history.append({})"
        self.base = base  # the name that the container is reached from


def leaks(case: Case) -> Iterator[tuple[Source, Store]]:
    """The statements that keep a traced value outside of its function, the likeliest first."""
    diagnostic = case.facts.diagnostic
    spans = [label.span for label in diagnostic.labels] + [s.span for s in diagnostic.chain]
    notes = " ".join(diagnostic.notes)
    seen: set[int] = set()
    functions: list[tuple[Source, ast.AST]] = []
    for span in spans:
        source = case.sources.get(span.file)
        node = source.at(span) if source is not None else None
        function = source.function(node) if source is not None and node is not None else None
        if source is not None and function is not None and id(function) not in seen:
            seen.add(id(function))
            functions.append((source, function))
    for name in re.findall(r" in ([\w.]+):", notes):
        for source, function in case.definition(name):
            if id(function) not in seen:
                seen.add(id(function))
                functions.append((source, function))
    for source, function in functions:
        for statement in source.nodes(ast.stmt, function):
            if source.function(statement) is function and (
                store := _store(source, statement, function)
            ):
                yield source, store


def _store(source: Source, statement: ast.stmt, function: ast.AST) -> Store | None:
    assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    local = before(source, statement) - set(_globals(function))
    inside = set(parameters(function))

    def outside(name: str) -> bool:
        return name == "self" or name not in local or (name in inside and name == "self")

    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if (
            isinstance(call.func, ast.Attribute)
            and call.func.attr in ("append", "add", "put")
            and len(call.args) == 1
        ):
            root = _root(call.func.value)
            if root is not None and outside(root):
                return Store(statement, call.args[0], f"{source.code(call.func)}({{}})", root)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        root = _root(target)
        text = f"{source.code(target)} = {{}}"
        if (
            isinstance(target, (ast.Attribute, ast.Subscript))
            and root is not None
            and outside(root)
        ):
            return Store(statement, statement.value, text, root)
        if isinstance(target, ast.Name) and target.id in _globals(function):
            return Store(statement, statement.value, text, target.id)
    return None


def _globals(function: ast.AST) -> list[str]:
    return [
        n for s in ast.walk(function) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names
    ]


def _root(node: ast.expr) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _moved_out(case: Case, source: Source, store: Store) -> list[Edit]:
    """The edits that return the value through all callers up to where no function is traced."""
    function = source.function(store.statement)
    if not isinstance(function, ast.FunctionDef):
        return []
    if store.text == f"{store.base} = {{}}":  # a global: from now on a name of the function's own
        value = store.base
        edits = [
            source.delete(s)
            for s in source.nodes((ast.Global, ast.Nonlocal), function)  # type: ignore[arg-type]
            if s.names == [value]
        ]
        if not edits:
            return []
    else:
        value = source.code(store.value)
        edits = [source.delete(store.statement)]
    if not _returns_more(source, function, value, edits):
        return []
    traced = {name for name, _ in case.facts.transforms} | {case.facts.diagnostic.function}
    traced |= set(re.findall(r"while tracing `([^`]*)`", case.facts.message))
    plain = store.text == f"{store.base} = {{}}"
    wanted = _nice(store)
    if plain:
        wanted = store.base
    else:  # a name that is free wherever the value is taken from a call
        for there in case.sources.values():
            wanted = there.fresh(
                wanted, *[c for s, c in _callers(case, function.name, function) if s is there]
            )
    current, place = function, source
    for _ in range(6):
        name = current.name
        jitted = _is_traced(case, place, current, traced)
        calls = list(_callers(case, name, current))
        through = False
        if not jitted:
            for there, call in calls:
                caller = there.function(call)
                if isinstance(caller, ast.Lambda) and caller.body is call:
                    through = True  # the lambda hands on what it gets
                    calls = _lambda_calls(there, caller)
                    jitted = True
                    break
        if jitted:
            done = False
            for there, call in calls:
                if _keep_at(there, call, store, wanted, edits):
                    done = True
            return edits if done else []
        if through or len(calls) != 1:
            return []
        there, call = calls[0]
        caller = there.function(call)
        if not isinstance(caller, ast.FunctionDef) or not _take_apart(there, call, wanted, edits):
            return []
        if not _returns_more(there, caller, wanted, edits):
            return []
        current, place = caller, there
    return []


def _nice(store: Store) -> str:
    if isinstance(store.value, ast.Name):
        return store.value.id
    keys = re.findall(r"['\"](\w+)['\"]", store.text)
    if keys and keys[-1].isidentifier():
        return keys[-1]
    found = re.match(r"self\.(\w+)", store.text)
    return f"new_{found[1]}" if found else "kept"


def _is_traced(case: Case, source: Source, function: ast.FunctionDef, traced: set[str]) -> bool:
    qualified = source.qualified(function)
    if any(name in (function.name, qualified) for name in traced if name):
        return True
    return any(True for _ in applications(case, function.name))


def _returns_more(source: Source, function: ast.FunctionDef, value: str, edits: list[Edit]) -> bool:
    """Let all returns of a function return one value more."""
    found = [n for n in source.nodes(ast.Return, function) if source.function(n) is function]
    if not found:
        return False
    for node in found:
        if node.value is None:
            edits.append(source.replace(node, f"return None, {value}"))
        else:
            text = source.code(node.value)
            if isinstance(node.value, ast.Tuple) and not text.startswith("("):
                text = f"({text})"
            edits.append(source.replace(node.value, f"{text}, {value}"))
    return True


def _callers(case: Case, name: str, function: ast.FunctionDef) -> Iterator[tuple[Source, ast.Call]]:
    """The calls of a function, by its name or by those of jitted versions of it."""
    names = {name}
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            if source.meaning(call.func) in JITS and call.args:
                inner = call.args[0]
                if getattr(inner, "id", getattr(inner, "attr", "")) == name:
                    parent = source.parents.get(call)
                    if isinstance(parent, ast.Assign):
                        target = parent.targets[0]
                        names.add(getattr(target, "id", getattr(target, "attr", "")))
    for source in case.sources.values():
        for call in source.nodes(ast.Call):
            called = getattr(call.func, "id", getattr(call.func, "attr", ""))
            if called in names and source.function(call) is not function:
                yield source, call
            elif (
                isinstance(call.func, ast.Call)
                and source.meaning(call.func.func) in JITS
                and call.func.args
            ):
                inner = call.func.args[0]
                if getattr(inner, "id", getattr(inner, "attr", "")) == name:
                    yield source, call


def _lambda_calls(source: Source, function: ast.Lambda) -> list[tuple[Source, ast.Call]]:
    """The calls of what a lambda is made into: `jit(lambda ...)(x)`, or by the name it gets."""
    outer = source.parents.get(function)
    found: list[tuple[Source, ast.Call]] = []
    if isinstance(outer, ast.Call):
        call = source.parents.get(outer)
        if isinstance(call, ast.Call) and call.func is outer:
            return [(source, call)]
        outer = call
    if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name):
        name = outer.targets[0].id
        found = [
            (source, c)
            for c in source.nodes(ast.Call)
            if isinstance(c.func, ast.Name) and c.func.id == name
        ]
    return found


def _take_apart(source: Source, call: ast.Call, wanted: str, edits: list[Edit]) -> bool:
    """`y = f(x)` -> `y, wanted = f(x)`; a call inside an expression gets a line of its own."""
    statement = source.statement(call)
    indent = source.indent(statement)
    if (
        isinstance(statement, ast.Assign)
        and statement.value is call
        and len(statement.targets) == 1
    ):
        target = statement.targets[0]
        text = source.code(target)
        if isinstance(target, ast.Tuple) and not text.startswith("("):
            text = f"({text})"
        edits.append(source.replace(target, f"{text}, {wanted}"))
        return True
    if isinstance(statement, ast.Expr) and statement.value is call:
        edits.append(source.replace(call, f"_, {wanted} = {source.code(call)}"))
        return True
    if source.enclosing(call, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)):  # type: ignore[arg-type]
        return False
    name = source.fresh("result", statement)
    line = f"{indent}{name}, {wanted} = {source.code(call)}"
    edits.append(source.insert_above(source.first_line(statement), line))
    edits.append(source.replace(call, name))
    return True


def _keep_at(source: Source, call: ast.Call, store: Store, wanted: str, edits: list[Edit]) -> bool:
    """Take the value from a call and keep it after it, as the function did before."""
    text = store.text
    if store.base == "self" and isinstance(call.func, ast.Attribute):
        text = re.sub(r"^self\b", source.code(call.func.value), text)
    statement = source.statement(call)
    indent = source.indent(statement)
    if source.enclosing(call, (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.Lambda)):  # type: ignore[arg-type]
        return False
    if not _take_apart(source, call, wanted, edits):
        return False
    if text == f"{wanted} = {{}}":
        return source.function(call) is None  # elsewhere it would be a name of that function's own
    keep = f"{indent}{text.format(wanted)}"
    simple = isinstance(statement, (ast.Assign, ast.Expr)) and statement.value is call
    if simple:
        line = source.lines[(statement.end_lineno or 1) - 1]
        at = Span(
            source.file,
            statement.end_lineno or 1,
            len(line),
            statement.end_lineno or 1,
            len(line),
            "",
            (line,),
        )
        edits.append(Edit(at, f"\n{keep}"))
    else:
        # after the line that calls, before the statement that uses the result
        last = edits[-2]
        edits[-2] = Edit(last.span, f"{last.text.rstrip(chr(10))}\n{keep}\n")
    return True


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
    if not read.isidentifier():
        return
    last = [*function.args.posonlyargs, *function.args.args]
    edits: list[Edit] = []
    if last:
        edits.append(source.replace(last[-1], f"{source.code(last[-1])}, {read}"))
    else:
        line = source.code(function)
        head = line.index("()")
        at = source.span(function)
        text = line[: head + 1] + read + line[head + 1 :]
        edits.append(Edit(at, text))
    if _globals(function):
        return
    for place in case.sources.values():
        for call in place.nodes(ast.Call):
            if getattr(call.func, "id", getattr(call.func, "attr", "")) == function.name:
                text = place.code(call)
                inside = text[:-1].rstrip().rstrip(",")
                comma = "" if inside.endswith("(") else ", "
                edits.append(place.replace(call, f"{inside}{comma}{read})"))
    if len(edits) > 1:
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
    line = f"{source.indent(around)}{name} = {source.code(call)}"
    if isinstance(around, ast.FunctionDef):
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
    if call is None:
        return
    name = next((a.id for a in call.args if isinstance(a, ast.Name)), None)
    for found in call.keywords:
        if found.arg == "key" and isinstance(found.value, ast.Name):
            name = found.value.id
    if name is None:
        return
    function = source.function(call)
    scope: ast.AST = function if function is not None else source.tree
    loop = source.enclosing(call, (ast.For, ast.While))  # type: ignore[arg-type]
    split, imports = source.spell("jax.random.split")
    statement = source.statement(call)
    if loop is not None and source.function(loop) is function:
        sub = source.fresh(f"{name}_now", call)
        edits = [
            source.replace(u, sub)
            for u in source.uses(name, statement)
            if isinstance(u.ctx, ast.Load)
        ]
        line = f"{source.indent(statement)}{name}, {sub} = {split}({name})"
        edits.append(source.insert_above(source.first_line(statement), line))
        yield Candidate("split_key", "split the key in each round", (*edits, *imports), 1)
    uses = [u for u in source.uses(name, scope) if isinstance(u.ctx, ast.Load)]
    uses = [u for u in uses if not _is_split(source, u)]
    if len(uses) < 2:
        return
    parts = [source.fresh(f"{name}_{i + 1}", call) for i in range(len(uses))]
    first = source.statement(uses[0])
    while source.parents.get(first) is not scope and isinstance(
        source.parents.get(first), ast.stmt
    ):
        parent = source.parents[first]
        if not isinstance(parent, ast.stmt) or parent is scope:
            break
        first = parent
    line = f"{source.indent(first)}{', '.join(parts)} = {split}({name}, {len(parts)})"
    if len(parts) == 2:
        line = f"{source.indent(first)}{', '.join(parts)} = {split}({name})"
    edits = [source.replace(u, part) for u, part in zip(uses, parts, strict=True)]
    edits.append(source.insert_above(source.first_line(first), line))
    yield Candidate("split_key", "split the key, and use each part once", (*edits, *imports), 2)


def _is_split(source: Source, use: ast.Name) -> bool:
    parent = source.parents.get(use)
    return isinstance(parent, ast.Call) and source.meaning(parent.func) == "jax.random.split"
