"""Repair variables that a loop body changes outside of itself: carry them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.leaks import find_leaks
from sagax._autofix.repairs.source_file import (
    Source,
    argument,
    declared_names,
    first_statement,
    last_name,
)
from sagax._src.diagnostics.model import Edit

_POSITIONS = {"scan": (0, 1, "init"), "fori_loop": (2, 3, "init_val")}
_LOOPS = tuple(f"jax.lax.{name}" for name in _POSITIONS)


def carry_variable(case: Case) -> Iterator[Candidate]:
    """Carry a nonlocal variable of a loop body, in place of changing it from inside."""
    seen: set[tuple[int, str]] = set()
    for source, store in find_leaks(case):
        body = source.function(store.statement)
        if (
            not store.plain
            or not isinstance(body, ast.FunctionDef)
            or (id(body), store.base) in seen
        ):
            continue
        seen.add((id(body), store.base))
        for call in source.calls_of(*_LOOPS):
            at, start, keyword = _POSITIONS[source.meaning(call.func).rpartition(".")[2]]
            function, init = argument(call, at, "f"), argument(call, start, keyword)
            if function is None or last_name(function) != body.name or init is None:
                continue
            edits = _carry(source, call, body, init, store.base)
            if edits:
                title = f"carry `{store.base}` from round to round, and take it from the result"
                yield Candidate("carry_value", title, tuple(edits), 0)


def _carry(
    source: Source, call: ast.Call, body: ast.FunctionDef, init: ast.expr, name: str
) -> list[Edit]:
    is_scan = source.meaning(call.func).endswith("scan")
    args = [*body.args.posonlyargs, *body.args.args]
    if len(args) != 2:
        return []
    carried = args[0] if is_scan else args[1]
    state = source.fresh("state", body)
    edits = [source.replace(carried, state)]
    first = first_statement(body)
    indent = source.indent(first)
    for declared in source.nodes((ast.Global, ast.Nonlocal), body):
        if name in declared.names:
            rest = [n for n in declared.names if n != name]
            word = "global" if isinstance(declared, ast.Global) else "nonlocal"
            kept = f"{word} {', '.join(rest)}\n{indent}" if rest else ""
            edits.append(source.replace(declared, f"{kept}{carried.arg}, {name} = {state}"))
    if name not in declared_names(body):
        return []
    for returned in source.nodes(ast.Return, body):
        if source.function(returned) is not body or returned.value is None:
            continue
        value: ast.expr = returned.value
        if is_scan:
            if not isinstance(value, ast.Tuple) or len(value.elts) != 2:
                return []
            value = value.elts[0]
        text = f"({source.code(value)}, {name})"
        edits.append(source.replace(value, text if is_scan else text[1:-1]))
    edits.append(source.replace(init, f"({source.code(init)}, {name})"))
    taken = _take(source, call, name, is_scan)
    return [*edits, *taken] if taken else []


def _take(source: Source, call: ast.Call, name: str, is_scan: bool) -> list[Edit]:
    """Take the variable from the result of the loop."""
    statement = source.statement(call)
    if isinstance(statement, ast.Expr) and statement.value is call:
        head = f"(_, {name}), _ = " if is_scan else f"_, {name} = "
        return [source.insert(statement.lineno, statement.col_offset, head)]
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return []
    target = statement.targets[0]
    if is_scan:
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            part = target.elts[0]
            return [source.replace(part, f"({source.code(part)}, {name})")]
        return []
    text = source.code(target)
    inner = f"({text.strip('()')})" if isinstance(target, ast.Tuple) else text
    return [source.replace(target, f"{inner}, {name}")]
