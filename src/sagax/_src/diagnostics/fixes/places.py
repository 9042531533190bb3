"""What the source adds to the facts: arguments by their names, and the place that is to be changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

import sagax._src.diagnostics.fixes.leaks as leaks
import sagax._src.diagnostics.fixes.options as options
import sagax._src.diagnostics.fixes.types as types
from sagax._src.diagnostics.fixes.case import Case, Facts, base_name
from sagax._src.diagnostics.fixes.source import Source, loads, parameters, stores
from sagax._src.diagnostics.model import Label, Span

__all__ = ["completed"]


def completed(facts: Facts, sources: Mapping[str, Source]) -> Facts:
    """The facts with what the error itself does not know."""
    diagnostic = facts.diagnostic
    depends = _depends(facts, sources)
    if depends:
        diagnostic = replace(diagnostic, depends=depends)
    place = _better_place(facts, sources)
    if place is not None:
        others = tuple(label for label in diagnostic.labels if not label.primary)
        old = tuple(replace(label, primary=False) for label in diagnostic.labels if label.primary)
        diagnostic = replace(diagnostic, labels=(Label(place, primary=True), *others, *old))
    return replace(facts, diagnostic=diagnostic)


def _depends(facts: Facts, sources: Mapping[str, Source]) -> tuple[str, ...]:
    classes, data, diagnostic = facts.classes, facts.data, facts.diagnostic
    primary = diagnostic.primary
    source = sources.get(primary.file) if primary is not None else None
    node = source.at(primary) if source is not None and primary is not None else None
    if source is not None and node is not None and "arrays are immutable" in diagnostic.message:
        target = next(
            (n for n in ast.walk(source.statement(node)) if isinstance(n, ast.Subscript)), node
        )
        return arguments_of(source, target.value if isinstance(target, ast.Subscript) else target)
    if "OutOfBoundsIndexWarning" in classes or "IntegerOverflowWarning" in classes:
        return _of_mapped(source, node) or diagnostic.depends
    if "requires real- or complex-valued inputs" in diagnostic.message and "argument" in data:
        return (base_name(data["argument"]),)
    if diagnostic.depends:
        return _of_innermost(facts, source, node)
    if "InconclusiveDimensionOperation" in classes and source is not None and node is not None:
        return arguments_of(source, node)
    if variable := re.search(r"dimension variable '(\w+)'", diagnostic.message):
        return (variable[1],)
    if "DeletedArrayError" in classes and source is not None and primary is not None:
        names = (
            [n.id for n in ast.walk(node) if isinstance(n, ast.Name)] if node is not None else []
        )
        given = options.donated_names(Case(facts, sources))
        return tuple([n for n in names if n in given] or names)[:1]
    if "mapped" in diagnostic.message and "vmap" in diagnostic.message:
        return tuple(
            dict.fromkeys(
                base_name(n) for n in re.findall(r"axis \d+ of ([\w.\[\]'\"]+)", diagnostic.message)
            )
        )
    if "incompatible devices" in diagnostic.message and facts.transforms:
        numbers = [int(n) for n in re.findall(r"operand (\d+)", diagnostic.message)]
        for _, function in Case(facts, sources).definition(facts.transforms[-1][0]):
            known = parameters(function)
            return tuple(known[i] for i in numbers if i < len(known))
    if ("NotAnArrayError" in classes or "hashable" in diagnostic.message) and "argument" in data:
        return (base_name(data["argument"]),)
    return ()


def _of_mapped(source: Source | None, node: ast.AST | None) -> tuple[str, ...]:
    """The arguments of a lambda that is handed to vmap, scan and their like, where a value is made in it."""
    function = source.function(node) if source is not None and node is not None else None
    if source is None or node is None or not isinstance(function, ast.Lambda):
        return ()
    call = source.parents.get(function)
    if not isinstance(call, ast.Call) or function not in call.args:
        return ()
    if not source.meaning(call.func).startswith("jax."):
        return ()
    return arguments_of(source, node)


def _of_innermost(facts: Facts, source: Source | None, node: ast.AST | None) -> tuple[str, ...]:
    """The arguments of the innermost traced function, where the facts name those of an outer one."""
    if source is None or node is None or not facts.transforms:
        return ()
    name, reason = facts.transforms[-1]
    function = source.function(node)
    if reason != "vmap" or not isinstance(function, ast.FunctionDef):
        return ()
    if function.name != name.rpartition(".")[2]:
        return ()
    # arguments that are not mapped are handed through, and so count as those of an outer function
    return arguments_of(source, node)


def _better_place(facts: Facts, sources: Mapping[str, Source]) -> Span | None:
    """Where the mistake is, for those that are noticed elsewhere."""
    case = Case(facts, sources)
    if "UnexpectedTracerError" in facts.classes:
        if any(label.primary and "leaks" in label.text for label in facts.diagnostic.labels):
            return None
        for source, store in leaks.leaks(case):
            return source.span(store.statement)
        for label in facts.diagnostic.labels:
            if not label.primary and "used" not in label.text:
                return label.span
        return None
    if "must have equal types" in facts.message or "types of the carry" in facts.message:
        for source, value in types.carry_results(case):
            return source.span(value)
    if "SX" in facts.diagnostic.code and "branch" in facts.message:
        for source, value in types.branch_results(case):
            return source.span(value)
    return None


# --- which arguments, from the source ------------------------------------------------------------


def arguments_of(source: Source, node: ast.AST) -> tuple[str, ...]:
    """The parameters of the function around an expression that it depends on, in order."""
    function = source.function(node)
    if function is None:
        return ()
    known = parameters(function)
    found: set[str] = set()
    seen: set[str] = set()
    todo = loads(node)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in known:
            found.add(name)
        for statement in ast.walk(function):
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
                value = statement.iter if isinstance(statement, ast.For) else statement.value
                before = statement.lineno < getattr(node, "lineno", 0)
                if before and value is not None and name in stores(statement):
                    todo += loads(value)
    return tuple(n for n in known if n in found)
