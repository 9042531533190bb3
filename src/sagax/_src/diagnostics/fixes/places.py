"""What the source adds to the facts: arguments by their names, and the place that is to be changed."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import sagax._src.diagnostics.fixes.leaks as leaks
import sagax._src.diagnostics.fixes.options as options
import sagax._src.diagnostics.fixes.types as types
from sagax._src.diagnostics.fixes.case import Case, Facts, base_name
from sagax._src.diagnostics.fixes.source import Function, Source, loads, parameters, stores
from sagax._src.diagnostics.model import Label, Span

__all__ = ["completed"]


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
    if source is not None and node is not None and "arrays are immutable" in diagnostic.message:
        target = next(
            (n for n in ast.walk(source.statement(node)) if isinstance(n, ast.Subscript)), node
        )
        return arguments_of(source, target.value if isinstance(target, ast.Subscript) else target)
    if "OutOfBoundsIndexWarning" in classes or "IntegerOverflowWarning" in classes:
        return _of_mapped(Case(facts, sources), source, node) or diagnostic.depends
    if "requires real- or complex-valued inputs" in diagnostic.message and "argument" in data:
        return (base_name(data["argument"]),)
    if "NonConcreteBooleanIndexError" in classes and isinstance(node, ast.Subscript):
        node = node.slice  # the mask
    if diagnostic.depends:
        return _of_innermost(Case(facts, sources), source, node)
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


def _of_mapped(case: Case, source: Source | None, node: ast.AST | None) -> tuple[str, ...]:
    """The arguments of a function that is handed to vmap, scan and their like, where a value is made
    in it, or in what it calls.
    """
    if source is None or node is None:
        return ()
    found, function = _handed_on(case, source, node, lambda there, f: _is_handed(case, there, f))
    return found if function is not None else ()


def _is_handed(case: Case, source: Source, function: Function) -> bool:
    """Whether a function is an argument of a transformation, or of a loop, other than jit."""
    name = getattr(function, "name", "")
    uses: list[tuple[Source, ast.AST]] = [(source, function)]
    if name:
        uses = [
            (there, use)
            for there in case.sources.values()
            for use in there.nodes((ast.Name, ast.Attribute))  # type: ignore[arg-type]
            if getattr(use, "id", getattr(use, "attr", "")) == name
        ]
    for there, use in uses:
        call = there.parents.get(use)
        if isinstance(call, ast.Call) and use in call.args:
            meaning = there.meaning(call.func)
            if meaning.startswith("jax.") and meaning not in options.JITS:
                return True
    return False


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

    def is_traced(there: Source, function: Function) -> bool:
        owner = there.parents.get(function)
        called = getattr(function, "name", "") == "__call__" and isinstance(owner, ast.ClassDef)
        names = [getattr(function, "name", "<lambda>"), owner.name if called else ""]  # type: ignore[union-attr]
        return last in names

    found, function = _handed_on(case, source, node, is_traced)
    known = set(facts.depends)
    if function is None or not found:
        return ()
    # what the facts know of this function's arguments holds; the source may name too many
    own = facts.diagnostic.function in (name, last) and known <= set(parameters(function))
    return found if not own or known < set(found) else ()


_HANDING_THROUGH = ("vmap", "grad", "value_and_grad", "jacrev", "jacfwd", "hessian")


def _handed_on(
    case: Case,
    source: Source,
    node: ast.AST,
    wanted: Callable[[Source, Function], bool],
    depth: int = 0,
) -> tuple[tuple[str, ...], Function | None]:
    """The parameters that an expression depends on of the function around it that is `wanted`, or of
    the one that calls the function around it with them; and that function.
    """
    function = source.function(node)
    if function is None or depth > _FURTHEST:
        return (), None
    here = arguments_of(source, node)
    if wanted(source, function):
        return tuple(n for n in here if n != "self"), function
    for there, call, passed in case.calls(function):
        names: dict[str, None] = {}
        reached = None
        for name in here:
            if name in passed:
                found, at = _handed_on(case, there, passed[name], wanted, depth + 1)
                names.update(dict.fromkeys(found))
                reached = reached or at
        if reached is not None and there.function(call) is not function:
            order = parameters(reached)
            return tuple(sorted(names, key=order.index)), reached
    return (), None


_FURTHEST = 4  # calls to look back


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
