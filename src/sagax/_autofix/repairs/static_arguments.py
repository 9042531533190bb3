"""Repair static arguments that cannot be hashed: convert, make hashable, or trace them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import Function, Source, parameters
from sagax._autofix.repairs.transform_options import Applied, arguments_passed, traced, with_option
from sagax._src.diagnostics.model import Edit

__all__ = ["hashable"]

# by type: how a call passes such a value, and how the function gets it back, of the same type
_FORMS = {
    "list": [("tuple({})", ""), ("tuple(map(tuple, {}))", ""), ("tuple({})", "list({})")],
    "dict": [
        ("tuple({}.items())", "dict({})"),
        ("tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in {}.items())", "dict({})"),
        ("tuple({}.items())", ""),
    ],
    "set": [("frozenset({})", "")],
}


def hashable(case: Case) -> Iterator[Candidate]:
    """A list, dict, set or array given for a static argument."""
    said = re.search(r"a value of type (\w+) cannot be hashed", case.facts.message)
    name = case.facts.data.get("argument", "")
    if said is None or not name:
        return
    kind = said[1]
    for source, value in _given(case, name):
        for rank, (form, back) in enumerate(_FORMS.get(kind, ()), 1):
            if back == "" and kind == "dict" and not _lists_items(case, name):
                continue
            text = form.format(source.code(value))
            if isinstance(value, ast.List) and form == "tuple({})":
                items = [source.code(e) for e in value.elts]
                text = f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
            edits = [source.replace(value, text)]
            if back:
                edits += _converted(case, name, back.format(name))
            title = f"pass `{name}` as a {form.split('(')[0]}, which can be hashed"
            yield Candidate("hashable_static", title, tuple(edits), rank)
        break
    yield from _class_of(case, kind)
    array = kind not in _FORMS
    for candidate in traced(case):
        yield replace(candidate, rank=1) if array else candidate


def _given(case: Case, name: str) -> Iterator[tuple[Source, ast.expr]]:
    """What the innermost call that names it passes for an argument of the jitted function."""
    for span in reversed(case.facts.frames):
        source = case.sources.get(span.file)
        node = source.at(span) if source is not None else None
        if source is None or node is None:
            continue
        for call in source.nodes(ast.Call, node):
            value = arguments_passed(case, source, call).get(name)
            if value is not None:
                yield source, value


def _function(case: Case) -> tuple[Source, Function] | None:
    for name, _ in reversed(case.facts.transforms):
        for source, function in case.definition(name):
            return source, function
    return None


def _lists_items(case: Case, name: str) -> bool:
    """Whether the function already takes a sequence of pairs."""
    found = _function(case)
    return found is not None and f"dict({name})" in found[0].code(found[1])


def _converted(case: Case, name: str, text: str) -> list[Edit]:
    """A first line of the jitted function that gives the argument its old type."""
    found = _function(case)
    if found is None:
        return []
    source, function = found
    if isinstance(function, ast.Lambda) or name not in parameters(function):
        return []
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    first = body[1] if documented and len(body) > 1 else body[0]
    line = f"{source.indent(first)}{name} = {text}"
    return [source.insert_above(source.first_line(first), line)]


def _class_of(case: Case, kind: str) -> Iterator[Candidate]:
    """A class whose objects are static: a dataclass frozen, another one with a hash."""
    for source in case.sources.values():
        for found in source.nodes(ast.ClassDef):
            if found.name != kind:
                continue
            for decorator in found.decorator_list:
                what = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(what) != "dataclasses.dataclass":
                    continue
                if isinstance(decorator, ast.Call):
                    edits = with_option(Applied(source, decorator, None, True), "frozen", "True")
                else:
                    edits = [source.replace(decorator, f"{source.code(decorator)}(frozen=True)")]
                title = (
                    f"freeze `{kind}`: its objects are then compared and hashed by what they hold"
                )
                yield Candidate("hashable_static", title, tuple(edits), 1)
            methods = {f.name: f for f in found.body if isinstance(f, ast.FunctionDef)}
            if "__eq__" in methods and "__hash__" not in methods:
                last, step = methods["__eq__"], source.indent(methods["__eq__"])
                text = (
                    f"{source.code(last)}\n\n{step}def __hash__(self):\n"
                    f"{step}{step}return hash(tuple(vars(self).items()))"
                )
                title = f"give `{kind}` a hash that goes with how it is compared"
                edit = source.replace(last, text)
                yield Candidate("hashable_static", title, (edit,), 1)
