"""Repair static arguments that cannot be hashed: convert, make hashable, or trace them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from sagax._autofix.repairs.argument_forms import hashable_form
from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.source_file import (
    Function,
    Source,
    first_statement,
    parameters,
    tuple_text,
)
from sagax._autofix.repairs.transform_options import (
    Application,
    arguments_passed,
    set_option,
    unmark_static,
)
from sagax._src.diagnostics.model import Edit

# by type: how a call converts such a value, and how the function converts it back
_HASHABLE_FORMS = {
    "list": [("tuple({})", ""), ("tuple(map(tuple, {}))", ""), ("tuple({})", "list({})")],
    "dict": [
        ("tuple({}.items())", "dict({})"),
        ("tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in {}.items())", "dict({})"),
        ("tuple({}.items())", ""),
    ],
    "set": [("frozenset({})", "")],
}


def make_hashable(case: Case) -> Iterator[Candidate]:
    """Make a list, dict, set or array that is a static argument hashable, or trace it."""
    said = re.search(r"a value of type (\w+) cannot be hashed", case.facts.message)
    name = case.facts.data.get("argument", "")
    if said is None or not name:
        return
    kind = said[1]
    for source, value in _passed_values(case, name):
        for rank, (form, back) in enumerate(_HASHABLE_FORMS.get(kind, ()), 1):
            if back == "" and kind == "dict" and not _takes_pairs(case, name):
                continue
            text = form.format(source.code(value))
            if isinstance(value, ast.List) and form == "tuple({})":
                text = tuple_text([source.code(e) for e in value.elts])
            edits = [source.replace(value, text)]
            for there, other in _other_displays(case, name, value):
                edits.append(there.replace(other, form.format(there.code(other))))
            if back:
                edits += _conversion_edits(case, name, back.format(name))
            title = f"pass `{name}` as a {form.split('(')[0]}, which can be hashed"
            yield Candidate("hashable_static", title, tuple(edits), rank)
        break
    if "Array" in kind or kind == "ndarray":
        yield from _pass_numbers(case, name)
    yield from _make_class_hashable(case, kind)
    array = kind not in _HASHABLE_FORMS
    for candidate in unmark_static(case):
        yield replace(candidate, rank=1) if array else candidate


def _pass_numbers(case: Case, name: str) -> Iterator[Candidate]:
    """Pass the number in an array without axes, or a tuple of those in a vector."""
    for source, value in _passed_values(case, name):
        for measured in case.measure(source, value)[:1]:
            text = hashable_form(measured).format(source.code(value))
            if text:
                title = f"pass `{text}`: an array cannot be hashed, its numbers can"
                yield Candidate("hashable_static", title, (source.replace(value, text),), 0)
        return


def _passed_values(case: Case, name: str) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the values that calls pass for an argument of the jitted function, innermost first."""
    for source, node in case.located(reversed(case.facts.frames)):
        for call in source.nodes(ast.Call, node):
            value = arguments_passed(case, source, call).get(name)
            if value is not None:
                yield source, value


def _other_displays(case: Case, name: str, value: ast.expr) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the displays of the kind of a value that other calls pass for the argument."""
    found = _traced_function(case)
    if found is None or not isinstance(value, (ast.Dict, ast.Set)):
        return
    for source, _, passed in case.calls(found[1]):
        other = passed.get(name)
        if other is not None and other is not value and type(other) is type(value):
            yield source, other


def _traced_function(case: Case) -> tuple[Source, Function] | None:
    for name, _ in reversed(case.facts.transforms):
        for source, function in case.definition(name):
            return source, function
    return None


def _takes_pairs(case: Case, name: str) -> bool:
    """Return whether the function already takes a sequence of pairs."""
    found = _traced_function(case)
    return found is not None and f"dict({name})" in found[0].code(found[1])


def _conversion_edits(case: Case, name: str, text: str) -> list[Edit]:
    """Insert a first line into the jitted function that restores the type of the argument."""
    found = _traced_function(case)
    if found is None:
        return []
    source, function = found
    if isinstance(function, ast.Lambda) or name not in parameters(function):
        return []
    first = first_statement(function)
    line = f"{source.indent(first)}{name} = {text}"
    return [source.insert_above(source.first_line(first), line)]


def _make_class_hashable(case: Case, kind: str) -> Iterator[Candidate]:
    """Freeze a dataclass whose objects are static, or add `__hash__` to another class."""
    for source in case.sources.values():
        for found in source.nodes(ast.ClassDef):
            if found.name != kind:
                continue
            for decorator in found.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if source.meaning(called) != "dataclasses.dataclass":
                    continue
                if isinstance(decorator, ast.Call):
                    edits = set_option(Application(source, decorator, None, True), "frozen", "True")
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
