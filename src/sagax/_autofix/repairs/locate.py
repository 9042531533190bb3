"""Locate the expression to change, and complete facts with names of arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

import sagax._autofix.repairs.leaks as leaks
import sagax._autofix.repairs.origins as origins
import sagax._autofix.repairs.transform_options as transform_options
import sagax._autofix.repairs.types as types
from sagax._autofix.repairs.case import Case, Facts, base_name
from sagax._autofix.repairs.source_file import Source, parameters
from sagax._src.diagnostics.model import Label, Span

__all__ = ["completed"]


# found in programs that have been traced: which argument of which function was at fault is not known there
_KNOWN_BY_VALUES = {"OutOfBoundsIndexWarning", "IntegerOverflowWarning", "NaNGradientWarning"}


def completed(facts: Facts, sources: Mapping[str, Source]) -> Facts:
    """The facts with what the error itself does not know."""
    diagnostic = facts.diagnostic
    depends = _depends(facts, sources)
    if depends:
        paths = {name: [p for p in diagnostic.depends if base_name(p) == name] for name in depends}
        named = diagnostic.function and facts.transforms and not all(paths.values())
        diagnostic = replace(
            diagnostic,
            depends=tuple(p for name in depends for p in paths[name] or [name]),
            function=_owner(facts, sources, depends) if named else diagnostic.function,
        )
    place = _better_place(facts, sources)
    if place is not None:
        others = tuple(label for label in diagnostic.labels if not label.primary)
        old = tuple(replace(label, primary=False) for label in diagnostic.labels if label.primary)
        diagnostic = replace(diagnostic, labels=(Label(place, primary=True), *others, *old))
    return replace(facts, diagnostic=diagnostic)


def _owner(facts: Facts, sources: Mapping[str, Source], depends: tuple[str, ...]) -> str:
    """Whose arguments these are: the innermost traced function's, or else the function's around the place."""
    name, primary = facts.transforms[-1][0], facts.diagnostic.primary
    known = [parameters(f) for _, f in Case(facts, sources).definition(name)]
    source = sources.get(primary.file) if primary is not None else None
    if not known or source is None or any(set(depends) <= set(names) for names in known):
        return name
    node = source.at(primary) if primary is not None else None
    around = source.function(node) if node is not None else None
    if around is None or not set(depends) <= set(parameters(around)):
        return name
    return getattr(around, "name", name)


def _depends(facts: Facts, sources: Mapping[str, Source]) -> tuple[str, ...]:
    classes, data, diagnostic = facts.classes, facts.data, facts.diagnostic
    primary = diagnostic.primary
    source = sources.get(primary.file) if primary is not None else None
    node = source.at(primary) if source is not None and primary is not None else None
    immutable = "arrays are immutable" in diagnostic.message and not diagnostic.depends
    if source is not None and node is not None and immutable:
        target = next(
            (n for n in ast.walk(source.statement(node)) if isinstance(n, ast.Subscript)), node
        )
        changed = target.value if isinstance(target, ast.Subscript) else target
        inner = origins.origin(Case(facts, sources), source, changed)
        return inner.names or origins.arguments_of(source, changed)
    if source is not None and node is not None and not _KNOWN_BY_VALUES.isdisjoint(classes):
        read = _index(node) if "OutOf" in classes[0] else node
        return origins.origin(Case(facts, sources), source, read).names or diagnostic.depends
    if "requires real- or complex-valued inputs" in diagnostic.message and "argument" in data:
        return (base_name(data["argument"]),)
    if "NonConcreteBooleanIndexError" in classes and isinstance(node, ast.Subscript):
        node = node.slice  # the mask
    if diagnostic.depends:
        case = Case(facts, sources)
        return _with_handed_through(case, node) or _of_innermost(case, source, node)
    if "InconclusiveDimensionOperation" in classes and source is not None and node is not None:
        return origins.arguments_of(source, node)
    if variable := re.search(r"dimension variable '(\w+)'", diagnostic.message):
        return (variable[1],)
    if "DeletedArrayError" in classes and (
        given := transform_options.donated_argument(Case(facts, sources))
    ):
        return (given,)
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
    said = diagnostic.message
    named = "hashable" in said or "requested to map its argument" in said
    if ("NotAnArrayError" in classes or named) and "argument" in data:
        return (base_name(data["argument"]),)
    return ()


def _index(node: ast.AST) -> ast.AST:
    """The index of `x[i]` or `x.at[i].set(y)`; the whole where it is written in another way."""
    part = node
    while isinstance(part, (ast.Call, ast.Attribute)):
        part = part.func if isinstance(part, ast.Call) else part.value
    return part.slice if isinstance(part, ast.Subscript) else node


def _with_handed_through(case: Case, node: ast.AST | None) -> tuple[str, ...]:
    """The arguments of the function that a value, maybe left behind, was made in: with those that were
    handed through to it.
    """
    labels = case.facts.diagnostic.labels
    made = next((x.span for x in labels if x.text == "made here"), case.primary)
    leaks_out = any("leaks" in x.text for x in labels)
    if made is None or not (leaks_out or case.facts.diagnostic.error.endswith("Warning")):
        return ()
    source = case.sources.get(made.file)
    node = source.at(made) if source is not None else node
    if source is None or node is None:
        return ()
    found, _, function = origins.origin(case, source, node)
    last = case.facts.diagnostic.function.rpartition(".")[2]
    same = getattr(function, "name", "<lambda>") == last
    return found if same and set(case.facts.depends) < set(found) else ()


def _of_innermost(case: Case, source: Source | None, node: ast.AST | None) -> tuple[str, ...]:
    """The arguments of the innermost traced function, where the facts name those of an outer one.

    What is not mapped, or not differentiated, is handed through, and so the facts name what it is
    outside.
    """
    facts = case.facts
    if source is None or node is None or not facts.transforms:
        return ()
    name, reason = facts.transforms[-1]
    if reason not in _HANDING_THROUGH:
        return ()
    last = name.rpartition(".")[2]
    found, _, function = origins.origin(case, source, node)
    called = getattr(function, "name", "<lambda>")
    if function is None or called not in (last, "__call__", "<lambda>"):
        return ()
    # what the facts know of this function's arguments holds; the source may name too many
    own = facts.diagnostic.function in (name, last) and set(facts.depends) <= set(found)
    return found if not own or set(facts.depends) < set(found) else ()


_HANDING_THROUGH = ("vmap", "grad", "value_and_grad", "jacrev", "jacfwd", "hessian")


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
    if "only defined for scalar-output" in facts.message and case.primary is not None:
        # a helper of another file that differentiates is not at fault: what it was given is
        found = list(case.definition(facts.data.get("expected", "").partition(" ")[0]))
        if len(found) == 1 and found[0][0].file != case.primary.file:
            source, function = found[0]
            returns = [n for n in source.nodes(ast.Return, function) if n.value is not None]
            returns = [n for n in returns if source.function(n) is function]
            if len(returns) == 1 and returns[0].value is not None:
                return source.span(returns[0].value)
    if "must have equal types" in facts.message or "types of the carry" in facts.message:
        for source, value in types.carry_results(case):
            return source.span(value)
    known = "returned_by" in facts.data  # which of the branches it was
    if "SX" in facts.diagnostic.code and "branch" in facts.message and not known:
        for source, value in types.branch_results(case):
            return source.span(value)
    return None
