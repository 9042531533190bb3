"""Find where a value is made: through names, calls of the user's functions, and containers.

A path such as `[0]['w'].x` says which part of a value is meant. It is followed to the expression that
makes that part, whatever lies between: variables, displays, constructors, `_replace` and its like,
results of helpers and methods, what a call passes for a parameter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sagax._autofix.repairs.case import Case
from sagax._autofix.repairs.source_file import Function, Source, parameters

__all__ = ["Made", "functions_behind", "keys_of", "made", "returned_by"]

_DEEPEST = 12
_PARTIAL = "functools.partial"


class Made(NamedTuple):
    """An expression, and the keys of the wanted part that could not be followed further."""

    source: Source
    node: ast.expr
    rest: tuple[str, ...] = ()


def keys_of(path: str) -> tuple[str, ...]:
    """The steps of a path: `[0]['w'].x` has "0", "'w'" and ".x"."""
    return tuple(item or f".{name}" for item, name in re.findall(r"\[([^\]]+)\]|\.(\w+)", path))


def made(
    case: Case, source: Source, node: ast.expr, keys: Sequence[str] = (), depth: int = 0
) -> Iterator[Made]:
    """The expressions that may make a part of a value."""
    found = False
    if depth < _DEEPEST:
        for place, value, rest in _one_step(case, source, node, tuple(keys)):
            found = True
            yield from made(case, place, value, rest, depth + 1)
    if not found:
        yield Made(source, node, tuple(keys))


_Step = tuple[Source, ast.expr, tuple[str, ...]]


def _one_step(case: Case, source: Source, node: ast.expr, keys: tuple[str, ...]) -> Iterator[_Step]:
    """What stands for a part of an expression, one step nearer to where it is made."""
    if isinstance(node, ast.IfExp):
        yield source, node.body, keys
        yield source, node.orelse, keys
    elif isinstance(node, ast.NamedExpr):
        yield source, node.value, keys
    elif isinstance(node, ast.Name):
        yield from _named(case, source, node, keys)
    elif isinstance(node, ast.Attribute):
        if not source.meaning(node):
            yield from _attribute(case, source, node, keys)
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        step: list[_Step] = list(
            _one_step(case, source, node.value, (repr(node.slice.value), *keys))
        )
        yield from step
    elif isinstance(node, (ast.Tuple, ast.List)):
        if keys and keys[0].isdigit() and int(keys[0]) < len(node.elts):
            yield source, node.elts[int(keys[0])], keys[1:]
    elif isinstance(node, ast.Dict):
        yield from _of_dict(source, node, keys)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and keys:
        right = node.right
        holds = not isinstance(right, ast.Dict) or any(_is_key(k, keys[0]) for k in right.keys)
        yield source, right if holds else node.left, keys
    elif isinstance(node, ast.Call):
        yield from _called(case, source, node, keys)


def _is_key(node: ast.expr | None, key: str) -> bool:
    return isinstance(node, ast.Constant) and repr(node.value) == key.replace('"', "'")


def _of_dict(source: Source, node: ast.Dict, keys: tuple[str, ...]) -> Iterator[_Step]:
    if not keys:
        return
    for name, value in zip(node.keys, node.values, strict=True):
        if _is_key(name, keys[0]):
            yield source, value, keys[1:]
            return
    for name, value in zip(node.keys, node.values, strict=True):
        if name is None:  # {**state, "x": x}
            yield source, value, keys


def _named(case: Case, source: Source, node: ast.Name, keys: tuple[str, ...]) -> Iterator[_Step]:
    scope = source.function(node)
    while True:
        around: ast.AST = scope if scope is not None else source.tree
        bound = list(_assigned(source, around, node.id, keys))
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


def _assigned(
    source: Source, scope: ast.AST, name: str, keys: tuple[str, ...]
) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """What a name, or a part of it, is assigned in a scope; what is put into a part comes first."""
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
    """Whether a target is `name["key"]` or `name.key`."""
    value = getattr(target, "value", None)
    if not isinstance(value, ast.Name) or value.id != name:
        return False
    if isinstance(target, ast.Subscript):
        return _is_key(target.slice, key)
    return isinstance(target, ast.Attribute) and f".{target.attr}" == key


def _attribute(
    case: Case, source: Source, node: ast.Attribute, keys: tuple[str, ...]
) -> Iterator[_Step]:
    """`self.start`, which a method assigns; or a part of a value that is followed itself."""
    values: list[_Step] = []
    for there in case.sources.values():
        for statement in there.nodes(ast.Assign):
            for target in statement.targets:
                if (
                    isinstance(target, ast.Attribute)
                    and target.attr == node.attr
                    and getattr(target.value, "id", "") == "self"
                ):
                    values.append((there, statement.value, keys))
    if values and getattr(node.value, "id", "") == "self":
        yield from values
        return
    steps = list(_one_step(case, source, node.value, (f".{node.attr}", *keys)))
    yield from steps or values


def _called(case: Case, source: Source, call: ast.Call, keys: tuple[str, ...]) -> Iterator[_Step]:
    meaning = source.meaning(call.func)
    name = getattr(call.func, "id", getattr(call.func, "attr", ""))
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
        for made_of in there.nodes(ast.ClassDef):
            if made_of.name == name:
                yield from _field(there, made_of, source, call, keys)
                return
    for place, function in functions_behind(case, source, call.func):
        for value in returned_by(place, function):
            yield place, value, keys


def _field(
    there: Source, made_of: ast.ClassDef, source: Source, call: ast.Call, keys: tuple[str, ...]
) -> Iterator[_Step]:
    if not keys:
        return
    fields = {
        s.target.id: s.value
        for s in made_of.body
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
    }
    names = list(fields)
    name = names[int(keys[0])] if keys[0].isdigit() and int(keys[0]) < len(names) else keys[0][1:]
    for keyword in call.keywords:
        if keyword.arg == name:
            yield source, keyword.value, keys[1:]
            return
    if name in fields and names.index(name) < len(call.args):
        yield source, call.args[names.index(name)], keys[1:]
    elif (default := fields.get(name)) is not None:
        yield there, default, keys[1:]


# --- functions -----------------------------------------------------------------------------------


def returned_by(source: Source, function: Function) -> list[ast.expr]:
    """The expressions that a function returns."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    found = source.nodes(ast.Return, function)
    return [n.value for n in found if n.value is not None and source.function(n) is function]


def functions_behind(
    case: Case, source: Source, node: ast.expr, depth: int = 0
) -> Iterator[tuple[Source, Function]]:
    """The functions that an expression may stand for: a name, a method, `partial(f, ...)`, what a factory returns."""
    if depth > _DEEPEST:
        return
    if isinstance(node, ast.Lambda):
        yield source, node
        return
    if isinstance(node, ast.Call):
        meaning = source.meaning(node.func)
        if (meaning == _PARTIAL or meaning.startswith("jax.")) and node.args:
            yield from functions_behind(case, source, node.args[0], depth + 1)
        elif not meaning:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            for place, method in case.definition(f"{name}.__call__"):
                if place.qualified(method) == f"{name}.__call__":
                    yield place, method
                    return
            for place, factory in functions_behind(case, source, node.func, depth + 1):
                for value in returned_by(place, factory):
                    yield from functions_behind(case, place, value, depth + 1)
        return
    if isinstance(node, ast.Subscript):  # one of a table of functions
        for table in made(case, source, node.value, (), depth + 1):
            items: list[ast.expr] = getattr(table.node, "values", getattr(table.node, "elts", []))
            for item in items:
                yield from functions_behind(case, table.source, item, depth + 1)
        return
    if isinstance(node, ast.Name):
        for around in (*source.above(node),):
            for function in (
                getattr(around, "body", ()) if not isinstance(around, ast.Lambda) else ()
            ):
                if isinstance(function, ast.FunctionDef) and function.name == node.id:
                    yield source, function
                    return
    found = False
    for place, value, _ in list(_one_step(case, source, node, ())):
        for step in functions_behind(case, place, value, depth + 1):
            found = True
            yield step
    if found:
        return
    name = getattr(node, "id", getattr(node, "attr", ""))
    for place, definition in case.definition(name) if name else ():
        yield place, definition
