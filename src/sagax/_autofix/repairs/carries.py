"""Follow a value through the loops that carry it, back to what it begins with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sagax._autofix.repairs.case import Case
from sagax._autofix.repairs.dataflow import Definition, reaching_definitions, resolve_functions
from sagax._autofix.repairs.source_file import Function, Source, argument, parameters

__all__ = ["initial_values"]

# position of the body, of its parameter that carries, and position and name of the first value
_LOOPS = {
    "jax.lax.scan": ((0,), 0, 1, "init"),
    "jax.lax.fori_loop": ((2,), 1, 3, "init_val"),
    "jax.lax.while_loop": ((0, 1), 0, 2, "init_val"),
}
_MAX_LOOPS = 4


def initial_values(
    case: Case, source: Source, node: ast.expr, keys: tuple[str, ...] = (), depth: int = 0
) -> Iterator[Definition]:
    """Yield the definitions of a value, and of what it begins with where a loop carries it."""
    for found in reaching_definitions(case, source, node, keys):
        carried = list(_carried_from(case, found)) if depth < _MAX_LOOPS else []
        for there, init in carried:
            yield from initial_values(case, there, init, found.rest, depth + 1)
        if not carried:
            yield found


def _carried_from(case: Case, found: Definition) -> Iterator[tuple[Source, ast.expr]]:
    """Yield the first values of the loops whose body has a variable as the parameter that it carries."""
    if not isinstance(found.node, ast.Name):
        return
    function = found.source.function(found.node)
    if function is None or found.node.id not in parameters(function):
        return
    position = [p for p in parameters(function) if p != "self"].index(found.node.id)
    for source, call, (bodies, carry, init, name) in _loops(case):
        if position != carry:
            continue
        for body in bodies:
            if len(call.args) > body and _is(case, source, call.args[body], function):
                first = argument(call, init, name)
                if first is not None:
                    yield source, first


def _loops(case: Case) -> Iterator[tuple[Source, ast.Call, tuple[tuple[int, ...], int, int, str]]]:
    for source in case.sources.values():
        for call in source.calls_of(*_LOOPS):
            yield source, call, _LOOPS[source.meaning(call.func)]


def _is(case: Case, source: Source, node: ast.expr, function: Function) -> bool:
    return any(found is function for _, found in resolve_functions(case, source, node))
