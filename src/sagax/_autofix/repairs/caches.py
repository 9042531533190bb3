"""Repair caches that keep traced values: compute the value each time that the function is traced."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.leaks import Store, find_leaks
from sagax._autofix.repairs.source_file import Source
from sagax._src.diagnostics.model import Edit


def drop_cache(case: Case) -> Iterator[Candidate]:
    """Replace `if key not in cache: cache[key] = value` by `value`, and its reads as well."""
    for source, store in find_leaks(case):
        edits = _without_cache(source, store)
        if edits:
            title = (
                "compute the value in each trace, to which it belongs; compiled calls do not compute "
                f"it again (`{store.base}` is no longer filled)"
            )
            dropped = (_last_attribute(store) or store.base,)
            yield Candidate("drop_cache", title, tuple(edits), -1, dropped=dropped)


def _last_attribute(store: Store) -> str:
    target = store.statement.targets[0] if isinstance(store.statement, ast.Assign) else None
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.attr if isinstance(target, ast.Attribute) else ""


def _without_cache(source: Source, store: Store) -> list[Edit]:
    statement = store.statement
    choice = source.parents.get(statement)
    function = source.function(statement)
    if not isinstance(choice, ast.If) or choice.orelse or function is None:
        return []
    if not isinstance(statement, ast.Assign) or statement is not choice.body[-1]:
        return []
    target = statement.targets[0]
    text = source.code(target)
    if not _is_absence_test(source, choice.test, target):
        return []
    reads = [
        n
        for n in source.nodes((ast.Name, ast.Attribute, ast.Subscript), function)
        if isinstance(n.ctx, ast.Load) and source.code(n) == text and not _within(source, n, choice)
    ]
    if isinstance(target, ast.Name):
        name, edits = target.id, _undeclare(source, function, target.id)
    else:
        name, edits = source.fresh("value", statement), []
    indent = source.indent(choice)
    body = [*choice.body[:-1]]
    lines = [source.block_text(body, indent)] if body else []
    lines.append(f"{indent}{name} = {source.code(store.value)}")
    edits.append(source.replace_statements([choice], "\n".join(lines)))
    edits += [source.replace(n, name) for n in reads if name != text]
    return edits


def _is_absence_test(source: Source, test: ast.expr, target: ast.expr) -> bool:
    """Return whether a test asks whether a cache lacks what is stored at `target`."""
    text = source.code(target)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = test.operand
        if isinstance(inner, ast.Compare) and isinstance(inner.ops[0], ast.In):
            return _is_key_of(source, inner, target)
        called = isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "hasattr"
        return called or source.code(inner) == text
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    if isinstance(test.ops[0], ast.NotIn):
        return _is_key_of(source, test, target)
    other = test.comparators[0]
    empty = isinstance(other, ast.Constant) and other.value is None
    return empty and isinstance(test.ops[0], ast.Is | ast.Eq) and source.code(test.left) == text


def _is_key_of(source: Source, test: ast.Compare, target: ast.expr) -> bool:
    return (
        isinstance(target, ast.Subscript)
        and source.code(test.comparators[0]) == source.code(target.value)
        and source.code(test.left) == source.code(target.slice)
    )


def _within(source: Source, node: ast.AST, outer: ast.AST) -> bool:
    return any(n is outer for n in source.above(node))


def _undeclare(source: Source, function: ast.AST, name: str) -> list[Edit]:
    """Delete a name from the `global` and `nonlocal` statements of a function."""
    edits: list[Edit] = []
    for declared in source.nodes((ast.Global, ast.Nonlocal), function):
        if name not in declared.names:
            continue
        rest = [n for n in declared.names if n != name]
        word = "global" if isinstance(declared, ast.Global) else "nonlocal"
        if rest:
            edits.append(source.replace(declared, f"{word} {', '.join(rest)}"))
        else:
            edits.append(source.delete(declared))
    return edits
