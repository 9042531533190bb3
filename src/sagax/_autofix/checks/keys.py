"""Find random keys that all examples of a vmap share; excuse those that two calls share to be compared."""

from __future__ import annotations

import ast
from typing import Any

from sagax._autofix.checks.report import Add, own_span, source_of
from sagax._src import source_stacks
from sagax._src.core import dtypes
from sagax._src.core.jaxpr import subjaxprs
from sagax._src.diagnostics import events
from sagax._src.diagnostics.errors import KeyReuseError
from sagax._src.diagnostics.spans import is_user_file
from sagax._src.primitives.random_bits import random_bits_p

__all__ = ["excuse_common_numbers", "watch_vmap"]


def watch_vmap(add: Add) -> None:
    """Report draws in a mapped function from a key that is the same for all examples."""

    def check(trace: Any, primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> None:
        if trace.batch_axis.size == 1:
            return
        for x in args:
            aval = getattr(x, "aval", None)
            if aval is not None and dtypes.is_extended(aval.dtype) and aval.shape == ():
                if _draws(primitive, params):
                    _report(add)
                    return

    events.unmapped_operation.function = check


def _draws(primitive: Any, params: dict[str, Any]) -> bool:
    if primitive is random_bits_p:
        return True
    return any(
        any(_draws(e.primitive, e.params) for e in inner.eqns) for inner in subjaxprs(params)
    )


def _report(add: Add) -> None:
    stack = source_stacks.stack()
    span = own_span(stack)
    if span is None or not any(is_user_file(c.co_filename) for c in stack.raw_frames()[0]):
        return
    add(
        KeyReuseError,
        "one key for all examples of a vmap: it is not mapped, so that each example draws the same numbers",
        stack,
        span=span,
    )


# --- common random numbers ------------------------------------------------------------------------------


def excuse_common_numbers() -> None:
    """Excuse a key that two calls of a function share whose results are subtracted: f(key, x + h) - f(key, x - h).

    Both draw the same numbers, so that the difference has little noise.
    """
    events.key_reused.function = _are_common_numbers


def _are_common_numbers(error: KeyReuseError) -> bool:
    first, second = (own_span(error.facts.get(name)) for name in ("first", "traceback"))
    if first is None or second is None or first.file != second.file:
        return False
    source = source_of(first.file)
    if source is None:
        return False
    parents = source.parents
    calls = [_call_at(parents, span.line, span.column or 0) for span in (first, second)]
    one, other = calls
    if one is None or other is None or one is other:
        return False
    if ast.dump(one.func) != ast.dump(other.func) or len(one.args) != len(other.args):
        return False
    if source.meaning(one.func).startswith("jax.random."):
        return False  # draws themselves
    same = [ast.dump(a) == ast.dump(b) for a, b in zip(one.args, other.args, strict=True)]
    if all(same) or not any(same):
        return False
    return _are_subtracted(parents, one, other)


def _call_at(parents: dict[ast.AST, ast.AST], line: int, column: int) -> ast.Call | None:
    found = [
        node
        for node in parents
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) == (line, column)
    ]
    # `f(key, x)` rather than `f(key, x).mean()`, which begins there too
    return min(found, key=lambda c: (c.end_lineno or 0, c.end_col_offset or 0), default=None)


def _are_subtracted(parents: dict[ast.AST, ast.AST], one: ast.Call, other: ast.Call) -> bool:
    """Return whether one side of some subtraction has the first call or its variable, and the other the second."""
    function = _enclosing_function(parents, one)
    ways = [{ast.dump(call), *_variables(parents, call)} for call in (one, other)]
    for node in parents:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub):
            continue
        if _enclosing_function(parents, node) is not function:
            continue
        left, right = ({ast.dump(n) for n in ast.walk(side)} for side in (node.left, node.right))
        if (left & ways[0] and right & ways[1]) or (left & ways[1] and right & ways[0]):
            return True
    return False


def _variables(parents: dict[ast.AST, ast.AST], node: ast.AST) -> set[str]:
    """Return the variable that a statement assigns the value to, as it looks where it is read."""
    while node in parents and not isinstance(node, ast.stmt):
        node = parents[node]
    if not isinstance(node, ast.Assign):
        return set()
    names = [t.id for t in node.targets if isinstance(t, ast.Name)]
    return {ast.dump(ast.Name(name, ast.Load())) for name in names}


def _enclosing_function(parents: dict[ast.AST, ast.AST], node: ast.AST) -> ast.AST | None:
    found: ast.AST | None = parents.get(node)
    while found is not None and not isinstance(found, ast.FunctionDef | ast.Lambda):
        found = parents.get(found)
    return found
