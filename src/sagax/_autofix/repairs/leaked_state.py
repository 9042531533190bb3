"""Repair traced values that a function stores by a side effect."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

from sagax._autofix.repairs.boolean_logic import substitute
from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.control_flow import bound_before
from sagax._autofix.repairs.effects import evaluate_eagerly
from sagax._autofix.repairs.source_file import (
    INDENT,
    Source,
    declared_names,
    last_name,
    loads,
    stores,
)
from sagax._src.diagnostics.model import Edit

# methods that store their last argument in their object
_STORING_METHODS = {
    "add", "append", "appendleft", "extend", "extendleft", "insert", "put", "put_nowait", "send", "setdefault",
    "update", "__setitem__",
}  # fmt: skip


@at_expression
def compute_eagerly(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compute a stored value that depends on no argument, as a table in a memo, eagerly."""
    if not _is_leak(case) or (case.facts.depends and not case.facts.inferred):
        return
    statement = source.statement(node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
        return
    block = source.block(statement)
    last = block.index(statement)
    first = last
    for i in reversed(range(last)):  # include the assignments that the value is computed from
        if not isinstance(block[i], (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            break
        if set(stores(block[i])) & set(loads(block[first : last + 1])):
            first = i
    title = "compute the kept value at once, also while tracing"
    for start in dict.fromkeys((first, last)):
        edits = evaluate_eagerly(source, block[start : last + 1])
        yield Candidate("concrete_constant", title, edits, -1)


@at_expression
def store_in_callback(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Store a value in an object by a callback, which runs with the executable."""
    if not _is_leak(case):
        return
    callback, imports = source.spell("jax.debug.callback")
    barrier = _barrier_edits(case)
    title = "keep the value when the compiled program runs, by a callback"
    # terms that are summed would be those of all calls so far
    grows = _is_summed(source, node)
    for edits in _callback_edits(case, source, node, callback):
        yield Candidate("callback", title, (*edits, *imports, *barrier), 3, allows=grows)


def _is_summed(source: Source, node: ast.AST) -> bool:
    """Return whether a value is appended to a list whose elements are summed."""
    lists = {
        source.code(c.func.value)
        for c in source.nodes(ast.Call, node)
        if isinstance(c.func, ast.Attribute) and c.func.attr in ("append", "extend")
    }
    return any(
        last_name(c.func) in ("sum", "mean") and source.code(c.args[0]) in lists
        for c in source.nodes(ast.Call)
        if c.args
    )


def _is_leak(case: Case) -> bool:
    label = next((x for x in case.facts.diagnostic.labels if x.primary), None)
    return label is not None and "leaks" in label.text


def _barrier_edits(case: Case) -> list[Edit]:
    """Insert an effects barrier before the value is used."""
    for text, source, node in case.label_nodes:
        if "used" in text:
            name, imports = source.spell("jax.effects_barrier")
            statement = source.statement(node)
            line = f"{source.indent(statement)}{name}()"
            return [source.insert_above(source.first_line(statement), line), *imports]
    return []


def _callback_edits(
    case: Case, source: Source, node: ast.AST, callback: str
) -> Iterator[list[Edit]]:
    for call in source.nodes(ast.Call, node):
        attribute = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if attribute not in _STORING_METHODS and getattr(call.func, "id", "") != "setattr":
            continue
        values = [*call.args, *[k.value for k in call.keywords]]
        if not values:
            continue
        if len(values) == 1 and call.args and attribute:
            text = f"{callback}({source.code(call.func)}, {source.code(values[0])})"
            yield [source.replace(call, text)]
        value = source.fresh("value", call)
        changed = substitute(source, call, {values[-1]: value})
        text = f"{callback}(lambda {value}: {changed}, {source.code(values[-1])})"
        yield [source.replace(call, text)]
        names = _array_names(case, source, call, values)
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
        if function is not None and name in declared_names(function):
            found = [
                s
                for s in source.nodes((ast.Global, ast.Nonlocal), function)  # type: ignore[arg-type]
                if name in s.names
            ]
            word = "global" if isinstance(found[0], ast.Global) else "nonlocal"
            lines.append(f"    {word} {name}")
    for replaced, arguments in (
        ({statement.value: value}, source.code(statement.value)),
        ({}, ", ".join(_array_names(case, source, statement, [statement.value]))),
    ):
        if not arguments:
            continue
        head = lines[0] if replaced else f"def {keep}({arguments}):"
        body = [head, *lines[1:], f"    {substitute(source, statement, replaced)}"]
        call = f"{callback}({keep}, {arguments})"
        block = "\n".join([*body, "", call])
        if source.lines[statement.lineno - 1][: statement.col_offset].strip():
            # `def keep(x): kept[0] = x`, on one line
            yield [source.replace(statement, "\n" + textwrap.indent(block, indent + INDENT))]
        else:
            yield [source.replace_statements([statement], textwrap.indent(block, indent))]


def _array_names(case: Case, source: Source, node: ast.AST, values: list[ast.expr]) -> list[str]:
    """Return the variables in some expressions that hold arrays in a run without jit."""
    local = bound_before(source, source.statement(node))
    found: dict[str, None] = {}
    for value in values:
        for name in source.nodes(ast.Name, value):
            if name.id in local and any(
                m.shape is not None or m.kind in ("dict", "list", "tuple")
                for m in case.measure(source, name)
            ):
                found[name.id] = None
    return list(found)
