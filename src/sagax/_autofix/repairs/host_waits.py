"""Repair clocks that are read too early, and loops that wait for each result."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import INDENT, Source, last_name, loads, stores
from sagax._src.diagnostics.model import Edit

_LOOPS = (ast.For, ast.While)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


# --- clocks --------------------------------------------------------------------------------------


@at_expression
def wait_before_clock(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Wait for what was computed before the clock is read for the second time."""
    statement = source.statement(node)
    wait, imports = source.spell("jax.block_until_ready")
    yield from _wait_in_context(case, source, statement)
    for before in _statements_before(source, statement):
        if _calls_clock(source, before):
            return
        if isinstance(before, ast.Expr) and isinstance(before.value, ast.Call):
            if _may_compute(source, before.value):
                call = before.value
                edit = source.replace(call, f"{wait}({source.code(call)})")
                title = f"wait for `{_short(source.code(call))}` before the clock is read"
                yield Candidate("block", title, (edit, *imports), 1)
                return
            continue
        names = _computed_names(source, before)
        if not names:
            continue
        text = names[0] if len(names) == 1 else f"({', '.join(names)})"
        title = f"wait for `{', '.join(names)}` before the clock is read"
        line = f"{source.indent(statement)}{wait}({text})"
        edit = source.insert_above(source.first_line(statement), line)
        value = before.value if isinstance(before, ast.Assign) else None
        whole = isinstance(value, ast.Call) and len(names) == 1
        if value is not None and whole and source.block(before) is source.block(statement):
            wrapped = source.replace(value, f"{wait}({source.code(value)})")
            yield Candidate("block", title, (wrapped, *imports), 2)
        yield Candidate("block", title, (edit, *imports), 1)
        return


def _wait_in_context(case: Case, source: Source, statement: ast.stmt) -> Iterator[Candidate]:
    """Wait at the end of `with timer():` where the context manager reads the clock."""
    function = source.function(statement)
    if not isinstance(function, ast.FunctionDef):
        return
    owner = source.parents.get(function)
    name = function.name
    if name == "__exit__" and isinstance(owner, ast.ClassDef):
        name = owner.name
    elif not source.nodes(ast.Yield, function):
        return
    edits: list[Edit] = []
    names: list[str] = []
    for there in case.sources.values():
        wait, imports = there.spell("jax.block_until_ready")
        for block in there.nodes(ast.With):
            if not any(
                last_name(getattr(i.context_expr, "func", None)) == name for i in block.items
            ):
                continue
            last = block.body[-1]
            if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
                if _may_compute(there, last.value):
                    edits += there.around(last.value, f"{wait}(", ")")
                    continue
            found = _computed_names(there, block)
            if found:
                text = found[0] if len(found) == 1 else f"({', '.join(found)})"
                row = last.end_lineno or 0
                line = f"\n{there.indent(last)}{wait}({text})"
                edits += [there.insert(row, len(there.lines[row - 1]), line), *imports]
                names += found
    if edits:
        waited = f"`{', '.join(dict.fromkeys(names))}`" if names else "the last result"
        title = f"wait for {waited} within the block that is timed"
        yield Candidate("block", title, tuple(edits), 0)


def _statements_before(source: Source, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements before one, the latest first, out to the function."""
    current = statement
    while True:
        block = source.block(current)
        yield from reversed(block[: block.index(current)] if current in block else [])
        parent = source.parents.get(current)
        if not isinstance(parent, ast.stmt) or isinstance(parent, _SCOPES):
            return
        current = parent


def _computed_names(source: Source, statement: ast.stmt) -> list[str]:
    """Return the variables that a statement assigns results of calls to, the last ones."""
    if isinstance(statement, (*_LOOPS, ast.If, ast.With, ast.Try)):
        found: list[str] = []
        for inner in reversed(statement.body):
            found = _computed_names(source, inner)
            if found:
                return found
        return []
    if isinstance(statement, ast.AugAssign):
        return [source.code(statement.target)] if _has_call(source, statement.value) else []
    if not isinstance(statement, ast.Assign) or not _has_call(source, statement.value):
        return []
    names: list[str] = []
    for target in statement.targets:
        parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
        names += [source.code(p) for p in parts if not isinstance(p, ast.Starred)]
    return [n for n in names if n != "_"]


def _has_call(source: Source, value: ast.expr) -> bool:
    return any(_may_compute(source, c) for c in source.nodes(ast.Call, value)) or isinstance(
        value, ast.BinOp
    )


def _may_compute(source: Source, call: ast.Call) -> bool:
    name = last_name(call.func)
    meaning = source.meaning(call.func)
    if meaning.split(".")[0] in ("time", "math", "numpy", "os", "sys", "logging"):
        return False
    return name not in {
        "print",
        "append",
        "len",
        "range",
        "info",
        "debug",
        "warning",
        "flush",
        "write",
    }


def _calls_clock(source: Source, statement: ast.stmt) -> bool:
    return any(
        source.meaning(c.func).startswith("time.") for c in source.nodes(ast.Call, statement)
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


# --- loops -----------------------------------------------------------------------------------------


@at_expression
def convert_after_loop(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Keep arrays in the loop, and convert them all after it."""
    if not isinstance(node, ast.Call):
        return
    method = isinstance(node.func, ast.Attribute) and not node.args
    value = node.func.value if method and isinstance(node.func, ast.Attribute) else None
    value = value or (node.args[0] if node.args else None)
    if value is None:
        return
    title = "keep arrays in the loop, and read them all after it"
    for edits in _conversions(source, node, value):
        yield Candidate("convert_after_loop", title, tuple(edits), 1)


def _conversions(source: Source, call: ast.Call, value: ast.expr) -> Iterator[list[Edit]]:
    statement = source.statement(call)
    get, imports = source.spell("jax.device_get")
    comprehension = source.enclosing(call, ast.ListComp)
    if comprehension is not None and comprehension in list(source.above(call)):
        if comprehension.elt is call:
            item = source.fresh("value", call)
            inner = source.code(comprehension).replace(source.code(call), source.code(value), 1)
            text = f"[{_converted(source, call, item)} for {item} in {get}({inner})]"
            yield [source.replace(comprehension, text), *imports]
        return
    loop = source.enclosing(statement, _LOOPS)
    if loop is None:
        return
    indent = source.indent(loop)
    end = source.span(loop)

    def after(line: str) -> Edit:
        text = "".join(f"\n{indent}{part}" for part in line.split("\n"))
        row = end.end_line
        return source.insert(row, len(source.lines[row - 1]), text)

    kept = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(kept, ast.Call) and isinstance(kept.func, ast.Attribute) and kept.args:
        owner = source.code(kept.func.value)
        edits = [source.replace(call, source.code(value)), *imports]
        if kept.args == [call]:
            item = source.fresh("value", call)
            convert = _converted(source, call, item)
            yield [*edits, after(f"{owner} = [{convert} for {item} in {get}({owner})]")]
        elif isinstance(kept.args[0], ast.Tuple) and call in kept.args[0].elts:
            names = [source.fresh(f"item_{i + 1}", call) for i in range(len(kept.args[0].elts))]
            at = kept.args[0].elts.index(call)
            parts = [_converted(source, call, n) if i == at else n for i, n in enumerate(names)]
            listed = ", ".join(names)
            line = f"{owner} = [({', '.join(parts)}) for {listed} in {get}({owner})]"
            yield [*edits, after(line)]
        return
    if isinstance(statement, ast.AugAssign) and statement.value is call:
        target = source.code(statement.target)
        convert = _converted(source, call, target)
        yield [source.replace(call, source.code(value)), after(f"{target} = {convert}")]
        return
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return
    target = statement.targets[0]
    if isinstance(target, ast.Subscript):
        yield _collected(source, statement, target, call, value, get, imports, loop, after)
    elif isinstance(target, ast.Attribute):
        text = source.code(target)
        line = f"{text} = {_converted(source, call, text)}"
        yield [source.replace(call, source.code(value)), after(line)]
    elif isinstance(target, ast.Name):
        for keeping in source.nodes(ast.Call, loop):
            is_append = isinstance(keeping.func, ast.Attribute) and keeping.func.attr == "append"
            if is_append and len(keeping.args) == 1 and last_name(keeping.args[0]) == target.id:
                assert isinstance(keeping.func, ast.Attribute)
                owner = source.code(keeping.func.value)
                item = source.fresh("value", call)
                convert = _converted(source, call, item)
                line = f"{owner} = [{convert} for {item} in {get}({owner})]"
                yield [source.replace(call, source.code(value)), *imports, after(line)]


def _collected(
    source: Source, statement: ast.Assign, target: ast.Subscript, call: ast.Call, value: ast.expr,
    get: str, imports: list[Edit], loop: ast.For | ast.While, after: Callable[[str], Edit],
) -> list[Edit]:  # fmt: skip
    """Collect the values and their places in a list, and store them after the loop."""
    kept = source.fresh("kept", statement)
    places = [n for n in loads(target.slice) if n in stores(loop)]
    item = value.id if isinstance(value, ast.Name) else source.fresh("value", call)
    indent = source.indent(loop)
    first = source.insert_above(source.first_line(loop), f"{indent}{kept} = []")
    listed = ", ".join([*places, source.code(value)])
    names = ", ".join([*places, item])
    append = f"({listed})" if places else listed
    stored = f"{source.code(target)} = {_converted(source, call, item)}"
    return [
        first,
        source.replace(statement, f"{kept}.append({append})"),
        after(f"for {names} in {get}({kept}):\n{INDENT}{stored}"),
        *imports,
    ]


def _converted(source: Source, call: ast.Call, text: str) -> str:
    """Return the conversion of another value: `float(x)` or `x.item()`."""
    if isinstance(call.func, ast.Attribute) and not call.args:
        return f"{text}.{call.func.attr}()"
    rest = "".join(f", {source.code(a)}" for a in call.args[1:])
    rest += "".join(f", {k.arg}={source.code(k.value)}" for k in call.keywords)
    return f"{source.code(call.func)}({text}{rest})"


@at_expression
def choose_on_device(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Rewrite `if value < best: best, kept = value, now` in a loop with where."""
    choice = source.enclosing(node, ast.If)
    if choice is None or choice.test is not node or choice.orelse:
        return
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for statement in choice.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs += zip(target.elts, value.elts, strict=True)
        else:
            pairs.append((target, value))
    assigned = [source.code(target) for target, _ in pairs]
    if any(source.code(value) in assigned for _, value in pairs):
        return  # an exchange
    where, imports = source.spell("jax.numpy.where")
    indent = source.indent(choice)
    test = source.fresh("chosen", choice)
    lines = [f"{indent}{test} = {source.code(choice.test)}"]
    for target, value in pairs:
        new, old = source.code(value), source.code(target)
        kinds = {m.kind for m in case.measure(source, value)}
        if kinds & {"dict", "list", "tuple"}:
            tree_map, more = source.spell("jax.tree.map")
            imports = [*imports, *more]
            choose = f"{tree_map}(lambda new, old: {where}({test}, new, old), {new}, {old})"
        else:
            choose = f"{where}({test}, {new}, {old})"
        lines.append(f"{indent}{old} = {choose}")
    edit = source.replace_statements([choice], "\n".join(lines))
    title = "choose with where, which does not wait for the test"
    yield Candidate("keep_on_device", title, (edit, *imports), 1)
