"""Find the definitions of a value: through names, calls of the user's functions, and containers.

A path such as `[0]['w'].x` names a part of a value. It is followed to the expressions that define that
part: through variables, displays, constructors, `_replace`, results of helpers and methods, and the
arguments of calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sagax._autofix.repairs.case import Case
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    keyword_value,
    last_name,
    parameters,
)

_MAX_DEPTH = 12
_PARTIAL = "functools.partial"


class Definition(NamedTuple):
    """Hold a defining expression, and the keys that could not be followed further."""

    source: Source
    node: ast.expr
    rest: tuple[str, ...] = ()


def path_keys(path: str) -> tuple[str, ...]:
    """Split a path into keys: `[0]['w'].x` has "0", "'w'" and ".x"."""
    return tuple(item or f".{name}" for item, name in re.findall(r"\[([^\]]+)\]|\.(\w+)", path))


def reaching_definitions(
    case: Case, source: Source, node: ast.expr, keys: Sequence[str] = (), depth: int = 0
) -> Iterator[Definition]:
    """Yield the expressions that may define a part of a value."""
    found = False
    if depth < _MAX_DEPTH:
        for step in _definition_step(case, source, node, tuple(keys)):
            found = True
            yield from reaching_definitions(case, *step, depth + 1)
    if not found:
        yield Definition(source, node, tuple(keys))


_Step = tuple[Source, ast.expr, tuple[str, ...]]


def _definition_step(
    case: Case, source: Source, node: ast.expr, keys: tuple[str, ...]
) -> Iterator[_Step]:
    """Yield the expressions that define a part of an expression, one step back."""
    if isinstance(node, ast.IfExp):
        yield source, node.body, keys
        yield source, node.orelse, keys
    elif isinstance(node, ast.NamedExpr):
        yield source, node.value, keys
    elif isinstance(node, ast.Name):
        yield from _name_definitions(case, source, node, keys)
    elif isinstance(node, ast.Attribute):
        if not source.meaning(node):
            yield from _attribute_definitions(case, source, node, keys)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        yield from _definition_step(case, source, node.value, (repr(node.slice.value), *keys))
    elif isinstance(node, (ast.Tuple, ast.List)):
        if keys and keys[0].isdigit() and int(keys[0]) < len(node.elts):
            yield source, node.elts[int(keys[0])], keys[1:]
    elif isinstance(node, ast.Dict):
        yield from _dict_item(source, node, keys)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and keys:
        right = node.right
        holds = not isinstance(right, ast.Dict) or any(_is_key(k, keys[0]) for k in right.keys)
        yield source, right if holds else node.left, keys
    elif isinstance(node, ast.Call):
        yield from _call_definitions(case, source, node, keys)


def _is_key(node: ast.expr | None, key: str) -> bool:
    return isinstance(node, ast.Constant) and repr(node.value) == key.replace('"', "'")


def _dict_item(source: Source, node: ast.Dict, keys: tuple[str, ...]) -> Iterator[_Step]:
    if not keys:
        return
    for name, value in zip(node.keys, node.values, strict=True):
        if _is_key(name, keys[0]):
            yield source, value, keys[1:]
            return
    for name, value in zip(node.keys, node.values, strict=True):
        if name is None:  # {**state, "x": x}
            yield source, value, keys


def _name_definitions(
    case: Case, source: Source, node: ast.Name, keys: tuple[str, ...]
) -> Iterator[_Step]:
    scope = source.function(node)
    while True:
        around: ast.AST = scope if scope is not None else source.tree
        bound = list(_assigned_values(source, around, node.id, keys))
        if bound:
            yield from ((source, value, rest) for value, rest in bound)
            return
        if scope is None:
            return
        if node.id in parameters(scope):
            for there, _, passed in case.calls(scope):
                if node.id in passed:
                    yield there, passed[node.id], keys
            return
        scope = source.function(scope)


def _assigned_values(
    source: Source, scope: ast.AST, name: str, keys: tuple[str, ...]
) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """Yield the values assigned to a name in a scope: those of the part, or else of the whole."""
    whole: list[tuple[ast.expr, tuple[str, ...]]] = []
    parts: list[tuple[ast.expr, tuple[str, ...]]] = []
    for statement in source.nodes((ast.Assign, ast.AnnAssign), scope):  # type: ignore[arg-type]
        value = statement.value  # type: ignore[attr-defined]
        own = source.function(statement)
        if value is None or (own is not scope and not (own is None and scope is source.tree)):
            continue
        targets: list[ast.expr] = (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]  # type: ignore[attr-defined]
        )
        for target in targets:
            if isinstance(target, ast.Name) and target.id == name:
                whole.append((value, keys))
            elif isinstance(target, (ast.Tuple, ast.List)):
                for i, item in enumerate(target.elts):
                    if isinstance(item, ast.Name) and item.id == name:
                        whole.append((value, (str(i), *keys)))
            elif keys and _is_part(target, name, keys[0]):
                parts.append((value, keys[1:]))
    yield from parts or whole


def _is_part(target: ast.expr, name: str, key: str) -> bool:
    """Return whether a target is `name["key"]` or `name.key`."""
    value = getattr(target, "value", None)
    if not isinstance(value, ast.Name) or value.id != name:
        return False
    if isinstance(target, ast.Subscript):
        return _is_key(target.slice, key)
    return isinstance(target, ast.Attribute) and f".{target.attr}" == key


def _attribute_definitions(
    case: Case, source: Source, node: ast.Attribute, keys: tuple[str, ...]
) -> Iterator[_Step]:
    """Yield the definitions of `self.start`, which methods assign, or of an attribute of a value."""
    values: list[_Step] = [
        (there, assignment.value, keys)
        for there, assignment, _ in case.assignments()
        for target in assignment.targets
        if isinstance(target, ast.Attribute) and target.attr == node.attr
        if getattr(target.value, "id", "") == "self"
    ]
    if values and getattr(node.value, "id", "") == "self":
        yield from values
        return
    steps = list(_definition_step(case, source, node.value, (f".{node.attr}", *keys)))
    yield from steps or values


def _call_definitions(
    case: Case, source: Source, call: ast.Call, keys: tuple[str, ...]
) -> Iterator[_Step]:
    meaning = source.meaning(call.func)
    name = last_name(call.func)
    given = {k.arg: k.value for k in call.keywords}
    key = keys[0] if keys else ""
    if meaning == "dataclasses.replace" or name == "_replace" or (name == "dict" and not meaning):
        plain = key[1:] if key.startswith(".") else key.strip("'\"")
        if key and plain in given:
            yield source, given[plain], keys[1:]
        elif name == "_replace" and isinstance(call.func, ast.Attribute):
            yield source, call.func.value, keys
        elif call.args:
            yield source, call.args[0], keys
        return
    if meaning.startswith("jax."):
        return
    for there in case.sources.values():
        for cls in there.nodes(ast.ClassDef):
            if cls.name == name:
                yield from _field_definitions(there, cls, source, call, keys)
                return
    for defining, function in resolve_functions(case, source, call.func):
        for value in returned_expressions(defining, function):
            yield defining, value, keys


def _field_definitions(
    there: Source, cls: ast.ClassDef, source: Source, call: ast.Call, keys: tuple[str, ...]
) -> Iterator[_Step]:
    if not keys:
        return
    fields = field_defaults(cls)
    names = list(fields)
    name = names[int(keys[0])] if keys[0].isdigit() and int(keys[0]) < len(names) else keys[0][1:]
    if (value := keyword_value(call, name)) is not None:
        yield source, value, keys[1:]
    elif name in fields and names.index(name) < len(call.args):
        yield source, call.args[names.index(name)], keys[1:]
    elif (default := fields.get(name)) is not None:
        yield there, default, keys[1:]


def field_defaults(cls: ast.ClassDef) -> dict[str, ast.expr | None]:
    """Map the annotated fields of a class to their defaults."""
    return {
        s.target.id: s.value
        for s in cls.body
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
    }


# --- functions -----------------------------------------------------------------------------------


def returned_expressions(source: Source, function: Function) -> list[ast.expr]:
    """Return the expressions that a function returns."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    found = source.nodes(ast.Return, function)
    return [n.value for n in found if n.value is not None and source.function(n) is function]


def resolve_functions(
    case: Case, source: Source, node: ast.expr, depth: int = 0
) -> Iterator[tuple[Source, Function]]:
    """Yield the functions that an expression may evaluate to.

    The expression is a name, a method, `partial(f, ...)`, an item of a table, or the call of a factory.
    """
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, ast.Lambda):
        yield source, node
        return
    if isinstance(node, ast.Call):
        meaning = source.meaning(node.func)
        if (meaning == _PARTIAL or meaning.startswith("jax.")) and node.args:
            yield from resolve_functions(case, source, node.args[0], depth + 1)
        elif not meaning:
            name = last_name(node.func)
            for defining, method in case.definition(f"{name}.__call__"):
                if defining.qualified(method) == f"{name}.__call__":
                    yield defining, method
                    return
            for defining, factory in resolve_functions(case, source, node.func, depth + 1):
                for value in returned_expressions(defining, factory):
                    yield from resolve_functions(case, defining, value, depth + 1)
        return
    if isinstance(node, ast.Subscript):  # one of a table of functions
        for table in reaching_definitions(case, source, node.value, (), depth + 1):
            items: list[ast.expr] = getattr(table.node, "values", getattr(table.node, "elts", []))
            for item in items:
                yield from resolve_functions(case, table.source, item, depth + 1)
        return
    if isinstance(node, ast.Name):
        for around in source.above(node):
            for function in () if isinstance(around, ast.Lambda) else getattr(around, "body", ()):
                if isinstance(function, ast.FunctionDef) and function.name == node.id:
                    yield source, function
                    return
    found = False
    for defining, value, _ in _definition_step(case, source, node, ()):
        for function in resolve_functions(case, defining, value, depth + 1):
            found = True
            yield function
    name = last_name(node)
    if not found and name:
        yield from case.definition(name)
