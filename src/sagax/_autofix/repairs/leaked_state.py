"""Repair traced values that a function stores by a side effect."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import splice
from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.control_flow import before
from sagax._autofix.repairs.source_file import Source, declared, loads, stores
from sagax._src.diagnostics.model import Edit

__all__ = ["at_once", "by_callback"]

# methods that put their last argument into what they belong to
_ADDING = {
    "add", "append", "appendleft", "extend", "extendleft", "insert", "put", "put_nowait", "send", "setdefault",
    "update", "__setitem__",
}  # fmt: skip


def at_once(case: Case) -> Iterator[Candidate]:
    """A kept value that depends on no argument, as a table in a memo -> computed at once, also while tracing."""
    source, node = _leak(case)
    if source is None or node is None or case.facts.depends:
        return
    statement = source.statement(node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
        return
    block = source.block(statement)
    last = block.index(statement)
    first = last
    for i in reversed(range(last)):  # what the value is made of belongs to it
        if not isinstance(block[i], (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            break
        if set(stores(block[i])) & set(loads(block[first : last + 1])):
            first = i
    name, imports = source.spell("jax.ensure_compile_time_eval")
    for start in dict.fromkeys((first, last)):
        part = block[start : last + 1]
        indent = source.indent(part[0])
        text = f"{indent}with {name}():\n{source.block_text(part, indent + '    ')}"
        title = "compute the kept value at once, also while tracing"
        edit = source.replace_statements(part, text)
        yield Candidate("concrete_constant", title, (edit, *imports), -1)


def by_callback(case: Case) -> Iterator[Candidate]:
    """A value kept in an object of the program's -> kept by a callback, which runs with the program."""
    source, node = _leak(case)
    if source is None or node is None:
        return
    callback, imports = source.spell("jax.debug.callback")
    waiting = _waiting(case)
    title = "keep the value when the compiled program runs, by a callback"
    for edits in _kept(case, source, node, callback):
        yield Candidate("callback", title, (*edits, *imports, *waiting), 3)


def _leak(case: Case) -> tuple[Source | None, ast.AST | None]:
    label = next((x for x in case.facts.diagnostic.labels if x.primary), None)
    if label is None or "leaks" not in label.text:
        return None, None
    return case.source, case.node


def _waiting(case: Case) -> list[Edit]:
    """Before the value is used, let all callbacks have run."""
    for label in case.facts.diagnostic.labels:
        source = case.sources.get(label.span.file)
        node = source.at(label.span) if source is not None and "used" in label.text else None
        if source is not None and node is not None:
            name, imports = source.spell("jax.effects_barrier")
            statement = source.statement(node)
            line = f"{source.indent(statement)}{name}()"
            return [source.insert_above(source.first_line(statement), line), *imports]
    return []


def _kept(case: Case, source: Source, node: ast.AST, callback: str) -> Iterator[list[Edit]]:
    for call in source.nodes(ast.Call, node):
        attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if attribute not in _ADDING and getattr(call.func, "id", "") != "setattr":
            continue
        values = [*call.args, *[k.value for k in call.keywords]]
        if not values:
            continue
        if len(values) == 1 and call.args and attribute:
            text = f"{callback}({source.code(call.func)}, {source.code(values[0])})"
            yield [source.replace(call, text)]
        value = source.fresh("value", call)
        changed = splice(source, call, {values[-1]: value})
        text = f"{callback}(lambda {value}: {changed}, {source.code(values[-1])})"
        yield [source.replace(call, text)]
        names = _arrays(case, source, call, values)
        if names:
            listed = ", ".join(names)
            text = f"{callback}(lambda {listed}: {source.code(call)}, {listed})"
            yield [source.replace(call, text)]
        return
    statement = source.statement(node)
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return
    if statement.value is None:
        return
    function = source.function(statement)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    keep, value = source.fresh("keep", statement), source.fresh("value", statement)
    indent = source.indent(statement)
    lines = [f"def {keep}({value}):"]
    for name in stores(target):
        if function is not None and name in declared(function):
            found = [
                s
                for s in source.nodes((ast.Global, ast.Nonlocal), function)  # type: ignore[arg-type]
                if name in s.names
            ]
            word = "global" if isinstance(found[0], ast.Global) else "nonlocal"
            lines.append(f"    {word} {name}")
    for made, arguments in (
        ({statement.value: value}, source.code(statement.value)),
        ({}, ", ".join(_arrays(case, source, statement, [statement.value]))),
    ):
        if not arguments:
            continue
        head = lines[0] if made else f"def {keep}({arguments}):"
        body = [head, *lines[1:], f"    {splice(source, statement, made)}"]
        call = f"{callback}({keep}, {arguments})"
        block = "\n".join([*body, "", call])
        if source.lines[statement.lineno - 1][: statement.col_offset].strip():
            # `def keep(x): kept[0] = x`, on one line
            text = textwrap.indent(block, indent + "    ", lambda line: bool(line.strip()))
            yield [source.replace(statement, "\n" + text)]
        else:
            text = textwrap.indent(block, indent, lambda line: bool(line.strip()))
            yield [source.replace_statements([statement], text)]


def _arrays(case: Case, source: Source, node: ast.AST, values: list[ast.expr]) -> list[str]:
    """The variables among some expressions that hold arrays, in a run without jit."""
    local = before(source, source.statement(node))
    found: dict[str, None] = {}
    for value in values:
        for name in source.nodes(ast.Name, value):
            if name.id in local and any(
                m.shape is not None or m.kind in ("dict", "list", "tuple")
                for m in case.measure(source, name)
            ):
                found[name.id] = None
    return list(found)
