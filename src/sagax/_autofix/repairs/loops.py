"""Rewrite `for` loops, over a traced range or long ones that unroll, as fori_loop and scan."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.control_flow import loop_carry, range_of, tuple_text
from sagax._autofix.repairs.source_file import Source

__all__ = ["loops"]

_STEP = "    "


def loops(case: Case) -> Iterator[Candidate]:
    """The `for` loop at fault or around the expression at fault."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    loop = node if isinstance(node, ast.For) else source.enclosing(node, ast.For)
    if loop is None or loop.orelse:
        return
    for statement in loop.body:
        for found in ast.walk(statement):
            if isinstance(found, (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.Await)):
                return
            if isinstance(found, (ast.Attribute, ast.Subscript)) and isinstance(
                found.ctx, ast.Store
            ):
                return
    collected = _collected(source, loop)
    if collected is None:
        return
    count = range_of(source, loop.iter)
    if count is not None and not collected:
        yield from _fori(source, loop, *count)
    yield from _scan(source, loop, count, collected)


def _collected(source: Source, loop: ast.For) -> dict[str, ast.Expr] | None:
    """Lists that the loop appends to, with the statement; None where it does so in odd ways."""
    found: dict[str, ast.Expr] = {}
    for statement in loop.body:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("append", "extend", "insert", "update", "add", "pop"):
                name = node.func.value
                plain = isinstance(statement, ast.Expr) and statement.value is node
                if not plain or node.func.attr != "append" or not isinstance(name, ast.Name):
                    return None
                if name.id in found or not _starts_empty(source, loop, name.id):
                    return None
                assert isinstance(statement, ast.Expr)
                found[name.id] = statement
    return found


def _starts_empty(source: Source, loop: ast.For, name: str) -> bool:
    scope = source.function(loop) or source.tree
    values = source.assigned(name, scope)
    return len(values) == 1 and isinstance(values[0], ast.List) and not values[0].elts


def _index(loop: ast.For) -> str:
    return loop.target.id if isinstance(loop.target, ast.Name) else "_"


def _fori(source: Source, loop: ast.For, start: str, stop: str, step: str) -> Iterator[Candidate]:
    carry = loop_carry(source, loop, loop.body)
    if not carry:
        return
    function, imports = source.spell("jax.lax.fori_loop")
    indent = source.indent(loop)
    body = source.fresh("body", loop)
    names = tuple_text(carry)
    index = _index(loop)
    state = carry[0] if len(carry) == 1 else source.fresh("carry", loop)
    lines: list[str] = []
    counter = index
    if step != "1":
        counter = source.fresh("k", loop)
        lines.append(f"{indent}{_STEP}{index} = {start} + {counter} * {step}")
        if step.startswith("-"):
            stop = f"({start} - {stop} - ({step}) - 1) // -({step})"
        else:
            stop = f"({stop} - {start} + {step} - 1) // {step}"
        start = "0"
    if len(carry) > 1:
        lines.append(f"{indent}{_STEP}{names} = {state}")
    packed = names if len(carry) == 1 else f"({names})"
    text = "\n".join(
        [
            f"{indent}def {body}({counter}, {state}):",
            *lines,
            source.block_text(loop.body, indent + _STEP),
            f"{indent}{_STEP}return {names}",
            "",
            f"{indent}{names} = {function}({start}, {stop}, {body}, {packed})",
        ]
    )
    title = "loop with fori_loop: compiled once, and the bounds may be traced"
    edit = source.replace_statements([loop], text)
    yield Candidate("fori_or_scan", title, (edit, *imports), 2)


def _scan(
    source: Source,
    loop: ast.For,
    count: tuple[str, str, str] | None,
    collected: dict[str, ast.Expr],
) -> Iterator[Candidate]:
    numpy, imports = source.spell("jax.numpy")
    function, more = source.spell("jax.lax.scan")
    if count is not None:
        start, stop, step = count
        parts = (
            [stop]
            if (start, step) == ("0", "1")
            else [start, stop, *([step] if step != "1" else [])]
        )
        over = f"{numpy}.arange({', '.join(parts)})"
        item = _index(loop)
    else:
        found = _iterated(source, loop, numpy)
        if found is None:
            return
        over, item = found
    carry = [n for n in loop_carry(source, loop, loop.body) if n not in collected]
    indent = source.indent(loop)
    body = source.fresh("body", loop)
    names = tuple_text(carry) if carry else "_"
    state = names if len(carry) <= 1 else source.fresh("carry", loop)
    packed = ("None" if not carry else names) if len(carry) <= 1 else f"({names})"
    values: list[str] = []
    block = source.block_text(loop.body, indent + _STEP).split("\n")
    offset = source.first_line(loop.body[0])
    for name, statement in collected.items():
        call = statement.value
        assert isinstance(call, ast.Call)
        value = source.fresh(f"{name}_item", loop)
        values.append(value)
        rows = range(statement.lineno - offset, (statement.end_lineno or 0) - offset + 1)
        if len(rows) == 1:
            block[rows[0]] = f"{indent}{_STEP}{value} = {source.code(call.args[0])}"
    if any(".append(" in row for row in block):
        return
    outs = "None" if not values else values[0] if len(values) == 1 else f"({', '.join(values)})"
    lines = [f"{indent}def {body}({state}, {item}):"]
    if len(carry) > 1:
        lines.append(f"{indent}{_STEP}{names} = {state}")
    lines += block
    lines.append(f"{indent}{_STEP}return {packed}, {outs}")
    lines.append("")
    targets = list(collected)
    got = "_" if not targets else targets[0] if len(targets) == 1 else f"({', '.join(targets)})"
    left = f"{packed if carry else '_'}, {got}"
    lines.append(f"{indent}{left} = {function}({body}, {packed}, {over})")
    edit = source.replace_statements([loop], "\n".join(lines))
    title = "loop with scan: the body is compiled once"
    rank = 2 if collected or count is None else 3
    yield Candidate("fori_or_scan", title, (edit, *more, *imports), rank)


def _iterated(source: Source, loop: ast.For, numpy: str) -> tuple[str, str] | None:
    """What is scanned and the name of its item, for a loop over arrays."""
    target = source.code(loop.target)
    if isinstance(loop.target, (ast.Tuple, ast.List)) and not target.startswith("("):
        target = f"({target})"
    item = target if isinstance(loop.target, ast.Name) else source.fresh("item", loop)
    iterated = loop.iter
    if item != target:
        return None
    if isinstance(iterated, (ast.Name, ast.Attribute, ast.Subscript)):
        return source.code(iterated), item
    if isinstance(iterated, ast.Call) and source.meaning(iterated.func).startswith("jax.numpy."):
        return source.code(iterated), item
    return None
