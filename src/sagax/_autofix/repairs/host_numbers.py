"""Compute a number on the host, while tracing, from arguments that become static."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Candidate, Case, at_expression
from sagax._autofix.repairs.source_file import Function, Source, parameters
from sagax._autofix.repairs.transform_options import add_static, applications
from sagax._src.diagnostics.model import Edit

_MAX_DEPTH = 6


@at_expression
def compute_on_host(case: Case, source: Source, node: ast.AST) -> Iterator[Candidate]:
    """Compute a size with NumPy, from static arguments, where it is computed with jax.numpy from traced ones."""
    function, call = source.function(node), source.enclosing(node, ast.Call) or node
    wanted = case.facts.depends
    if (
        function is None
        or not isinstance(call, ast.Call)
        or not set(wanted) <= set(parameters(function))
    ):
        return
    found = [(given, _calls(source, given, function)) for given in _arguments(call)]
    found = [(given, calls) for given, calls in found if calls]
    if len(found) != 1:  # which one is the size?
        return
    size, calls = found[0]
    numpy, imports = source.spell("numpy")
    edits: list[Edit] = [source.replace(size, f"int({source.code(size)})"), *imports]
    for inner in calls:
        name = source.meaning(inner.func).removeprefix("jax.numpy")
        edits.append(source.replace(inner.func, numpy + name))
    if wanted:
        names = [name for name, reason in case.facts.transforms if reason == "jit"]
        for applied in (a for name in reversed(names) for a in applications(case, name)):
            if applied.function is function:
                edits += add_static(applied, wanted)
                break
        else:
            return
    title = f"compute `{source.code(size)}` with NumPy while tracing"
    if wanted:
        names = " and ".join(f"`{w}`" for w in wanted)
        title = f"compute `{source.code(size)}` with NumPy while tracing: {names} are constants of the program"
    yield Candidate("shape_not_value", title, tuple(edits), 5)


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    for given in (*call.args, *(k.value for k in call.keywords)):
        yield from given.elts if isinstance(given, (ast.Tuple, ast.List)) else (given,)


def _calls(source: Source, value: ast.expr, function: Function) -> list[ast.Call]:
    """Return the calls of jax.numpy that a number is computed by; none if there are other calls."""
    found: dict[ast.Call, None] = {}
    seen: set[str] = set()
    pending = [value]
    while pending:
        part = pending.pop()
        for node in ast.walk(part):
            if isinstance(node, ast.Call):
                if not source.meaning(node.func).startswith("jax.numpy."):
                    return []
                found[node] = None
            elif isinstance(node, ast.Name) and node.id not in seen and len(seen) < _MAX_DEPTH:
                seen.add(node.id)
                pending += source.assigned(node.id, function)
    return list(found)
