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
from sagax._autofix.repairs.dataflow import resolve_functions, returned_expressions
from sagax._autofix.repairs.foreign_names import keywords_of
from sagax._autofix.repairs.source_file import Source, argument, arguments, last_name, parameters
from sagax._src.diagnostics.model import Label, Span

# warnings found by evaluating jaxprs, where the arguments of the user's functions are not known
_VALUE_WARNINGS = {
    "OutOfBoundsIndexWarning", "IntegerOverflowWarning", "LostUpdateWarning", "NaNGradientWarning", "ZeroGradientWarning",
}  # fmt: skip


def complete_facts(facts: Facts, sources: Mapping[str, Source]) -> Facts:
    """Complete the facts of an error by analysis of the source: arguments and location."""
    diagnostic = facts.diagnostic
    depends = _find_arguments(facts, sources)
    if depends:
        paths = {name: [p for p in diagnostic.depends if base_name(p) == name] for name in depends}
        named = diagnostic.function and facts.transforms and not all(paths.values())
        diagnostic = replace(
            diagnostic,
            depends=tuple(p for name in depends for p in paths[name] or [name]),
            function=_owning_function(facts, sources, depends) if named else diagnostic.function,
        )
    cause = _find_cause(facts, sources)
    if cause is not None:
        others = tuple(label for label in diagnostic.labels if not label.primary)
        old = tuple(replace(label, primary=False) for label in diagnostic.labels if label.primary)
        diagnostic = replace(diagnostic, labels=(Label(cause, primary=True), *others, *old))
    inferred = bool(depends) and not facts.diagnostic.depends
    return replace(facts, diagnostic=diagnostic, inferred=inferred)


def _owning_function(facts: Facts, sources: Mapping[str, Source], depends: tuple[str, ...]) -> str:
    """Return the function that has these arguments: the innermost traced one, or the enclosing one."""
    case, name = Case(facts, sources), facts.transforms[-1][0]
    known = [parameters(f) for _, f in case.definition(name)]
    if not known or case.source is None or any(set(depends) <= set(names) for names in known):
        return name
    around = case.source.function(case.node) if case.node is not None else None
    if around is None or not set(depends) <= set(parameters(around)):
        return name
    return getattr(around, "name", name)


def _find_arguments(facts: Facts, sources: Mapping[str, Source]) -> tuple[str, ...]:
    classes, data, diagnostic = facts.classes, facts.data, facts.diagnostic
    case = Case(facts, sources)
    source, node = case.source, case.node
    immutable = "arrays are immutable" in diagnostic.message and not diagnostic.depends
    if source is not None and node is not None and immutable:
        target = next(
            (n for n in ast.walk(source.statement(node)) if isinstance(n, ast.Subscript)), node
        )
        changed = target.value if isinstance(target, ast.Subscript) else target
        inner = origins.origin(case, source, changed)
        return inner.names or origins.arguments_of(source, changed)
    if source is not None and node is not None and not _VALUE_WARNINGS.isdisjoint(classes):
        read = _index_expression(node) if "OutOf" in classes[0] else node
        found = origins.origin(case, source, read)
        if "GradientWarning" in classes[0]:
            return _differentiated(case, found) or found.names or diagnostic.depends
        return found.names or diagnostic.depends
    if "requires real- or complex-valued inputs" in diagnostic.message and "argument" in data:
        return (base_name(data["argument"]),)
    if "NonConcreteBooleanIndexError" in classes and isinstance(node, ast.Subscript):
        node = node.slice  # the mask
    if diagnostic.depends:
        return _unmapped_arguments(case, node) or _innermost_arguments(case, source, node)
    if "InconclusiveDimensionOperation" in classes and source is not None and node is not None:
        return origins.arguments_of(source, node)
    if variable := re.search(r"dimension variable '(\w+)'", diagnostic.message):
        return (variable[1],)
    if "DeletedArrayError" in classes and (given := transform_options.donated_argument(case)):
        return (given,)
    message = diagnostic.message
    if "tree prefix" in message and (value := re.search(r"but (?!the\b)([\w.]+)", message)):
        return (base_name(value[1]),)
    if "mapped" in message and "vmap" in message:
        paths = re.findall(r"axis \d+ of ([\w.\[\]'\"]+)", message)
        return tuple(dict.fromkeys(base_name(n) for n in paths))
    if "incompatible devices" in message and facts.transforms:
        numbers = [int(n) for n in re.findall(r"operand (\d+)", message)]
        for _, function in case.definition(facts.transforms[-1][0]):
            known = parameters(function)
            return tuple(known[i] for i in numbers if i < len(known))
    named = "hashable" in message or "requested to map its argument" in message
    if ("NotAnArrayError" in classes or named) and "argument" in data:
        return (base_name(data["argument"]),)
    if source is None or node is None:
        return ()
    if given := _named_operand(source, node, data.get("argument", "")):
        return given
    read = _passed_for(source, node, diagnostic.message) or node
    statement = source.statement(node)
    if message.startswith("setting an array element") and isinstance(statement, ast.Assign):
        read = statement.value
    quoted = re.findall(r"`([^`]*)`", diagnostic.headline)
    if len(quoted) == 1:  # what the error is about
        inside = (n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == quoted[0])
        read = next(inside, node)
    return origins.origin(case, source, read).names or origins.arguments_of(source, read)


def _passed_for(source: Source, node: ast.AST, message: str) -> ast.expr | None:
    """Return what a call passes for the argument that the message is about."""
    said = re.search(r"\bargument (\w+)(?:\[\d+\])? must be", message)
    if said is None or not isinstance(node, ast.Call):
        return None
    known = keywords_of(source, node)
    return argument(node, known.index(said[1]), said[1]) if said[1] in known else None


def _differentiated(case: Case, found: origins.Origin) -> tuple[str, ...]:
    """Return those of the arguments that are differentiated, if the frames show a derivative of it."""
    if found.function is None:
        return ()
    for source, node in case.located(reversed(case.facts.frames)):
        applied = transform_options.find_transform_call(case, source, node, _DERIVATIVES)
        there, call = applied if applied is not None else (source, None)
        if call is None or not call.args:
            continue
        if found.function not in [f for _, f in resolve_functions(case, there, call.args[0])]:
            continue
        given = argument(call, 1, "argnums")
        numbers = [0] if given is None else transform_options.listed_constants(given)
        known = arguments(found.function)
        wanted = {known[n] for n in numbers if isinstance(n, int) and n < len(known)}
        return tuple(n for n in found.names if n in wanted)
    return ()


_DERIVATIVES = ("jax.grad", "jax.value_and_grad", "jax.jacrev", "jax.jacfwd", "jax.jacobian")


def _named_operand(source: Source, node: ast.AST, argument: str) -> tuple[str, ...]:
    """Return the argument that the error names, if the expression passes it by this name."""
    name = base_name(argument)
    loaded = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    function = source.function(node)
    known = parameters(function) if function is not None else []
    return (name,) if name in loaded and name in known else ()


def _index_expression(node: ast.AST) -> ast.AST:
    """Return the index of `x[i]`, `x.at[i].set(y)` or `switch(i, branches)`, or the node itself."""
    if isinstance(node, ast.Call) and last_name(node.func) in ("switch", "dynamic_index_in_dim"):
        at = 0 if last_name(node.func) == "switch" else 1
        return node.args[at] if len(node.args) > at else node
    part = node
    while isinstance(part, (ast.Call, ast.Attribute)):
        part = part.func if isinstance(part, ast.Call) else part.value
    return part.slice if isinstance(part, ast.Subscript) else node


def _unmapped_arguments(case: Case, node: ast.AST | None) -> tuple[str, ...]:
    """Return the arguments of the function that created a value, with unmapped ones among them."""
    labels = case.facts.diagnostic.labels
    created = next((x.span for x in labels if x.text == "made here"), case.primary)
    leaks_out = any("leaks" in x.text for x in labels)
    if created is None or not (leaks_out or case.facts.diagnostic.error.endswith("Warning")):
        return ()
    source = case.sources.get(created.file)
    node = source.at(created) if source is not None else node
    if source is None or node is None:
        return ()
    found, _, function = origins.origin(case, source, _stored_value(node))
    last = case.facts.diagnostic.function.rpartition(".")[2]
    same = getattr(function, "name", "<lambda>") == last
    return found if same and set(case.facts.depends) < set(found) else ()


def _stored_value(node: ast.AST) -> ast.AST:
    """Return what `kept.append(x)` or `kept["x"] = x` stores, or the node itself."""
    node = node.value if isinstance(node, (ast.Expr, ast.Assign)) else node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in ("add", "append", "extend", "insert", "update") and node.args:
            return node.args[-1]
    return node


def _innermost_arguments(
    case: Case, source: Source | None, node: ast.AST | None
) -> tuple[str, ...]:
    """Return the arguments of the innermost traced function, where the facts name outer ones.

    Transformations pass values that are not mapped or differentiated unchanged, so that the facts name
    the outer arguments.
    """
    facts = case.facts
    if source is None or node is None or not facts.transforms:
        return ()
    name, reason = facts.transforms[-1]
    if reason not in _PASSING_TRANSFORMS:
        return ()
    if len(facts.transforms) == 1 and facts.depends:
        return ()  # nothing around passes traced values for the other arguments
    last = name.rpartition(".")[2]
    found, _, function = origins.origin(case, source, node)
    called = getattr(function, "name", "<lambda>")
    if function is None or called not in (last, "__call__", "<lambda>"):
        return ()
    # the facts about this function's own arguments are exact; the source may name too many
    own = facts.diagnostic.function in (name, last) and set(facts.depends) <= set(found)
    return found if not own or set(facts.depends) < set(found) else ()


_PASSING_TRANSFORMS = ("vmap", "grad", "value_and_grad", "jacrev", "jacfwd", "hessian")


def _find_cause(facts: Facts, sources: Mapping[str, Source]) -> Span | None:
    """Return the span of the mistake, if it raises elsewhere."""
    case = Case(facts, sources)
    if "UnexpectedTracerError" in facts.classes:
        if any(label.primary and "leaks" in label.text for label in facts.diagnostic.labels):
            return None
        for source, store in leaks.find_leaks(case):
            return source.span(store.statement)
        for label in facts.diagnostic.labels:
            if not label.primary and "used" not in label.text:
                return label.span
        return None
    if "only defined for scalar-output" in facts.message and case.primary is not None:
        # a helper of another file that differentiates is not at fault: its operand is
        found = list(case.definition(facts.data.get("expected", "").partition(" ")[0]))
        if len(found) == 1 and found[0][0].file != case.primary.file:
            source, function = found[0]
            returned = returned_expressions(source, function)
            if len(returned) == 1:
                return source.span(returned[0])
    if "must have equal types" in facts.message or "types of the carry" in facts.message:
        for source, value in types.carry_outputs(case):
            return source.span(value)
    if rule := re.search(r"Custom \w+ (?:fwd |bwd )?rule ([\w.<>]+) for function", facts.message):
        returned = [(s, v) for s, f in case.definition(rule[1]) for v in returned_expressions(s, f)]
        if len(returned) == 1:  # the rule is at fault, not the call that runs it
            return returned[0][0].span(returned[0][1])
    if unset := re.search(r"No \w+ defined for custom_\w+ function ([\w.<>]+)", facts.message):
        decorators = [(s, d) for s, f in case.definition(unset[1]) for d in f.decorator_list]
        if len(decorators) == 1:
            return decorators[0][0].span(decorators[0][1])
    if "branch" in facts.message and re.search(r"_fun is None|\] is None", facts.message):
        for source, function in types.find_branches(case):  # one that forgets to return
            if not isinstance(function, ast.Lambda) and not returned_expressions(source, function):
                found_call = types.find_branch_call(case)
                return found_call[0].span(found_call[1]) if found_call is not None else None
    known = "returned_by" in facts.data  # the facts name the branch
    if "SX" in facts.diagnostic.code and "branch" in facts.message and not known:
        for source, value in types.branch_outputs(case):
            return source.span(value)
    return None
