"""Repair the parameters of a function that a function of the library calls: their number and order."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case
from sagax._autofix.repairs.dataflow import resolve_functions
from sagax._autofix.repairs.source_file import Function, Source
from sagax._src.diagnostics.model import Edit

_COUNT = re.compile(r"(\S+)\(\) takes (\d+) positional arguments? but (\d+) (?:was|were) given")

# transformations whose result the user calls with the arguments of the function
_CALLED_AS_IS = {
    "jit",
    "grad",
    "value_and_grad",
    "vmap",
    "jacfwd",
    "jacrev",
    "hessian",
    "checkpoint",
    "jvp",
    "vjp",
}


def add_parameters(case: Case) -> Iterator[Candidate]:
    """Give a function the further parameters that it is called with, which it does not read."""
    said = _COUNT.search(case.facts.message)
    if said is None:
        return
    name, wanted = said[1].rpartition(".")[2], int(said[3])
    counting = any(t == "fori_loop" for _, t in case.facts.transforms)
    for source, function in _passed_functions(case):
        known = [*function.args.posonlyargs, *function.args.args]
        if getattr(function, "name", "<lambda>") != name or len(known) != int(said[2]):
            continue
        if function.args.vararg is not None or any(a.arg == "self" for a in known):
            continue
        used = {a.arg for a in known}
        new = [f"_{i or ''}" for i in range(wanted - len(known))]
        if not new or used & set(new):
            continue
        orders = [("first", [*new, *_codes(source, function)])]
        if known:
            orders.append(("last", [*_codes(source, function), *new]))
        for place, texts in orders:
            edit = _with_parameters(source, function, texts)
            if edit is not None:
                likely = counting == (place == "first") or not known
                title = f"take the {place} of {wanted} arguments too: `{name}` is called with them"
                yield Candidate("parameters", title, (edit,), 2 if likely else 3)


def exchange_parameters(case: Case) -> Iterator[Candidate]:
    """Exchange the two parameters of a function that a transformation calls, where it fails inside."""
    for source, function in _entered_functions(case):
        names = function.args.args
        if len(names) != 2 or function.args.defaults:
            continue
        first, second = names
        name = getattr(function, "name", "<lambda>")
        given = any(f == name and t in _CALLED_AS_IS for f, t in case.facts.transforms)
        if given or first.arg == "self":
            continue
        edits = (
            source.replace(first, source.code(second)),
            source.replace(second, source.code(first)),
        )
        title = f"take `{second.arg}` first, then `{first.arg}`"
        yield Candidate("argument_order", title, edits, 4, assumes=True)


def _entered_functions(case: Case) -> Iterator[tuple[Source, Function]]:
    """Yield the innermost function that a transformation called, of those on the way to the error.

    The frames of an exception do not say which were called so; there it is known by its name.
    """
    frames, entered = case.facts.frames, sorted(case.facts.entered, reverse=True)
    spans = [frames[i] for i in entered[:1] if i < len(frames)]
    innermost = case.facts.transforms[-1:]
    for source, node in case.located(spans or reversed(frames)):
        function = source.function(node)
        names = [name.rpartition(".")[2] for name, _ in innermost]
        if function is not None and (spans or getattr(function, "name", "<lambda>") in names):
            yield source, function
            return


def _passed_functions(case: Case) -> Iterator[tuple[Source, Function]]:
    """Yield the functions that the call at fault passes, alone or in a list."""
    source, node = case.source, case.node
    if source is None or node is None:
        return
    seen: set[Function] = set()
    for call in source.nodes(ast.Call, source.statement(node)):
        if not source.meaning(call.func).startswith("jax."):
            continue
        for given in (*call.args, *(k.value for k in call.keywords)):
            for there, value in _items(case, source, given):
                for defining, function in resolve_functions(case, there, value):
                    if function not in seen:
                        seen.add(function)
                        yield defining, function


def _items(case: Case, source: Source, node: ast.expr) -> Iterator[tuple[Source, ast.expr]]:
    """Yield an expression, or the items of the list that it is or names."""
    if isinstance(node, (ast.List, ast.Tuple)):
        yield from ((source, item) for item in node.elts)
        return
    yield source, node
    if isinstance(node, ast.Name):
        scopes = (source.function(node), None)
        for assignment in source.nodes(ast.Assign):
            named = any(isinstance(t, ast.Name) and t.id == node.id for t in assignment.targets)
            if named and source.function(assignment) in scopes:
                yield from ((source, item) for item in getattr(assignment.value, "elts", ()))


def _codes(source: Source, function: Function) -> list[str]:
    return [source.code(a) for a in (*function.args.posonlyargs, *function.args.args)]


def _with_parameters(source: Source, function: Function, texts: list[str]) -> Edit | None:
    """Return the edit that gives a function other positional parameters; None where it has defaults."""
    args = function.args
    if args.defaults or args.kwonlyargs or args.kwarg or args.posonlyargs:
        return None
    if isinstance(function, ast.Lambda):
        body = source.code(function.body)
        return source.replace(function, f"lambda {', '.join(texts)}: {body}")
    line = source.lines[function.lineno - 1]
    start = line.find("(", function.col_offset)
    if args.args:
        last = args.args[-1]
        at = source.span(args.args[0])
        if texts[-1] != source.code(last):
            end = source.span(last)
            new = "".join(f", {t}" for t in texts[len(args.args) :])
            return source.insert(end.end_line, end.end_column or 0, new)
        new = "".join(f"{t}, " for t in texts[: -len(args.args)])
        return source.insert(at.line, at.column or 0, new)
    return source.insert(function.lineno, start + 1, ", ".join(texts)) if start >= 0 else None
